#include "webrtc.h"

#include "addresses.h"
#include "deadlines.h"
#include "log.h"
#include "rtc/peer.h"
#include "rtc/table.h"
#include "rtc_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offers that are not open channels yet, all together. */
#define HALF_OPEN_MAX 2048
/* Random bytes in the name of a resource. */
#define NAME_BYTES 16
#define ROUTE      "/rtc"
/* Memory is not worth giving back for fewer links, unless they were the last. */
#define TRIM_LINKS 32
/* An address is free for another browser when its last one was silent for so long. */
#define TAKE_OVER_SECONDS 5.0

/* One browser. */
struct link {
    struct webrtc *all;
    struct peer *peer;
    struct session *session; /* while its channel is open */
    struct deadline deadline;
    struct rtc_entry entry;
    struct link *next_ended;
    struct address_count *owner; /* counted while it is half open */
    bool half_open;
    bool ended;
    char name[RTC_PLACE_DIGITS + 2 * NAME_BYTES + 1]; /* of the resource that DELETE names */
};

struct webrtc {
    struct webrtc_config config;
    struct loop *loop;
    struct sessions *sessions;
    struct stats *stats;
    struct rtc_socket *socket;
    struct peer_common common;
    struct addresses *owners; /* of half-open links */
    struct rtc_table *table;
    unsigned half_open;
    size_t most; /* links at a time since memory was given back */
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct link *ended;
    uint16_t port;
    struct log_limit limit;
};

/* The link that an entry of the table sits in; NULL for none. */
static struct link *link_of(struct rtc_entry *entry)
{
    return entry ? lws_container_of(entry, struct link, entry) : NULL;
}

/* Lists it under the address of its peer. An address that is in use by another is not taken over:
   checks prove who someone is, but their sender's address can be forged. */
static void list(struct link *link)
{
    struct webrtc *all = link->all;
    const struct udp_address *address = &peer_path(link->peer)->remote;
    const struct link *other = link_of(rtc_table_from(all->table, address));
    if (other != link && (!other || peer_state(other->peer) != PEER_OPEN ||
                          loop_now() - peer_heard(other->peer) >= TAKE_OVER_SECONDS))
        rtc_table_list(all->table, &link->entry, address);
}

static void set_deadline(struct link *link)
{
    struct webrtc *all = link->all;
    deadlines_set(&all->deadlines, &link->deadline, peer_deadline(link->peer));
    const double first = deadlines_first(&all->deadlines)->time;
    if (first < all->timer_at) {
        all->timer_at = first;
        loop_timer_start(all->loop, &all->timer, first - loop_now());
    }
}

static void leave_half_open(struct link *link)
{
    if (!link->half_open)
        return;
    link->half_open = false;
    link->all->half_open--;
    addresses_leave(link->all->owners, link->owner);
}

static const struct transport webrtc_transport;

static void open_session(struct link *link)
{
    struct endpoint client;
    enum session_refusal why;
    rtc_socket_endpoint(&peer_path(link->peer)->remote, &client);
    link->session = session_open(link->all->sessions, &webrtc_transport, link, &client, &why);
    if (link->session)
        leave_half_open(link);
    else
        peer_end(link->peer,
                 why == SESSION_REFUSED_DRAINING ? "the relay is stopping" : "try later",
                 loop_now());
}

/* Brings session, table and timer in line with what has become of the peer. */
static void follow(struct link *link)
{
    struct webrtc *all = link->all;
    if (link->ended)
        return;
    if (peer_state(link->peer) == PEER_OPEN && !link->session)
        open_session(link);
    if (peer_state(link->peer) != PEER_ENDED) {
        set_deadline(link);
        return;
    }
    link->ended = true;
    link->next_ended = all->ended;
    all->ended = link;
    rtc_table_unlist(all->table, &link->entry);
    deadlines_remove(&all->deadlines, &link->deadline);
    log_debug("webrtc: %s: %s", peer_ufrag(link->peer), peer_reason(link->peer));
}

static void link_destroy(struct link *link)
{
    struct webrtc *all = link->all;
    if (link->session)
        session_close(link->session);
    leave_half_open(link);
    rtc_table_remove(all->table, &link->entry);
    deadlines_remove(&all->deadlines, &link->deadline);
    peer_destroy(link->peer);
    free(link);
}

/* What has ended is freed here and nowhere else, when none of its callers is left. */
static void reap(struct webrtc *all)
{
    while (all->ended) {
        struct link *link = all->ended;
        all->ended = link->next_ended;
        link_destroy(link);
    }
    /* A browser's state is many small blocks; left to itself the C library would keep the pages. */
    const size_t links = rtc_table_count(all->table);
    if (links <= all->most / 2 && (all->most > TRIM_LINKS || (links == 0 && all->most > 0))) {
        all->most = links;
        malloc_trim(0);
    }
}

void webrtc_turn(struct webrtc *all)
{
    if (!all)
        return;
    all->stats->rtc_packets_unsent += rtc_socket_flush(all->socket);
    reap(all);
}

/* The commonest fault of a new installation, which would otherwise show on neither side. */
static void report_unreached(struct webrtc *all, double now)
{
    unsigned held;
    if (log_limit_pass(&all->limit, now, &held))
        log_warn("webrtc: no packet came after an offer: can browsers reach UDP port %u, and is "
                 "--rtc-advertise right? (%u more since the last such line)",
                 all->port, held);
}

static void on_timer(void *context)
{
    struct webrtc *all = context;
    const double now = loop_now();
    struct deadline *first;
    all->timer_at = INFINITY;
    while ((first = deadlines_first(&all->deadlines)) && first->time <= now) {
        struct link *link = lws_container_of(first, struct link, deadline);
        const bool offered = peer_state(link->peer) == PEER_OFFERED;
        const bool half_open = link->half_open;
        peer_update(link->peer, now);
        follow(link);
        if (half_open && link->ended)
            all->stats->rtc_offers_expired++;
        if (offered && link->ended)
            report_unreached(all, now);
        /* Not again in this round, whatever it says. */
        if (!link->ended && link->deadline.time <= now)
            deadlines_set(&all->deadlines, &link->deadline, now + 0.001);
    }
    if (first && first->time < all->timer_at) {
        all->timer_at = first->time;
        loop_timer_start(all->loop, &all->timer, first->time - now);
    }
}

static void on_peer_send(void *context, const struct udp_path *path, const uint8_t *data,
                         size_t size)
{
    struct webrtc *all = context;
    rtc_socket_send(all->socket, path, data, size);
}

static void link_send(void *context, const uint8_t *data, size_t size)
{
    struct link *link = context;
    struct stats *stats = link->all->stats;
    switch (peer_send(link->peer, data, size, loop_now())) {
    case PEER_SENT:
        stats->delivered_datagrams++;
        stats->delivered_writes++;
        break;
    case PEER_OVER_RATE:
        stats->dropped_rate++;
        break;
    case PEER_CONGESTED:
        stats->dropped_congested++;
        break;
    case PEER_TOO_LONG:
        stats->dropped_oversize++;
        break;
    case PEER_NOT_OPEN:
        stats->dropped_closing++;
        break;
    }
}

static void link_flush(void *context)
{
    follow(context);
}

static void link_close(void *context, enum session_end why)
{
    static const char *const reasons[] = {
        [SESSION_END_IDLE] = "idle",
        [SESSION_END_DRAIN] = "relay is stopping",
        [SESSION_END_TEXT] = "text is not supported",
        [SESSION_END_EMPTY] = "empty message",
        [SESSION_END_OVERSIZE] = "longer than a datagram",
        [SESSION_END_PROTOCOL] = "not a secure connection",
        [SESSION_END_RESOURCES] = "out of resources",
    };
    struct link *link = context;
    peer_end(link->peer, reasons[why], loop_now());
    follow(link);
}

static const struct transport webrtc_transport = {
    .name = "webrtc",
    .send = link_send,
    .flush = link_flush,
    .close = link_close,
};

static void take_check(struct webrtc *all, const struct udp_path *path, const uint8_t *data,
                       size_t size)
{
    struct stun_request request;
    struct link *link = NULL;
    if (stun_parse(&request, data, size))
        link = link_of(rtc_table_named(all->table, request.username, request.username_size));
    if (!link || link->ended || !peer_check(link->peer, &request, data, path, loop_now())) {
        all->stats->rtc_packets_ignored++;
        return;
    }
    if (peer_state(link->peer) != PEER_OFFERED)
        list(link);
    follow(link);
}

static void on_datagram(void *context, const struct udp_path *path, const uint8_t *data,
                        size_t size)
{
    struct webrtc *all = context;
    if (stun_is(data, size)) {
        take_check(all, path, data, size);
        return;
    }
    struct link *link = NULL;
    if (dtls_is(data, size))
        link = link_of(rtc_table_from(all->table, &path->remote));
    if (!link || link->ended) {
        all->stats->rtc_packets_ignored++;
        return;
    }
    const double now = loop_now();
    struct peer_datagram datagram;
    peer_receive(link->peer, data, size, now);
    while (!link->ended && peer_next(link->peer, &datagram, now)) {
        if (!link->session)
            follow(link);
        if (!link->session)
            break;
        if (datagram.text)
            session_end(link->session, SESSION_END_TEXT);
        else
            session_receive(link->session, datagram.data, datagram.size);
    }
    follow(link);
}

/* Random bytes as text: letters, digits, + and /, as ICE wants it. */
static bool random_text(char *out, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t bytes[32];
    if (size > sizeof bytes || RAND_bytes(bytes, (int)size) != 1)
        return false;
    for (size_t i = 0; i < size; i++)
        out[i] = letters[bytes[i] % 64];
    out[size] = '\0';
    return true;
}

static void say(struct http_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    reply->content_type = "text/plain";
    const int size = snprintf((char *)reply->body, sizeof reply->body, "%s\n", text);
    reply->size = size > 0 ? (size_t)size : 0;
}

static void add_candidate(const struct webrtc *all, const struct endpoint *endpoint,
                          struct sdp_answer *answer)
{
    struct udp_address address;
    char *text = answer->candidates[answer->candidate_count].ip;
    const size_t room = sizeof answer->candidates[0].ip;
    rtc_socket_address(endpoint, &address);
    const bool v4 = udp_address_is_v4(&address);
    if (!inet_ntop(v4 ? AF_INET : AF_INET6, address.ip + (v4 ? 12 : 0), text, (socklen_t)room))
        return;
    answer->candidates[answer->candidate_count++].port = address.port ? address.port : all->port;
}

static void write_answer(struct webrtc *all, const struct http_request *request,
                         const struct sdp_offer *offer, const char *ufrag, const char *password,
                         struct http_reply *reply)
{
    struct sdp_answer answer = {
        .ufrag = ufrag,
        .password = password,
        .fingerprint = dtls_identity_fingerprint(all->common.identity),
        .mid = offer->mid,
        .bundle = offer->bundle,
        .sctp_port = PEER_SCTP_PORT,
        .max_message_size = SESSION_DATAGRAM_MAX,
    };
    RAND_bytes((unsigned char *)&answer.session, sizeof answer.session);
    for (unsigned i = 0; i < all->config.advertised_count; i++)
        add_candidate(all, &all->config.advertised[i], &answer);
    if (answer.candidate_count == 0) {
        struct endpoint local = request->local;
        endpoint_set_port(&local, 0);
        add_candidate(all, &local, &answer);
    }
    reply->size = sdp_write_answer((char *)reply->body, sizeof reply->body, &answer);
    reply->content_type = "application/sdp";
    reply->status = 201;
}

static struct link *link_create(struct webrtc *all, const struct sdp_offer *offer, char *ufrag,
                                char *password)
{
    uint8_t secret[NAME_BYTES];
    struct link *link = calloc(1, sizeof *link);
    if (!link || !rtc_table_add(all->table, &link->entry)) {
        free(link);
        return NULL;
    }
    link->all = all;
    rtc_place_write(link->entry.place, ufrag);
    strcpy(link->name, ufrag);
    if (random_text(ufrag + RTC_PLACE_DIGITS, PEER_NAME_SIZE - 1 - RTC_PLACE_DIGITS) &&
        random_text(password, PEER_NAME_SIZE - 1) && RAND_bytes(secret, sizeof secret) == 1)
        link->peer = peer_create(&all->common, offer, ufrag, password, loop_now());
    if (!link->peer) {
        rtc_table_remove(all->table, &link->entry);
        free(link);
        return NULL;
    }
    for (int i = 0; i < NAME_BYTES; i++)
        snprintf(link->name + RTC_PLACE_DIGITS + i * 2, 3, "%02x", secret[i]);
    if (all->most < rtc_table_count(all->table))
        all->most = rtc_table_count(all->table);
    return link;
}

static void take_offer(struct webrtc *all, const struct http_request *request,
                       struct http_reply *reply)
{
    static const char type[] = "application/sdp";
    struct sdp_offer offer;
    if (strncmp(request->content_type, type, strlen(type)) != 0) {
        say(reply, HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE, "The offer must be application/sdp.");
        return;
    }
    const enum sdp_error error = sdp_read_offer(&offer, (const char *)request->body, request->size);
    if (error != SDP_OK) {
        all->stats->rtc_offers_refused++;
        say(reply, HTTP_STATUS_BAD_REQUEST, sdp_error_string(error));
        return;
    }
    bool full = true;
    struct address_count *owner = NULL;
    if (all->half_open < HALF_OPEN_MAX)
        owner = addresses_enter(all->owners, &request->client, all->config.max_per_address, &full);
    char ufrag[PEER_NAME_SIZE];
    char password[PEER_NAME_SIZE];
    struct link *link = owner ? link_create(all, &offer, ufrag, password) : NULL;
    if (!link) {
        if (owner)
            addresses_leave(all->owners, owner);
        all->stats->rtc_offers_full++;
        say(reply, HTTP_STATUS_SERVICE_UNAVAILABLE, "Too many offers are waiting: try later.");
        return;
    }
    all->stats->rtc_offers++;
    link->owner = owner;
    link->half_open = true;
    all->half_open++;
    set_deadline(link);
    write_answer(all, request, &offer, ufrag, password, reply);
    snprintf(reply->location, sizeof reply->location, ROUTE "/%s", link->name);
}

static void take_delete(struct webrtc *all, const char *name, struct http_reply *reply)
{
    struct link *link = link_of(rtc_table_named(all->table, name, strlen(name)));
    if (!link || link->ended || strlen(name) != strlen(link->name) ||
        CRYPTO_memcmp(name, link->name, strlen(name)) != 0) {
        say(reply, HTTP_STATUS_NOT_FOUND, "There is no such connection, or no longer.");
        return;
    }
    peer_end(link->peer, "deleted", loop_now());
    follow(link);
    say(reply, HTTP_STATUS_OK, "The connection is closed.");
}

static void on_request(void *context, const struct http_request *request, struct http_reply *reply)
{
    struct webrtc *all = context;
    const char *below = request->path + strlen(ROUTE);
    const bool post = strcmp(request->method, "POST") == 0;
    if (post && *below == '\0')
        take_offer(all, request, reply);
    else if (!post && *below == '/')
        take_delete(all, below + 1, reply);
    else
        say(reply, HTTP_STATUS_METHOD_NOT_ALLOWED,
            "POST an offer to " ROUTE ", DELETE what its answer's Location names.");
}

static bool make_tables(struct webrtc *all)
{
    const size_t most = (size_t)all->config.max_sessions + HALF_OPEN_MAX;
    all->table = rtc_table_create(most);
    all->owners = addresses_create(HALF_OPEN_MAX);
    return all->table && all->owners && deadlines_reserve(&all->deadlines, most);
}

struct webrtc *webrtc_create(const struct webrtc_config *config, struct dtls_identity *identity,
                             struct loop *loop, struct sessions *sessions, struct http *http,
                             struct stats *stats)
{
    char text[ENDPOINT_TEXT];
    struct webrtc *all = calloc(1, sizeof *all);
    if (!all) {
        log_error("no memory");
        return NULL;
    }
    all->config = *config;
    all->loop = loop;
    all->sessions = sessions;
    all->stats = stats;
    all->common = (struct peer_common){
        .identity = identity, .rate = config->rate, .send = on_peer_send, .context = all};
    all->timer.expired = on_timer;
    all->timer.context = all;
    all->timer_at = INFINITY;
    if (!make_tables(all)) {
        log_error("no memory");
        webrtc_destroy(all);
        return NULL;
    }
    all->socket = rtc_socket_create(&config->local, loop, on_datagram, all);
    if (!all->socket) {
        endpoint_format(&config->local, text);
        log_error("cannot open the UDP port %s: %s", text, strerror(errno));
        webrtc_destroy(all);
        return NULL;
    }
    struct endpoint local;
    struct udp_address address;
    rtc_socket_local(all->socket, &local);
    rtc_socket_address(&local, &address);
    all->port = address.port;
    endpoint_format(&local, text);
    log_info("webrtc on udp %s", text);
    const struct http_route route = {
        .path = ROUTE, .body_max = SDP_OFFER_MAX + 1, .handle = on_request, .context = all};
    http_add_route(http, &route);
    return all;
}

void webrtc_destroy(struct webrtc *all)
{
    if (!all)
        return;
    loop_timer_stop(&all->timer);
    for (size_t i = 0; all->table && rtc_table_count(all->table) > 0; i++) {
        struct link *link = link_of(rtc_table_at(all->table, i));
        if (link) {
            peer_end(link->peer, "the relay has stopped", loop_now());
            link_destroy(link);
        }
    }
    rtc_socket_destroy(all->socket);
    addresses_destroy(all->owners);
    deadlines_free(&all->deadlines);
    dtls_identity_destroy(all->common.identity);
    rtc_table_destroy(all->table);
    free(all);
}
