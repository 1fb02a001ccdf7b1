#include "rtc/webrtc_internal.h"

#include "os/trim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* This many browsers at an address are looked at to see whether they may be waiting for a datagram,
   and this many of them are given it. Both numbers bound the work for a packet
   (hostile.rtc_work). */
#define MOVED_SEARCHED 256
#define MOVED_TRIED    4

/* Returns whether a link may be listed under an address: not if another browser is there. Checks
   prove who someone is, but their sender's address can be forged. */
static bool may_list(const struct rtc_link *link, const struct udp_address *address)
{
    const struct rtc_link *other = webrtc_link_of(rtc_table_from(link->webrtc->table, address));
    return !other || other == link || !peer_is_at(other->peer, address, loop_now());
}

/* Lists a link under the addresses from which its peer takes DTLS. When several links that have
   proven nothing share an address, it leads to the one that checked last. */
static void list(struct rtc_link *link)
{
    struct rtc_table *table = link->webrtc->table;
    for (size_t i = 0; i < PATHS_MAX; i++) {
        struct rtc_listing *listing = &link->listings[i];
        const struct udp_path *path = peer_path_at(link->peer, i);
        if (listing->entry && path && udp_address_same(&listing->address, &path->remote) &&
            rtc_table_from(table, &path->remote) == &link->entry)
            continue;
        rtc_table_unlist(table, listing);
        if (path && may_list(link, &path->remote))
            rtc_table_list(table, listing, &link->entry, &path->remote);
    }
}

static void unlist(struct rtc_link *link)
{
    for (size_t i = 0; i < PATHS_MAX; i++)
        rtc_table_unlist(link->webrtc->table, &link->listings[i]);
    rtc_table_unlist(link->webrtc->table, &link->claimed);
}

void webrtc_set_deadline(struct rtc_link *link)
{
    struct webrtc *webrtc = link->webrtc;
    deadlines_set(&webrtc->deadlines, &link->deadline, peer_deadline(link->peer));
    const double first = deadlines_first(&webrtc->deadlines)->time;
    if (first < webrtc->timer_at) {
        webrtc->timer_at = first;
        loop_timer_start(webrtc->loop, &webrtc->timer, first - loop_now());
    }
}

static const struct transport webrtc_transport;

static struct rtc_link *rtc_link_of(struct session_link *base)
{
    return lws_container_of(base, struct rtc_link, base);
}

static void dismiss(struct rtc_link *link, const struct session_farewell *farewell)
{
    peer_dismiss(link->peer, farewell->code, farewell->text, loop_now());
}

static void open_session(struct rtc_link *link)
{
    rtc_socket_socket_address(&peer_path(link->peer)->remote, &link->request.client);
    link->opened = true;
    const enum session_refusal why =
        session_link_open(link->webrtc->sessions, &link->base, &webrtc_transport, &link->request);
    if (why == SESSION_REFUSED_NOT)
        half_open_leave(link->webrtc->half_open, &link->half_open);
    else
        dismiss(link, session_refusal_farewell(why));
}

void webrtc_follow(struct rtc_link *link)
{
    struct webrtc *webrtc = link->webrtc;
    if (link->ended)
        return;
    if (peer_state(link->peer) == PEER_OPEN && !link->opened)
        open_session(link);
    if (peer_state(link->peer) != PEER_ENDED) {
        webrtc_set_deadline(link);
        return;
    }
    half_open_leave(webrtc->half_open, &link->half_open);
    link->ended = true;
    link->next_ended = webrtc->ended;
    webrtc->ended = link;
    unlist(link);
    deadlines_remove(&webrtc->deadlines, &link->deadline);
    log_debug("webrtc: %s: %s", peer_ufrag(link->peer), peer_reason(link->peer));
}

void webrtc_make_room(struct webrtc *webrtc)
{
    struct half_open_entry *entry;
    while ((entry = half_open_surplus(webrtc->half_open, loop_now()))) {
        struct rtc_link *link = lws_container_of(entry, struct rtc_link, half_open);
        webrtc->stats->rtc_offers_evicted++;
        peer_end(link->peer, "others took its place", loop_now());
        webrtc_follow(link);
    }
}

static void rtc_link_destroy(struct rtc_link *link)
{
    struct webrtc *webrtc = link->webrtc;
    const bool closed = link->deleted || peer_left(link->peer);
    session_link_close(&link->base, closed ? SESSION_LINK_CLOSED : SESSION_LINK_LOST);
    half_open_leave(webrtc->half_open, &link->half_open);
    unlist(link);
    rtc_table_remove(webrtc->table, &link->entry);
    deferred_forget(&webrtc->deferred, link);
    deadlines_remove(&webrtc->deadlines, &link->deadline);
    peer_destroy(link->peer);
    free(link);
}

/* Frees the links that have ended. They are freed here and nowhere else, when none of their callers
   is left. */
static void reap(struct webrtc *webrtc)
{
    while (webrtc->ended) {
        struct rtc_link *link = webrtc->ended;
        webrtc->ended = link->next_ended;
        rtc_link_destroy(link);
    }
    trim_follow(&webrtc->most, rtc_table_count(webrtc->table));
}

void webrtc_turn(struct webrtc *webrtc)
{
    if (!webrtc)
        return;
    webrtc->stats->rtc_packets_unsent += rtc_socket_flush(webrtc->socket);
    reap(webrtc);
}

void webrtc_share(struct webrtc *webrtc,
                  void (*take)(void *context, const struct udp_path *path, const uint8_t *data,
                               size_t size),
                  void *context)
{
    webrtc->take_other = take;
    webrtc->other = context;
}

void webrtc_send(struct webrtc *webrtc, const struct udp_path *path, const uint8_t *data,
                 size_t size)
{
    rtc_socket_send(webrtc->socket, path, data, size);
}

uint16_t webrtc_port(const struct webrtc *webrtc)
{
    return webrtc->port;
}

int webrtc_socket(const struct webrtc *webrtc)
{
    return webrtc ? rtc_socket_descriptor(webrtc->socket) : -1;
}

void webrtc_leave(struct webrtc *webrtc)
{
    if (webrtc)
        rtc_socket_leave(webrtc->socket);
}

void webrtc_count_overflow(struct webrtc *webrtc)
{
    if (webrtc)
        webrtc->stats->rtc_packets_overflow += rtc_socket_overflow(webrtc->socket);
}

/* Logs the commonest fault of a new installation, which would otherwise show on neither side. */
static void report_unreached(struct webrtc *webrtc, double now)
{
    unsigned suppressed;
    if (log_limit_pass(&webrtc->limit, now, &suppressed))
        log_warn("webrtc: no packet came after an offer: can browsers reach UDP port %u, and is "
                 "--rtc-advertise right?%s",
                 webrtc->port, log_suppressed(suppressed).text);
}

static void on_timer(void *context)
{
    struct webrtc *webrtc = context;
    const double now = loop_now();
    struct deadline *first;
    webrtc->timer_at = INFINITY;
    while ((first = deadlines_first(&webrtc->deadlines)) && first->time <= now) {
        struct rtc_link *link = lws_container_of(first, struct rtc_link, deadline);
        const bool offered = peer_state(link->peer) == PEER_OFFERED;
        const bool half_open = half_open_has(&link->half_open);
        peer_update(link->peer, now);
        webrtc_follow(link);
        if (half_open && link->ended)
            webrtc->stats->rtc_offers_expired++;
        if (offered && link->ended)
            report_unreached(webrtc, now);
        /* The link does not get another turn in this round, whatever deadline its peer gives. */
        if (!link->ended && link->deadline.time <= now)
            deadlines_set(&webrtc->deadlines, &link->deadline, now + 0.001);
    }
    if (first && first->time < webrtc->timer_at) {
        webrtc->timer_at = first->time;
        loop_timer_start(webrtc->loop, &webrtc->timer, first->time - now);
    }
}

static void on_peer_send(void *context, const struct udp_path *path, const uint8_t *data,
                         size_t size)
{
    struct webrtc *webrtc = context;
    rtc_socket_send(webrtc->socket, path, data, size);
}

static bool rtc_link_ready(const struct session_link *base)
{
    return peer_is_proven(lws_container_of(base, const struct rtc_link, base)->peer);
}

static double rtc_link_rtt(const struct session_link *base)
{
    return peer_rtt(lws_container_of(base, const struct rtc_link, base)->peer);
}

static void count_sent(struct rtc_link *link, enum peer_send result)
{
    struct stats *stats = link->webrtc->stats;
    switch (result) {
    case PEER_SENT:
        policing_sent(&link->policing);
        stats->delivered_datagrams++;
        stats->delivered_writes++;
        break;
    case PEER_OVER_RATE:
        STATS_DROPPED(stats, &link->base.drops, rate, 1);
        break;
    case PEER_CONGESTED:
        STATS_DROPPED(stats, &link->base.drops, congested, 1);
        break;
    case PEER_UNPROVEN:
        STATS_DROPPED(stats, &link->base.drops, unproven, 1);
        break;
    case PEER_TOO_LONG:
        STATS_DROPPED(stats, &link->base.drops, oversize, 1);
        break;
    case PEER_NOT_OPEN:
        STATS_DROPPED(stats, &link->base.drops, closing, 1);
        break;
    }
}

static void rtc_link_send_batch(struct session_link *base, const struct datagram *datagrams,
                                size_t count)
{
    struct rtc_link *link = rtc_link_of(base);
    const double now = loop_now();
    for (size_t i = 0; i < count; i++)
        count_sent(link, peer_send(link->peer, datagrams[i].data, datagrams[i].size, now));
    webrtc_follow(link);
}

static void rtc_link_close(struct session_link *base, const struct session_farewell *farewell,
                           bool at_once)
{
    (void)at_once; /* every link goes at once here */
    struct rtc_link *link = rtc_link_of(base);
    dismiss(link, farewell);
    webrtc_follow(link);
}

static const struct transport webrtc_transport = {
    .name = "webrtc",
    .ready = rtc_link_ready,
    .send_batch = rtc_link_send_batch,
    .close = rtc_link_close,
    .rtt = rtc_link_rtt,
};

/* Passes on the datagrams that the peer of a link has taken. */
static void work_off(struct rtc_link *link)
{
    struct webrtc *webrtc = link->webrtc;
    const double now = loop_now();
    struct peer_datagram datagram;
    /* This is called once for a handshake, not for each of its datagrams, since it looks at all
       links that are half open. */
    if (peer_shakes_hands(link->peer) &&
        half_open_shake_hands(webrtc->half_open, &link->half_open, now))
        webrtc_make_room(webrtc);
    while (!link->ended && peer_next(link->peer, &datagram, now)) {
        if (!link->opened)
            webrtc_follow(link);
        struct session *session = link->base.session;
        if (!session) {
            if (!datagram.text)
                sessions_discard(webrtc->sessions, datagram.size);
            break;
        }
        if (datagram.text)
            session_end(session, SESSION_END_TEXT);
        else
            session_receive(session, datagram.data, datagram.size);
    }
    webrtc_follow(link);
}

static double handshakes_wait(struct webrtc *webrtc)
{
    return handshake_budget_wait(webrtc->config.handshakes, HANDSHAKE_DTLS, loop_now());
}

/* Returns whether a packet of a link may be worked on, and counts it if not. */
static bool may_take(struct rtc_link *link, enum policed kind)
{
    struct webrtc *webrtc = link->webrtc;
    if (policing_take(&link->policing, kind, webrtc->config.limits.packets_per_second, loop_now()))
        return true;
    webrtc->stats->rtc_packets_policed++;
    return false;
}

static void take_check(struct webrtc *webrtc, const struct udp_path *path, const uint8_t *data,
                       size_t size)
{
    struct stun_request request;
    struct rtc_link *link = NULL;
    if (stun_parse(&request, data, size)) {
        link =
            webrtc_link_of(rtc_table_named(webrtc->table, request.username, request.username_size));
        if (!link)
            link = webrtc_claim(webrtc, &request, data);
    }
    if (link && peer_is_named(link->peer, &request) && !may_take(link, POLICED_CHECK))
        return;
    if (link && request.dtls && !peer_is_secured(link->peer) && handshakes_wait(webrtc) > 0.0) {
        request.dtls = NULL; /* The browser sends it with the next check too. */
        webrtc->stats->rtc_handshakes_dropped++;
    }
    const bool shakes_hands = link && request.dtls && !peer_is_secured(link->peer);
    const double began = shakes_hands ? handshake_clock() : 0.0;
    if (link && !link->ended && peer_check(link->peer, &request, data, size, path, loop_now())) {
        list(link);
        work_off(link);
    } else {
        webrtc->stats->rtc_packets_ignored++;
    }
    if (shakes_hands)
        handshake_budget_spend(webrtc->config.handshakes, handshake_clock() - began);
}

static bool give_dtls(struct rtc_link *link, const struct udp_path *path, const uint8_t *data,
                      size_t size)
{
    if (link->ended || !peer_receive(link->peer, path, data, size, loop_now()))
        return false;
    work_off(link);
    return peer_took(link->peer);
}

/* Gives a link a datagram of its handshake, and counts the processor time that this takes. */
static bool shake_hands(struct rtc_link *link, const struct udp_path *path, const uint8_t *data,
                        size_t size)
{
    const double began = handshake_clock();
    const bool taken = give_dtls(link, path, data, size);
    handshake_budget_spend(link->webrtc->config.handshakes, handshake_clock() - began);
    return taken;
}

/* Takes one datagram that waits in each turn of the loop, so that everything else is served in
   between. */
static void on_held_timer(void *context)
{
    struct webrtc *webrtc = context;
    if (handshakes_wait(webrtc) <= 0.0) {
        struct deferred_datagram *first = deferred_take(&webrtc->deferred);
        if (first && !shake_hands(first->owner, &first->path, first->data, first->size))
            webrtc->stats->rtc_packets_ignored++;
        free(first);
    }
    if (webrtc->deferred.first)
        loop_timer_start(webrtc->loop, &webrtc->held_timer, handshakes_wait(webrtc));
}

/* Makes a datagram of a handshake wait. One for which there is no room is lost; the browser repeats
   it. */
static void hold(struct rtc_link *link, const struct udp_path *path, const uint8_t *data,
                 size_t size)
{
    struct webrtc *webrtc = link->webrtc;
    const bool first = !webrtc->deferred.first;
    if (!deferred_add(&webrtc->deferred, link, path, data, size))
        webrtc->stats->rtc_handshakes_dropped++;
    else
        webrtc->stats->rtc_handshakes_waited++;
    if (first && webrtc->deferred.first)
        loop_timer_start(webrtc->loop, &webrtc->held_timer, handshakes_wait(webrtc));
}

/* Gives a link a DTLS datagram. Returns false when the link has nothing to do with it. */
static bool take_dtls(struct rtc_link *link, const struct udp_path *path, const uint8_t *data,
                      size_t size)
{
    if (peer_is_secured(link->peer))
        return give_dtls(link, path, data, size);
    if (link->ended)
        return false;
    if (!link->webrtc->deferred.first && handshakes_wait(link->webrtc) <= 0.0)
        return shake_hands(link, path, data, size);
    hold(link, path, data, size);
    return true;
}

/* Finds the browser that a NAT has given another port, of which the browser tells nothing before
   its next check, seconds later. Its datagrams are recognised by being decrypted. A datagram may be
   from many browsers: each datagram is given to a few of them, and the next one to the next few. */
static bool take_moved(struct webrtc *webrtc, const struct udp_path *path, const uint8_t *data,
                       size_t size)
{
    struct rtc_link *links[MOVED_SEARCHED];
    size_t count = 0;
    uint64_t number;
    if (!dtls_number(data, size, &number))
        return false;
    const struct rtc_listing *near = rtc_table_near(webrtc->table, NULL, &path->remote);
    for (int i = 0; near && i < MOVED_SEARCHED; i++) {
        struct rtc_link *link = webrtc_link_of(near->entry);
        if (udp_address_same(&near->address, &peer_path(link->peer)->remote) &&
            peer_misses(link->peer, number, loop_now()))
            links[count++] = link;
        near = rtc_table_near(webrtc->table, near, &path->remote);
    }
    for (size_t i = 0; i < count && i < MOVED_TRIED; i++) {
        struct rtc_link *link = links[(number * MOVED_TRIED + i) % count];
        if (take_dtls(link, path, data, size)) {
            if (!link->ended)
                list(link);
            return true;
        }
    }
    return false;
}

static void on_datagram(void *context, const struct udp_path *path, const uint8_t *data,
                        size_t size)
{
    struct webrtc *webrtc = context;
    if (stun_is(data, size)) {
        take_check(webrtc, path, data, size);
        return;
    }
    if (webrtc->take_other && size > 0 && !dtls_is(data, size)) {
        webrtc->take_other(webrtc->other, path, data, size);
        return;
    }
    bool taken = false;
    if (dtls_is(data, size)) {
        struct rtc_link *link = webrtc_link_of(rtc_table_from(webrtc->table, &path->remote));
        if (link &&
            !may_take(link, peer_expects(link->peer, data, size) ? POLICED_DATA : POLICED_OTHER))
            return;
        taken = link ? take_dtls(link, path, data, size) : take_moved(webrtc, path, data, size);
    }
    if (!taken)
        webrtc->stats->rtc_packets_ignored++;
}

static bool make_tables(struct webrtc *webrtc)
{
    /* Links that have ended, but are not freed yet, have places too. */
    const size_t most = (size_t)webrtc->config.capacity + 2 * HALF_OPEN_MAX;
    webrtc->table = rtc_table_create(most);
    const struct webrtc_limits *limits = &webrtc->config.limits;
    webrtc->offers = offer_limit_create(limits->max_sessions, limits->max_per_address);
    webrtc->half_open = half_open_create(limits->max_per_address);
    return webrtc->table && webrtc->offers && webrtc->half_open &&
           deadlines_reserve(&webrtc->deadlines, most);
}

struct dtls_identity *webrtc_load_identity(const char *certificate, const char *key)
{
    char error[256];
    struct dtls_identity *identity = dtls_identity_load(certificate, key, error);
    if (!identity)
        log_error("no certificate for WebRTC: %s", error);
    return identity;
}

struct webrtc *webrtc_create(const struct webrtc_config *config, struct dtls_identity *identity,
                             struct loop *loop, struct sessions *sessions, struct http *http,
                             struct stats *stats)
{
    char text[SOCKET_ADDRESS_TEXT];
    struct webrtc *webrtc = calloc(1, sizeof *webrtc);
    if (!webrtc) {
        log_error("no memory");
        return NULL;
    }
    webrtc->config = *config;
    webrtc->loop = loop;
    webrtc->sessions = sessions;
    webrtc->stats = stats;
    webrtc->common = (struct peer_common){.identity = identity,
                                          .bytes_per_second = config->limits.bytes_per_second,
                                          .send = on_peer_send,
                                          .context = webrtc};
    webrtc->timer.expired = on_timer;
    webrtc->timer.context = webrtc;
    webrtc->timer_at = INFINITY;
    webrtc->held_timer.expired = on_held_timer;
    webrtc->held_timer.context = webrtc;
    if (!make_tables(webrtc)) {
        log_error("no memory");
        webrtc_destroy(webrtc);
        return NULL;
    }
    webrtc->socket =
        rtc_socket_create(&config->local, config->inherited, loop, on_datagram, webrtc);
    if (!webrtc->socket) {
        socket_address_format(&config->local, text);
        log_error("cannot open the UDP port %s: %s", text, strerror(errno));
        webrtc_destroy(webrtc);
        return NULL;
    }
    struct socket_address local;
    struct udp_address address;
    rtc_socket_local(webrtc->socket, &local);
    rtc_socket_address(&local, &address);
    webrtc->port = address.port;
    socket_address_format(&local, text);
    log_info("webrtc on udp %s", text);
    rtc_socket_report(webrtc->socket);
    webrtc_add_routes(webrtc, http);
    return webrtc;
}

void webrtc_set_limits(struct webrtc *webrtc, const struct webrtc_limits *limits)
{
    if (!webrtc)
        return;
    offer_limit_set(webrtc->offers, limits->max_sessions, limits->max_per_address);
    half_open_set(webrtc->half_open, limits->max_per_address);
    webrtc->common.bytes_per_second = limits->bytes_per_second;
    webrtc->config.limits = *limits;
}

void webrtc_destroy(struct webrtc *webrtc)
{
    if (!webrtc)
        return;
    loop_timer_stop(&webrtc->timer);
    loop_timer_stop(&webrtc->held_timer);
    deferred_forget(&webrtc->deferred, NULL);
    for (size_t i = 0; webrtc->table && rtc_table_count(webrtc->table) > 0; i++) {
        struct rtc_link *link = webrtc_link_of(rtc_table_at(webrtc->table, i));
        if (link) {
            peer_end(link->peer, "the relay has stopped", loop_now());
            rtc_link_destroy(link);
        }
    }
    rtc_socket_destroy(webrtc->socket);
    half_open_destroy(webrtc->half_open);
    offer_limit_destroy(webrtc->offers);
    deadlines_free(&webrtc->deadlines);
    dtls_identity_destroy(webrtc->common.identity);
    rtc_table_destroy(webrtc->table);
    free(webrtc);
}
