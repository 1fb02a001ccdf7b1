#include "http/websocket.h"

#include "http/heartbeat.h"
#include "http/subprotocol.h"
#include "limits/pre_session_limit.h"
#include "session/queue.h"
#include "session/subflows.h"

#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Bytes of the header of a frame to a browser: two, or four from 126 bytes of data on. */
#define FRAME_HEADER_MAX 4
#define FRAME_MAX        (SUBFLOW_MESSAGE_MAX + FRAME_HEADER_MAX)

/* The most bytes that are read at a time. libwebsockets keeps a buffer of that size for each
   connection, so a session takes 2.7 KB (relay.memory_per_session_kb). A longer message comes in
   parts. Most messages are shorter, since a browser sends only what its player does. */
#define READ_MAX 512

/* One write has at most this many bytes. Bytes in the kernel cannot be dropped any more, so this
   and the unsent limit bound how old a datagram may be when it leaves. */
#define WRITE_MAX 8192

/* Bytes of the unsent limit: the kernel takes more while fewer than these are unsent, and calls the
   socket writable again below half of them. */
#define UNSENT_MAX 4096

/* After the kernel has called the socket writable, this many bytes may be written before it is
   asked again. With small datagrams this saves most of the system calls. */
#define CREDIT 2048

/* Seconds in which a browser must answer our close; then the connection is cut. */
#define CLOSE_SECONDS 3

/* Seconds for which nothing is read from a browser that sends more than it may. TCP holds the
   browser back meanwhile; reading only to drop would take the time of the others. */
#define PAUSE_SECONDS 0.1

#define CLOSE_TEXT_MAX 64

/* The codes with which a page closes a WebSocket, and with which a browser does whose page is being
   left (RFC 6455). */
#define CLOSE_NORMAL     1000
#define CLOSE_GOING_AWAY 1001

/* The farewell to a page whose origin is not allowed. Such a page could not read why an upgrade was
   refused, so its WebSocket is established first. */
static const struct session_farewell foreign = {SESSION_CODE_ORIGIN,
                                                "this origin is not allowed (--origin)"};

/* The connection of one browser, allocated and zeroed by libwebsockets. */
struct ws_link {
    struct websockets *websockets;
    struct lws *wsi;
    struct session_link base;
    struct heartbeat heartbeat;
    struct queue queue;
    uint8_t *partial; /* a message of which some parts are still to come */
    size_t partial_size;
    size_t credit;
    enum { READING, PAUSING, PAUSED } reading;
    bool closing;
    bool close_sent;
    enum session_parting parting;
};

struct websockets {
    struct websockets_config config;
    struct sessions *sessions;
    struct stats *stats;
    struct heartbeats heartbeats;
    uint8_t out[LWS_PRE + WRITE_MAX];
};

static struct ws_link *ws_link_of(struct session_link *base)
{
    return lws_container_of(base, struct ws_link, base);
}

/* Writes a datagram as a frame of the link. Returns the size of the frame. */
static size_t put_frame(const struct ws_link *link, uint8_t *out, const struct datagram *datagram)
{
    struct subflow *subflow = link->base.subflow;
    const size_t size = datagram->size + (subflow ? SUBFLOW_HEADER_SIZE : 0);
    size_t header = 2;
    out[0] = 0x82; /* final, binary */
    out[1] = (uint8_t)size;
    if (size >= 126) {
        out[1] = 126;
        out[2] = (uint8_t)(size >> 8);
        out[3] = (uint8_t)size;
        header = FRAME_HEADER_MAX;
    }
    if (subflow)
        subflow_put_header(subflow, datagram, loop_now(), out + header);
    memcpy(out + header + size - datagram->size, datagram->data, datagram->size);
    return header + size;
}

/* Sends nothing more, and cuts the connection when it is not closed in time. */
static void stop_sending(struct ws_link *link)
{
    link->closing = true;
    heartbeat_stop(&link->websockets->heartbeats, &link->heartbeat);
    STATS_DROPPED(link->websockets->stats, &link->base.drops, closing, link->queue.count);
    queue_free(&link->queue);
    lws_set_timeout(link->wsi, PENDING_TIMEOUT_CLOSE_ACK, CLOSE_SECONDS);
}

/* Sends our close and waits for the browser's. libwebsockets can do that too, but it cuts the
   connection when more of a large message comes instead, and the browser never sees the code. */
static void begin_close(struct ws_link *link, const struct session_farewell *farewell)
{
    uint8_t frame[LWS_PRE + 4 + CLOSE_TEXT_MAX];
    uint8_t *at = frame + LWS_PRE;
    size_t size = strlen(farewell->text);
    if (link->closing)
        return;
    stop_sending(link);
    link->close_sent = true;
    at[0] = 0x88; /* final, close */
    at[1] = (uint8_t)(2 + size);
    at[2] = (uint8_t)(farewell->code >> 8);
    at[3] = (uint8_t)farewell->code;
    memcpy(at + 4, farewell->text, size);
    if (lws_write(link->wsi, at, 4 + size, LWS_WRITE_HTTP) < 0)
        lws_set_timeout(link->wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
}

/* Writes whole frames. libwebsockets has one call per frame, and one system call per call; but data
   that are written as HTTP go out as they are, even on a connection that has become a WebSocket. So
   the frames are built here and go out together. The pongs and closes of libwebsockets cannot land
   inside: it writes them whole, and after the rest of a write that the kernel did not take. */
static bool write_frames(struct ws_link *link, uint8_t *bytes, size_t size, size_t frames)
{
    struct stats *stats = link->websockets->stats;
    link->credit -= size < link->credit ? size : link->credit;
    if (lws_write(link->wsi, bytes, size, LWS_WRITE_HTTP) < (int)size) {
        STATS_DROPPED(stats, &link->base.drops, closing, frames);
        link->closing = true;
        return false;
    }
    stats->delivered_datagrams += frames;
    stats->delivered_writes++;
    return true;
}

/* Returns whether the kernel has room. Unlike a send call, which may add to a segment that waits
   already, poll keeps to the unsent limit. */
static bool writable(struct ws_link *link)
{
    if (link->credit == 0 && !lws_send_pipe_choked(link->wsi))
        link->credit = CREDIT;
    return link->credit > 0 && !lws_partial_buffered(link->wsi);
}

/* Writes as many datagrams as go out in one write, which is one at least. Returns their number. */
static size_t write_some(struct ws_link *link, const struct datagram *datagrams, size_t count)
{
    uint8_t *out = link->websockets->out + LWS_PRE;
    size_t size = 0;
    size_t frames = 0;
    while (frames < count &&
           size + datagrams[frames].size + FRAME_MAX - SESSION_DATAGRAM_MAX <= WRITE_MAX)
        size += put_frame(link, out + size, &datagrams[frames++]);
    if (!write_frames(link, out, size, frames))
        lws_set_timeout(link->wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
    return frames;
}

static void enqueue(struct ws_link *link, const struct datagram *datagram)
{
    uint8_t frame[FRAME_MAX];
    struct queue_drops drops = {0};
    queue_push(&link->queue, frame, put_frame(link, frame, datagram), loop_now(), &drops);
    STATS_DROPPED(link->websockets->stats, &link->base.drops, age, drops.age);
    STATS_DROPPED(link->websockets->stats, &link->base.drops, bytes, drops.bytes);
}

static bool ws_link_ready(const struct session_link *base)
{
    return !lws_container_of(base, const struct ws_link, base)->closing;
}

/* Sends datagrams. They go straight out while nothing waits and the kernel has room. */
static void ws_link_send_batch(struct session_link *base, const struct datagram *datagrams,
                               size_t count)
{
    struct ws_link *link = ws_link_of(base);
    size_t sent = 0;
    while (sent < count && !link->closing && link->queue.count == 0 && writable(link))
        sent += write_some(link, datagrams + sent, count - sent);
    if (link->closing) {
        STATS_DROPPED(link->websockets->stats, &link->base.drops, closing, count - sent);
        return;
    }
    for (; sent < count; sent++)
        enqueue(link, &datagrams[sent]);
    if (link->queue.count > 0)
        lws_callback_on_writable(link->wsi);
}

static void ws_link_close(struct session_link *base, const struct session_farewell *farewell,
                          bool at_once)
{
    struct ws_link *link = ws_link_of(base);
    begin_close(link, farewell);
    if (at_once)
        lws_set_timeout(link->wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
}

/* Returns the round trip as the kernel measures it. */
static double ws_link_rtt(const struct session_link *base)
{
    const struct ws_link *link = lws_container_of(base, const struct ws_link, base);
    struct tcp_info info;
    socklen_t size = sizeof info;
    const int fd = lws_get_socket_fd(link->wsi);
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_rtt == 0)
        return NAN;
    return info.tcpi_rtt / 1e6;
}

static const struct transport websocket_transport = {
    .name = "websocket",
    .ready = ws_link_ready,
    .send_batch = ws_link_send_batch,
    .close = ws_link_close,
    .rtt = ws_link_rtt,
};

/* Sends a ping. It goes straight out, even when datagrams wait: a browser that is only slow answers
   in time. */
static void ask(void *owner)
{
    struct ws_link *link = owner;
    uint8_t frame[LWS_PRE + 3];
    frame[LWS_PRE] = 0x89;  /* final, ping */
    frame[LWS_PRE + 1] = 1; /* libwebsockets does not report an empty answer */
    frame[LWS_PRE + 2] = 0;
    lws_write(link->wsi, frame + LWS_PRE, 3, LWS_WRITE_HTTP);
}

static void lost(void *owner)
{
    struct ws_link *link = owner;
    stop_sending(link);
    lws_set_timeout(link->wsi, PENDING_TIMEOUT_CLOSE_SEND, LWS_TO_KILL_ASYNC);
}

struct websockets *websockets_create(const struct websockets_config *config, struct loop *loop,
                                     struct sessions *sessions, struct stats *stats)
{
    struct websockets *websockets = calloc(1, sizeof *websockets);
    if (!websockets)
        return NULL;
    websockets->config = *config;
    websockets->sessions = sessions;
    websockets->stats = stats;
    heartbeats_init(&websockets->heartbeats, loop, config->ping_interval_seconds, ask, lost);
    return websockets;
}

void websockets_destroy(struct websockets *websockets)
{
    free(websockets);
}

/* Reads which session the link is for, and to which game server it goes. The list has been checked.
 */
static void read_wishes(const struct websockets *websockets, struct lws *wsi, const char *origin,
                        struct link_request *request)
{
    char list[HTTP_HEADER_MAX];
    struct subprotocol_wishes wishes = {.key = ""};
    if (lws_hdr_copy(wsi, list, sizeof list, WSI_TOKEN_PROTOCOL) > 0)
        subprotocol_read(list, &wishes);
    request->server = wishes.server;
    request->subflow = wishes.subflow;
    session_identify(websockets->sessions, wishes.key, origin, request);
}

static void on_established(struct ws_link *link, struct websockets *websockets, struct lws *wsi)
{
    int fd = lws_get_socket_fd(wsi);
    int on = 1;
    int unsent = UNSENT_MAX;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);

    link->websockets = websockets;
    link->wsi = wsi;
    link->queue.limit_bytes = websockets->config.queue_bytes;
    link->queue.limit_age_seconds = websockets->config.queue_age_seconds;
    struct link_request request = {.client = *pre_session_limit_client(wsi)};
    char origin[HTTP_HEADER_MAX];
    if (!http_allows(websockets->config.http, wsi, origin)) {
        begin_close(link, &foreign);
        return;
    }
    read_wishes(websockets, wsi, origin, &request);
    const enum session_refusal why =
        session_link_open(websockets->sessions, &link->base, &websocket_transport, &request);
    if (why != SESSION_REFUSED_NOT) {
        begin_close(link, session_refusal_farewell(why));
        return;
    }
    pre_session_limit_leave(wsi);
    heartbeat_start(&websockets->heartbeats, &link->heartbeat, link);
}

/* Stops reading for a while. It is not called in the callback that read too much: there
   libwebsockets would keep the rest of what it has read and come back to it later, which its
   version 4.1.6 does not always survive. */
static void begin_pause(struct ws_link *link)
{
    if (link->reading != READING)
        return;
    link->reading = PAUSING;
    lws_set_timer_usecs(link->wsi, 1);
}

static void on_timer(struct ws_link *link)
{
    link->reading = link->reading == PAUSING ? PAUSED : READING;
    lws_rx_flow_control(link->wsi, link->reading == READING);
    if (link->reading == PAUSED)
        lws_set_timer_usecs(link->wsi, (lws_usec_t)(PAUSE_SECONDS * LWS_USEC_PER_SEC));
}

/* Counts bytes that still come when the session has ended, or was refused. */
static void discard(struct ws_link *link, size_t size)
{
    link->partial_size += size;
    if (!lws_is_final_fragment(link->wsi))
        return;
    if (lws_frame_is_binary(link->wsi))
        sessions_discard(link->websockets->sessions, link->partial_size);
    link->partial_size = 0;
}

/* Keeps a part of a message, as much of it as a datagram may have. Returns false when there is no
   memory. */
static bool keep_part(struct ws_link *link, const uint8_t *data, size_t size)
{
    if (!link->partial)
        link->partial = malloc(SUBFLOW_MESSAGE_MAX);
    if (!link->partial)
        return false;
    if (size > 0 && link->partial_size + size <= SUBFLOW_MESSAGE_MAX)
        memcpy(link->partial + link->partial_size, data, size);
    link->partial_size += size;
    return true;
}

static void deliver(struct ws_link *link, const uint8_t *data, size_t size)
{
    link->partial_size = 0;
    if (!session_link_receive(&link->base, data, size) && !link->closing)
        begin_pause(link);
}

/* Takes a part of a message, mostly the whole of it. */
static void on_receive(struct ws_link *link, const uint8_t *data, size_t size)
{
    if (link->closing) {
        discard(link, size);
        return;
    }
    heartbeat_received(&link->heartbeat);
    if (!lws_frame_is_binary(link->wsi)) {
        session_end(link->base.session, SESSION_END_TEXT);
        return;
    }
    bool last = lws_is_final_fragment(link->wsi);
    size_t total = link->partial_size + size;
    if (total + lws_remaining_packet_payload(link->wsi) > SESSION_MESSAGE_MAX) {
        link->partial_size = last ? 0 : total;
        session_end(link->base.session, SESSION_END_OVERSIZE);
        return;
    }
    if (!link->partial && last) {
        deliver(link, data, size);
    } else if (!keep_part(link, data, size)) {
        session_end(link->base.session, SESSION_END_RESOURCES);
    } else if (last) {
        deliver(link, link->partial, total);
        free(link->partial);
        link->partial = NULL;
    }
}

static int on_writable(struct ws_link *link)
{
    if (link->closing)
        return 0;
    struct queue_drops drops = {0};
    const double now = loop_now();
    queue_expire(&link->queue, now, &drops);
    STATS_DROPPED(link->websockets->stats, &link->base.drops, age, drops.age);
    const uint8_t *bytes;
    size_t frames;
    size_t size = queue_peek(&link->queue, WRITE_MAX, &bytes, &frames);
    if (frames > 0) {
        link->credit = CREDIT;
        for (size_t i = 0; i < frames; i++)
            histogram_add(&link->websockets->stats->queue_age_seconds,
                          now - queue_time(&link->queue, i));
        const bool written = write_frames(link, (uint8_t *)(uintptr_t)bytes, size, frames);
        queue_pop(&link->queue, frames);
        if (!written)
            return -1;
    }
    if (link->queue.count > 0)
        lws_callback_on_writable(link->wsi);
    else
        queue_free(&link->queue);
    return 0;
}

static void on_closed(struct ws_link *link)
{
    link->closing = true;
    heartbeat_stop(&link->websockets->heartbeats, &link->heartbeat);
    STATS_DROPPED(link->websockets->stats, &link->base.drops, closing, link->queue.count);
    queue_free(&link->queue);
    free(link->partial);
    session_link_close(&link->base, link->parting);
}

/* Returns how a link has ended by a browser's close. */
static enum session_parting parting_of(const uint8_t *payload, size_t size)
{
    const unsigned code = size < 2 ? 0 : (unsigned)payload[0] << 8 | payload[1];
    return code == CLOSE_NORMAL       ? SESSION_LINK_CLOSED
           : code == CLOSE_GOING_AWAY ? SESSION_LINK_AWAY
                                      : SESSION_LINK_LOST;
}

static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                    size_t size)
{
    struct ws_link *link = user;
    if (reason == LWS_CALLBACK_ESTABLISHED) {
        struct websockets *const *websockets = lws_get_protocol(wsi)->user;
        on_established(link, *websockets, wsi);
        return 0;
    }
    /* A handshake that fails late is closed without ever having been established. */
    if (!link || !link->websockets)
        return 0;
    switch (reason) {
    case LWS_CALLBACK_RECEIVE:
        on_receive(link, in, size);
        return 0;
    case LWS_CALLBACK_RECEIVE_PONG:
        heartbeat_received(&link->heartbeat);
        return 0;
    case LWS_CALLBACK_TIMER:
        on_timer(link);
        return 0;
    case LWS_CALLBACK_SERVER_WRITEABLE:
        return on_writable(link);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        /* The answer to our close ends the connection. libwebsockets answers a browser's own close,
           and nothing may follow that answer. */
        if (link->close_sent)
            return -1;
        link->parting = parting_of(in, size);
        if (!link->closing)
            stop_sending(link);
        return 0;
    case LWS_CALLBACK_CLOSED:
        on_closed(link);
        return 0;
    default:
        return 0;
    }
}

struct lws_protocols websocket_protocol(struct websockets **websockets, unsigned subflow)
{
    static const char *const names[WEBSOCKET_PROTOCOLS] = {
        WEBSOCKET_SUBPROTOCOL,   SUBPROTOCOL_SUBFLOW "1", SUBPROTOCOL_SUBFLOW "2",
        SUBPROTOCOL_SUBFLOW "3", SUBPROTOCOL_SUBFLOW "4",
    };
    return (struct lws_protocols){
        .name = names[subflow],
        .callback = on_event,
        .per_session_data_size = sizeof(struct ws_link),
        .rx_buffer_size = READ_MAX,
        .user = websockets,
        .tx_packet_size = WRITE_MAX,
    };
}
