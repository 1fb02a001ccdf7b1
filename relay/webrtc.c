#include "webrtc.h"

#include "addresses.h"
#include "deadlines.h"
#include "log.h"
#include "rtc/peer.h"
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
/* Hexadecimal digits with which the ufrag and the resource's name begin: the place of the link. */
#define PLACE_DIGITS 6
#define NAME_BYTES   16
#define ROUTE        "/rtc"
/* Memory is not worth giving back for fewer links. */
#define TRIM_LINKS 32
/* An address is free for another browser when its last one was silent for so long. */
#define TAKE_OVER_SECONDS 5.0

/* One browser. */
struct link {
    struct webrtc *all;
    struct peer *peer;
    struct session *session; /* while its channel is open */
    struct deadline deadline;
    struct udp_address address; /* under which it is in the table */
    struct link *next_same;     /* in the same row of the table */
    struct link *next_ended;
    struct address_count *owner; /* counted while it is half open */
    size_t place;                /* in all->links */
    bool half_open;
    bool listed; /* in the table */
    bool ended;
    char name[PLACE_DIGITS + 2 * NAME_BYTES + 1]; /* of the resource that DELETE names */
};

struct webrtc {
    struct webrtc_config config;
    struct loop *loop;
    struct sessions *sessions;
    struct stats *stats;
    struct rtc_socket *socket;
    struct peer_common common;
    struct addresses *owners; /* of half-open links */
    struct link **links;      /* by place; NULL = free */
    size_t place_count;
    size_t *free_places; /* a stack */
    size_t free_count;
    unsigned half_open;
    size_t most; /* links at a time since memory was given back */
    struct link **rows; /* links by the address of their browser */
    size_t row_mask;
    uint64_t row_key;
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct link *ended;
    uint16_t port;
    struct log_limit limit;
};

static size_t row_of(const struct webrtc *all, const struct udp_address *address)
{
    uint64_t words[3] = {0, 0, address->port};
    memcpy(words, address->ip, 16);
    uint64_t hash = all->row_key;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (size_t)(hash >> 20) & all->row_mask;
}

static struct link *find_address(const struct webrtc *all, const struct udp_address *address)
{
    struct link *link = all->rows[row_of(all, address)];
    while (link && !udp_address_same(&link->address, address))
        link = link->next_same;
    return link;
}

static void unlist(struct link *link)
{
    if (!link->listed)
        return;
    struct link **at = &link->all->rows[row_of(link->all, &link->address)];
    while (*at != link)
        at = &(*at)->next_same;
    *at = link->next_same;
    link->listed = false;
}

/* Lists it under the address of its peer. An address that is in use by another is not taken over:
   checks prove who someone is, but their sender's address can be forged. */
static void list(struct link *link)
{
    struct webrtc *all = link->all;
    const struct udp_address *address = &peer_path(link->peer)->remote;
    const struct link *other = find_address(all, address);
    if (other == link || (other && peer_state(other->peer) == PEER_OPEN &&
                          loop_now() - peer_heard(other->peer) < TAKE_OVER_SECONDS))
        return;
    unlist(link);
    link->address = *address;
    struct link **row = &all->rows[row_of(all, address)];
    link->next_same = *row;
    *row = link;
    link->listed = true;
}

/* The link whose place a text begins with; NULL when there is none. */
static struct link *find_place(const struct webrtc *all, const char *text, size_t size)
{
    size_t place = 0;
    if (size < PLACE_DIGITS)
        return NULL;
    for (int i = 0; i < PLACE_DIGITS; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return NULL;
        place = place * 16 + (size_t)(digit - digits);
    }
    return place < all->place_count ? all->links[place] : NULL;
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

static void to_endpoint(const struct udp_address *address, struct endpoint *out)
{
    memset(out, 0, sizeof *out);
    if (udp_address_is_v4(address)) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)&out->address;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(address->port);
        memcpy(&v4->sin_addr, address->ip + 12, 4);
        out->size = sizeof *v4;
    } else {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->address;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(address->port);
        memcpy(&v6->sin6_addr, address->ip, 16);
        out->size = sizeof *v6;
    }
}

static const struct transport webrtc_transport;

static void open_session(struct link *link)
{
    struct endpoint client;
    enum session_refusal why;
    to_endpoint(&peer_path(link->peer)->remote, &client);
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
    unlist(link);
    deadlines_remove(&all->deadlines, &link->deadline);
    log_debug("webrtc: %s: %s", peer_ufrag(link->peer), peer_reason(link->peer));
}

static void link_destroy(struct link *link)
{
    struct webrtc *all = link->all;
    if (link->session)
        session_close(link->session);
    leave_half_open(link);
    unlist(link);
    deadlines_remove(&all->deadlines, &link->deadline);
    all->links[link->place] = NULL;
    all->free_places[all->free_count++] = link->place;
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
    const size_t links = all->place_count - all->free_count;
    if (all->most > TRIM_LINKS && links <= all->most / 2) {
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

static void on_timer(void *context)
{
    struct webrtc *all = context;
    const double now = loop_now();
    struct deadline *first;
    all->timer_at = INFINITY;
    while ((first = deadlines_first(&all->deadlines)) && first->time <= now) {
        struct link *link = lws_container_of(first, struct link, deadline);
        const bool half_open = link->half_open;
        peer_update(link->peer, now);
        follow(link);
        if (half_open && link->ended)
            all->stats->rtc_offers_expired++;
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
        link = find_place(all, request.username, request.username_size);
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
    struct link *link = dtls_is(data, size) ? find_address(all, &path->remote) : NULL;
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
    if (!link)
        return NULL;
    link->all = all;
    link->place = all->free_places[--all->free_count];
    snprintf(ufrag, PEER_NAME_SIZE, "%06zx", link->place);
    strcpy(link->name, ufrag);
    if (random_text(ufrag + PLACE_DIGITS, PEER_NAME_SIZE - 1 - PLACE_DIGITS) &&
        random_text(password, PEER_NAME_SIZE - 1) && RAND_bytes(secret, sizeof secret) == 1)
        link->peer = peer_create(&all->common, offer, ufrag, password, loop_now());
    if (!link->peer) {
        all->free_count++;
        free(link);
        return NULL;
    }
    for (int i = 0; i < NAME_BYTES; i++)
        snprintf(link->name + PLACE_DIGITS + i * 2, 3, "%02x", secret[i]);
    all->links[link->place] = link;
    if (all->most < all->place_count - all->free_count)
        all->most = all->place_count - all->free_count;
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
    if (all->half_open < HALF_OPEN_MAX && all->free_count > 0)
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
    struct link *link = find_place(all, name, strlen(name));
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
    all->place_count = (size_t)all->config.max_sessions + HALF_OPEN_MAX;
    size_t rows = 64;
    while (rows < all->place_count)
        rows *= 2;
    all->row_mask = rows - 1;
    all->rows = calloc(rows, sizeof *all->rows);
    all->links = calloc(all->place_count, sizeof *all->links);
    all->free_places = calloc(all->place_count, sizeof *all->free_places);
    all->owners = addresses_create(HALF_OPEN_MAX);
    if (!all->rows || !all->links || !all->free_places || !all->owners ||
        RAND_bytes((unsigned char *)&all->row_key, sizeof all->row_key) != 1)
        return false;
    while (all->free_count < all->place_count) {
        all->free_places[all->free_count] = all->place_count - 1 - all->free_count;
        all->free_count++;
    }
    return true;
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
    for (size_t i = 0; all->links && i < all->place_count; i++) {
        if (all->links[i]) {
            peer_end(all->links[i]->peer, "the relay has stopped", loop_now());
            link_destroy(all->links[i]);
        }
    }
    rtc_socket_destroy(all->socket);
    addresses_destroy(all->owners);
    deadlines_free(&all->deadlines);
    dtls_identity_destroy(all->common.identity);
    free(all->rows);
    free(all->links);
    free(all->free_places);
    free(all);
}
