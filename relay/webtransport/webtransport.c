#include "webtransport/webtransport_internal.h"

#include "os/log.h"
#include "os/trim.h"
#include "rtc/rtc_socket.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A page's request comes two round trips after the first packet; until then the link has these
   seconds. */
#define WAIT_SECONDS 10.0
/* A browser has these seconds to answer that it has heard of the end. */
#define CLOSE_SECONDS 2.0
/* The connection ends so many seconds after its session. Chromium reports a lost connection, and no
   reason, when it reads both ends at once. */
#define LINGER_SECONDS 0.1
/* Clients must prove their addresses first, which costs them a round trip, while more links than
   this wait for a request. Packets with forged addresses then cost no memory. */
#define UNPROVEN_MOST 64
/* The rate to a browser may be exceeded for so long, and by so many bytes at least; as for WebRTC.
 */
#define BURST_SECONDS 0.5
#define BURST_LEAST   8192.0
/* The bytes that go beside a datagram: UDP and IP, and those of QUIC. */
#define OVERHEAD 62

static struct wt_link *wt_link_of(struct session_link *base)
{
    return lws_container_of(base, struct wt_link, base);
}

void webtransport_make_due(struct wt_link *link)
{
    if (link->due)
        return;
    link->due = true;
    link->next_due = link->webtransport->due;
    link->webtransport->due = link;
}

void webtransport_leave_waiting(struct wt_link *link)
{
    if (half_open_has(&link->half_open))
        link->webtransport->waiting--;
    half_open_leave(link->webtransport->half_open, &link->half_open);
    link->give_up = loop_now() + CLOSE_SECONDS;
}

static void end(struct wt_link *link)
{
    if (half_open_has(&link->half_open))
        link->webtransport->stats->webtransport_handshakes_ended++;
    webtransport_leave_waiting(link);
    link->state = WT_ENDED;
    webtransport_make_due(link);
}

void webtransport_dismiss(struct wt_link *link, const struct session_farewell *farewell)
{
    uint8_t capsule[HTTP3_CLOSE_MAX];
    if (link->state != WT_OPEN)
        return;
    const size_t size = http3_write_close(capsule, farewell->code, farewell->text);
    quic_reply(link->quic, link->stream, capsule, size, true);
    link->state = WT_CLOSING;
    link->give_up = loop_now() + CLOSE_SECONDS;
    webtransport_make_due(link);
}

static bool wt_link_ready(const struct session_link *base)
{
    const struct wt_link *link = lws_container_of(base, const struct wt_link, base);
    return link->state == WT_OPEN && link->used;
}

static double wt_link_rtt(const struct session_link *base)
{
    return quic_rtt(lws_container_of(base, const struct wt_link, base)->quic);
}

static void wt_link_close(struct session_link *base, const struct session_farewell *farewell,
                          bool at_once)
{
    struct wt_link *link = wt_link_of(base);
    webtransport_dismiss(link, farewell);
    link->at_once = link->at_once || at_once;
    /* The answer goes to the process that has taken over. */
    if (link->webtransport->left)
        link->give_up = loop_now() + LINGER_SECONDS;
    webtransport_make_due(link);
}

static bool take_allowed(struct wt_link *link, size_t size, double now)
{
    const double rate = link->webtransport->config.limits.bytes_per_second;
    if (rate <= 0.0)
        return true;
    const double bytes = (double)(size + OVERHEAD);
    if (bucket_fill(&link->allowed, rate, fmax(rate * BURST_SECONDS, BURST_LEAST), now) < bytes)
        return false;
    link->allowed.level -= bytes;
    return true;
}

/* Sends a datagram, and counts what became of it. */
static void send_one(struct wt_link *link, const struct datagram *datagram, double now)
{
    struct stats *stats = link->webtransport->stats;
    uint8_t prefix[VARINT_MAX];
    const size_t prefix_size = varint_write(prefix, (uint64_t)link->stream / 4);
    if (!take_allowed(link, datagram->size, now)) {
        STATS_DROPPED(stats, &link->base.drops, rate, 1);
        return;
    }
    switch (link->state != WT_OPEN ? QUIC_ENDED
            : link->reads          ? QUIC_CONGESTED
                          : quic_send_datagram(link->quic, prefix, prefix_size, datagram->data,
                                               datagram->size, now)) {
    case QUIC_SENT:
        policing_sent(&link->policing);
        stats->delivered_datagrams++;
        stats->delivered_writes++;
        break;
    case QUIC_CONGESTED:
        STATS_DROPPED(stats, &link->base.drops, congested, 1);
        break;
    case QUIC_TOO_LONG:
        STATS_DROPPED(stats, &link->base.drops, oversize, 1);
        break;
    case QUIC_ENDED:
        STATS_DROPPED(stats, &link->base.drops, closing, 1);
        break;
    }
}

static void wt_link_send_batch(struct session_link *base, const struct datagram *datagrams,
                               size_t count)
{
    struct wt_link *link = wt_link_of(base);
    const double now = loop_now();
    for (size_t i = 0; i < count; i++)
        send_one(link, &datagrams[i], now);
    webtransport_make_due(link);
}

const struct transport webtransport_transport = {
    .name = "webtransport",
    .ready = wt_link_ready,
    .send_batch = wt_link_send_batch,
    .close = wt_link_close,
    .rtt = wt_link_rtt,
};

static void on_send(void *context, const struct udp_path *path, const uint8_t *data, size_t size)
{
    const struct webtransport *webtransport = context;
    webrtc_send(webtransport->config.webrtc, path, data, size);
}

/* Takes the end of the session by the browser, and answers it, unless it is an answer itself. A
   page that closes it on purpose gives a code; a browser that leaves the page gives none. */
static void part(struct wt_link *link, uint32_t code)
{
    if (link->state == WT_CLOSING) {
        link->give_up = fmin(link->give_up, loop_now() + LINGER_SECONDS);
        webtransport_make_due(link);
        return;
    }
    if (link->state == WT_OPEN) {
        link->parting = code != 0 ? SESSION_LINK_CLOSED : SESSION_LINK_AWAY;
        quic_reply(link->quic, link->stream, NULL, 0, true);
    } else if (link->state == WT_WAITING) {
        link->webtransport->stats->webtransport_requests_refused++;
        webtransport_leave_waiting(link);
    }
    link->state = WT_CLOSING;
    link->at_once = true;
    webtransport_make_due(link);
}

static void on_stream(void *owner, int64_t stream, const uint8_t *data, size_t size, bool ends)
{
    struct wt_link *link = owner;
    struct http3_request request;
    uint32_t code = 0;
    if (link->stream < 0)
        link->stream = stream;
    if (stream != link->stream) {
        if (size > 0)
            quic_refuse_stream(link->quic, stream, HTTP3_REQUEST_REJECTED);
        return;
    }
    while (link->state != WT_ENDED && !link->at_once) {
        const enum http3_event event = http3_read(&link->reader, &data, &size, &request, &code);
        if (event == HTTP3_NOTHING)
            break;
        if (event == HTTP3_REQUEST)
            webtransport_answer(link, &request);
        else
            part(link, code);
    }
    if (ends && link->state != WT_ENDED && !link->at_once)
        part(link, 0);
}

/* Lets a link carry its session from the first datagram on, as one of WebRTC does: a page tries its
   new links one after the other, and the one that it tries must be the newest, whichever was open
   first. */
static void note_use(struct wt_link *link)
{
    struct udp_path path;
    struct socket_address client;
    if (link->used || !link->base.session)
        return;
    quic_path(link->quic, &path);
    rtc_socket_socket_address(&path.remote, &client);
    session_link_lead(&link->base, &client);
    link->used = true;
}

static void on_quic_datagram(void *owner, const uint8_t *data, size_t size)
{
    struct wt_link *link = owner;
    uint8_t joined[SESSION_DATAGRAM_MAX];
    struct datagram datagram;
    uint64_t quarter;
    const size_t prefix = varint_read(data, size, &quarter);
    if (prefix == 0 || link->stream < 0 || quarter != (uint64_t)link->stream / 4 ||
        link->state == WT_WAITING ||
        !parts_take(&link->parts, data + prefix, size - prefix, loop_now(), joined, &datagram))
        return;
    note_use(link);
    if (link->base.session)
        session_receive(link->base.session, datagram.data, datagram.size);
    else
        sessions_discard(link->webtransport->sessions, datagram.size);
}

static void set_deadline(struct wt_link *link)
{
    struct webtransport *webtransport = link->webtransport;
    const double soonest = loop_now() + 0.001; /* a link gets one turn in each round */
    double at = fmax(quic_deadline(link->quic), soonest);
    if (link->state != WT_OPEN)
        at = fmin(at, link->give_up);
    deadlines_set(&webtransport->deadlines, &link->deadline, at);
    const double first = deadlines_first(&webtransport->deadlines)->time;
    if (first < webtransport->timer_at) {
        webtransport->timer_at = first;
        loop_timer_start(webtransport->loop, &webtransport->timer, first - loop_now());
    }
}

static void destroy_link(struct wt_link *link)
{
    struct webtransport *webtransport = link->webtransport;
    *link->at = link->next;
    if (link->next)
        link->next->at = link->at;
    webtransport_leave_waiting(link);
    deadlines_remove(&webtransport->deadlines, &link->deadline);
    session_link_close(&link->base, link->parting);
    quic_destroy(link->quic);
    http3_reader_free(&link->reader);
    free(link->parts.data);
    free(link);
    webtransport->count--;
}

/* Sends what a link has to send, and ends it if it is time. */
static void serve(struct wt_link *link)
{
    const double now = loop_now();
    if (link->state != WT_ENDED && !quic_flush(link->quic, now))
        link->state = WT_ENDED;
    if (link->at_once && link->state != WT_ENDED) {
        quic_close(link->quic, HTTP3_NO_ERROR, now);
        link->state = WT_ENDED;
    }
    if (link->state == WT_ENDED)
        destroy_link(link);
    else
        set_deadline(link);
}

void webtransport_turn(struct webtransport *webtransport)
{
    if (!webtransport)
        return;
    while (webtransport->due) {
        struct wt_link *link = webtransport->due;
        webtransport->due = link->next_due;
        link->due = false;
        serve(link);
    }
    trim_follow(&webtransport->peak, webtransport->count);
}

/* Ends a link whose browser has not asked, or not answered, in time. */
static void end_at_once(struct wt_link *link)
{
    quic_close(link->quic, HTTP3_NO_ERROR, loop_now());
    end(link);
}

static void on_timer(void *context)
{
    struct webtransport *webtransport = context;
    const double now = loop_now();
    struct deadline *first;
    webtransport->timer_at = INFINITY;
    while ((first = deadlines_first(&webtransport->deadlines)) && first->time <= now) {
        struct wt_link *link = lws_container_of(first, struct wt_link, deadline);
        deadlines_remove(&webtransport->deadlines, first);
        if (!quic_update(link->quic, now))
            end(link);
        else if (link->state != WT_OPEN && link->give_up <= now)
            end_at_once(link);
        webtransport_make_due(link);
    }
    if (first && first->time < webtransport->timer_at) {
        webtransport->timer_at = first->time;
        loop_timer_start(webtransport->loop, &webtransport->timer, first->time - now);
    }
}

/* Gives a link a packet, and counts the processor time of its handshake. */
static void take(struct wt_link *link, const struct udp_path *path, const uint8_t *data,
                 size_t size)
{
    struct webtransport *webtransport = link->webtransport;
    const bool shakes_hands = !quic_is_up(link->quic);
    const bool is_long = data[0] & 0x80;
    const double began = shakes_hands ? handshake_clock() : 0.0;
    if (link->state == WT_ENDED)
        return;
    if (!policing_take(&link->policing, is_long ? POLICED_OTHER : POLICED_DATA,
                       webtransport->config.limits.packets_per_second, loop_now())) {
        webtransport->stats->webtransport_packets_policed++;
        return;
    }
    link->reads = true;
    const bool goes_on = quic_receive(link->quic, path, data, size, loop_now());
    link->reads = false;
    if (!goes_on)
        end(link);
    if (shakes_hands)
        handshake_budget_spend(webtransport->config.handshakes, handshake_clock() - began);
    webtransport_make_due(link);
}

/* Ends links that wait for a request when there are too many of them. */
static void make_room(struct webtransport *webtransport)
{
    struct half_open_entry *entry;
    while ((entry = half_open_surplus(webtransport->half_open, loop_now())))
        end(lws_container_of(entry, struct wt_link, half_open));
}

/* Begins a link with its first packet; returns NULL when it may not begin. */
static struct wt_link *begin(struct webtransport *webtransport, const struct udp_path *path,
                             const uint8_t *data, size_t size)
{
    struct socket_address client;
    unsigned retry_after;
    rtc_socket_socket_address(&path->remote, &client);
    if (webtransport->count == webtransport->most ||
        !offer_limit_pass(webtransport->offers, &client, loop_now(), &retry_after))
        return NULL;
    struct wt_link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->webtransport = webtransport;
    link->stream = -1;
    link->allowed.level = INFINITY;
    link->give_up = loop_now() + WAIT_SECONDS;
    policing_init(&link->policing);
    if (half_open_enter(webtransport->half_open, &link->half_open, &client)) {
        link->quic = quic_create(webtransport->quic, link, path, data, size, loop_now());
        if (link->quic)
            return link;
        half_open_leave(webtransport->half_open, &link->half_open);
    }
    free(link);
    return NULL;
}

static struct wt_link *add(struct webtransport *webtransport, struct wt_link *link)
{
    link->next = webtransport->links;
    link->at = &webtransport->links;
    if (link->next)
        link->next->at = &link->next;
    webtransport->links = link;
    webtransport->count++;
    webtransport->waiting++;
    half_open_shake_hands(webtransport->half_open, &link->half_open, loop_now());
    make_room(webtransport);
    return link;
}

static void on_packet(void *context, const struct udp_path *path, const uint8_t *data, size_t size)
{
    struct webtransport *webtransport = context;
    const double now = loop_now();
    const bool late =
        handshake_budget_wait(webtransport->config.handshakes, HANDSHAKE_DTLS, now) > 0;
    const bool proof = late || webtransport->waiting > UNPROVEN_MOST;
    struct quic_route route = {QUIC_NOTHING, NULL};
    struct wt_link *link;
    if (quic_is(data, size))
        route = quic_route(webtransport->quic, path, data, size, proof, now);
    switch (route.kind) {
    case QUIC_KNOWN:
        take(route.owner, path, data, size);
        break;
    case QUIC_NEW:
        link = late ? NULL : begin(webtransport, path, data, size);
        if (link)
            take(add(webtransport, link), path, data, size);
        else
            webtransport->stats->webtransport_handshakes_refused++;
        break;
    case QUIC_NOTHING:
        webtransport->stats->webtransport_packets_ignored++;
        break;
    }
}

static bool open_parts(struct webtransport *webtransport)
{
    const struct webtransport_config *config = &webtransport->config;
    struct quic_server_config quic = {
        .events = {.send = on_send,
                   .stream = on_stream,
                   .datagram = on_quic_datagram,
                   .context = webtransport},
        .greeting = http3_settings,
        .greeting_size = http3_settings_size,
        .most = webtransport->most,
    };
    /* The secret of the sessions is the same in all processes that follow one another. */
    memcpy(webtransport->secret, sessions_secret(webtransport->sessions), QUIC_SECRET_SIZE);
    memcpy(quic.secret, webtransport->secret, QUIC_SECRET_SIZE);
    webtransport->certificates =
        certificates_create(config->certificate, config->key, (int64_t)time(NULL));
    if (!webtransport->certificates)
        return false;
    quic.certificates = webtransport->certificates;
    webtransport->quic = quic_server_create(&quic);
    webtransport->offers =
        offer_limit_create(config->limits.max_sessions, config->limits.max_per_address);
    webtransport->half_open = half_open_create(config->limits.max_per_address);
    if (webtransport->quic && webtransport->offers && webtransport->half_open &&
        deadlines_reserve(&webtransport->deadlines, webtransport->most))
        return true;
    log_error("no memory");
    return false;
}

bool webtransport_check(const char *certificate, const char *key)
{
    struct certificates *certificates = certificates_create(certificate, key, (int64_t)time(NULL));
    const bool usable = certificates != NULL;
    certificates_destroy(certificates);
    return usable;
}

struct webtransport *webtransport_create(const struct webtransport_config *config,
                                         struct loop *loop, struct sessions *sessions,
                                         struct http *http, struct stats *stats)
{
    struct webtransport *webtransport = calloc(1, sizeof *webtransport);
    if (!webtransport) {
        log_error("no memory");
        return NULL;
    }
    webtransport->config = *config;
    webtransport->loop = loop;
    webtransport->sessions = sessions;
    webtransport->stats = stats;
    webtransport->most = (size_t)config->capacity + HALF_OPEN_HANDSHAKES_MAX;
    webtransport->timer = (struct loop_timer){.expired = on_timer, .context = webtransport};
    webtransport->timer_at = INFINITY;
    if (!open_parts(webtransport)) {
        webtransport_destroy(webtransport);
        return NULL;
    }
    webrtc_share(config->webrtc, on_packet, webtransport);
    webtransport_add_route(webtransport, http);
    log_info("webtransport on the same port");
    return webtransport;
}

void webtransport_set_limits(struct webtransport *webtransport, const struct webrtc_limits *limits)
{
    if (!webtransport)
        return;
    offer_limit_set(webtransport->offers, limits->max_sessions, limits->max_per_address);
    half_open_set(webtransport->half_open, limits->max_per_address);
    webtransport->config.limits = *limits;
}

bool webtransport_reload(struct webtransport *webtransport, const char *certificate,
                         const char *key)
{
    return !webtransport ||
           certificates_reload(webtransport->certificates, certificate, key, (int64_t)time(NULL));
}

void webtransport_leave(struct webtransport *webtransport)
{
    if (webtransport)
        webtransport->left = true;
}

void webtransport_destroy(struct webtransport *webtransport)
{
    if (!webtransport)
        return;
    loop_timer_stop(&webtransport->timer);
    webrtc_share(webtransport->config.webrtc, NULL, NULL);
    while (webtransport->links) {
        quic_close(webtransport->links->quic, HTTP3_NO_ERROR, loop_now());
        destroy_link(webtransport->links);
    }
    half_open_destroy(webtransport->half_open);
    offer_limit_destroy(webtransport->offers);
    deadlines_free(&webtransport->deadlines);
    quic_server_destroy(webtransport->quic);
    certificates_destroy(webtransport->certificates);
    free(webtransport);
}
