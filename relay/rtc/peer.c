#include "rtc/peer_internal.h"

#include "rtc/dcep.h"

#include <math.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After this many seconds of silence from an address, another browser may have it. */
#define AWAY_SECONDS 5.0
/* After this many seconds of silence, a NAT may have given the browser another address. Its next
   check, which would show it, may come only 2.6 s (Chromium) or 6 s (Firefox) later. */
#define SILENT_SECONDS 0.1
/* The most datagrams of the browser that may have been lost since it fell silent. */
#define NUMBERS_AHEAD 512
/* The distance that a datagram's number may be behind the highest: OpenSSL takes no older
   datagrams. */
#define NUMBERS_BEHIND 64
/* While a handshake is held back, DTLS is asked only after this many seconds, because it has
   nothing to repeat yet. */
#define DEFERRED_BACK_SECONDS 1.0
/* UDP, DTLS and SCTP add this many bytes to a datagram, which count in its rate. */
#define OVERHEAD (28 + DTLS_OVERHEAD + 28)
/* The datagrams of this many seconds may go out at once, and at least this many bytes, so that some
   whole datagrams always may. */
#define BURST_SECONDS 0.5
#define BURST_LEAST   8192.0
#define FAREWELL_MAX  96

/* Sends a datagram on a path, as far as the path allows. Everything that goes to a browser goes
   through here. */
static bool send_on(struct peer *peer, struct path *path, const uint8_t *data, size_t size)
{
    const bool allowed = paths_spend(path, size);
    if (allowed)
        peer->common->send(peer->common->context, &path->ends, data, size);
    return allowed;
}

static void send_flight(struct peer *peer)
{
    const uint8_t *data;
    size_t size;
    while ((data = flight_first(&peer->flight, &size)) &&
           send_on(peer, peer->paths.current, data, size))
        flight_remove_first(&peer->flight);
}

/* Sends a datagram of DTLS. One of a handshake waits until the path allows it; all others are
   repeated anyway. */
static void on_dtls_send(void *context, const uint8_t *data, size_t size)
{
    struct peer *peer = context;
    const bool waits = dtls_state(peer->dtls) == DTLS_HANDSHAKE;
    if (waits && peer->flight.size > 0)
        flight_add(&peer->flight, data, size);
    else if (!send_on(peer, peer->to ? peer->to : peer->paths.current, data, size) && waits)
        flight_add(&peer->flight, data, size);
}

struct peer *peer_create(struct peer_common *common, const struct sdp_offer *offer,
                         const char *ufrag, const char *password, double now)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->common = common;
    strncpy(peer->ufrag, ufrag, sizeof peer->ufrag - 1);
    strncpy(peer->password, password, sizeof peer->password - 1);
    memcpy(peer->remote_ufrag, offer->ufrag, sizeof peer->remote_ufrag);
    memcpy(peer->fingerprint, offer->fingerprint, sizeof peer->fingerprint);
    peer->remote_sctp_port = offer->sctp_port;
    peer->remote_init = offer->sctp_init;
    paths_init(&peer->paths);
    peer->expires = now + PEER_CHECK_SECONDS;
    peer->consented = now;
    peer->dtls_at = INFINITY;
    peer->channel = PEER_NO_CHANNEL;
    peer->reason = "";
    return peer;
}

void peer_destroy(struct peer *peer)
{
    if (!peer)
        return;
    sctp_destroy(peer->sctp);
    dtls_destroy(peer->dtls);
    flight_clear(&peer->flight);
    free(peer);
}

enum peer_state peer_state(const struct peer *peer)
{
    return peer->state;
}

const struct udp_path *peer_path(const struct peer *peer)
{
    return &peer->paths.current->ends;
}

const struct udp_path *peer_path_at(const struct peer *peer, size_t index)
{
    const struct path *path = &peer->paths.at[index];
    return path->used ? &path->ends : NULL;
}

bool peer_took(const struct peer *peer)
{
    return peer->from != NULL;
}

bool peer_is_proven(const struct peer *peer)
{
    return peer->state == PEER_OPEN && peer->paths.current->proven;
}

bool peer_is_at(const struct peer *peer, const struct udp_address *address, double now)
{
    for (size_t i = 0; i < PATHS_MAX; i++) {
        const struct path *path = &peer->paths.at[i];
        if (path->proven && now - path->last_arrival < AWAY_SECONDS &&
            udp_address_same(&path->ends.remote, address))
            return true;
    }
    return false;
}

const char *peer_ufrag(const struct peer *peer)
{
    return peer->ufrag;
}

bool peer_shakes_hands(const struct peer *peer)
{
    return peer->dtls && dtls_has_begun(peer->dtls);
}

bool peer_is_secured(const struct peer *peer)
{
    return peer->sctp != NULL;
}

const char *peer_reason(const struct peer *peer)
{
    return peer->reason;
}

bool peer_left(const struct peer *peer)
{
    return peer->left;
}

static void has_ended(struct peer *peer, const char *reason)
{
    if (peer->state == PEER_ENDED)
        return;
    peer->state = PEER_ENDED;
    peer->reason = reason;
}

void peer_has_left(struct peer *peer, const char *reason)
{
    peer->left = peer->state != PEER_ENDED;
    has_ended(peer, reason);
}

void peer_flush(struct peer *peer, double now)
{
    uint8_t packet[SCTP_PACKET_MAX];
    size_t size;
    while ((size = sctp_transmit(peer->sctp, packet, sizeof packet, now)) > 0)
        if (!dtls_write(peer->dtls, packet, size)) {
            has_ended(peer, "DTLS failed");
            return;
        }
}

/* Asks the browser to prove that it is at the address from which checks came. */
static void probe(struct peer *peer, double now)
{
    uint8_t packet[SCTP_PACKET_MAX];
    struct path *path;
    if (!peer->sctp || !sctp_is_answered(peer->sctp) || peer->state == PEER_ENDED)
        return;
    while ((path = paths_probe(&peer->paths, now))) {
        peer->to = path;
        dtls_write(
            peer->dtls, packet,
            sctp_heartbeat(peer->sctp, path->nonce, sizeof path->nonce, packet, sizeof packet));
        peer->to = NULL;
    }
}

void peer_end(struct peer *peer, const char *reason, double now)
{
    if (peer->state == PEER_ENDED)
        return;
    if (peer->sctp) {
        sctp_abort(peer->sctp, reason);
        peer_flush(peer, now);
    }
    if (peer->dtls)
        dtls_close(peer->dtls);
    has_ended(peer, reason);
}

void peer_dismiss(struct peer *peer, unsigned code, const char *reason, double now)
{
    char text[FAREWELL_MAX];
    const int size = snprintf(text, sizeof text, "%u %s", code, reason);
    if (peer->state == PEER_OPEN && size > 0 && (size_t)size < sizeof text &&
        sctp_send(peer->sctp, (uint16_t)peer->channel, PPID_STRING, (const uint8_t *)text,
                  (size_t)size) == SCTP_SENT)
        peer_flush(peer, now);
    peer_end(peer, reason, now);
}

bool peer_is_named(const struct peer *peer, const struct stun_request *request)
{
    const size_t ours = strlen(peer->ufrag);
    const size_t theirs = strlen(peer->remote_ufrag);
    return request->username_size == ours + 1 + theirs &&
           memcmp(request->username, peer->ufrag, ours) == 0 && request->username[ours] == ':' &&
           memcmp(request->username + ours + 1, peer->remote_ufrag, theirs) == 0;
}

static void begin_sctp(struct peer *peer)
{
    struct sctp_config config = {.local_port = PEER_SCTP_PORT,
                                 .remote_port = peer->remote_sctp_port,
                                 .remote = peer->remote_init,
                                 .message = peer->common->message};
    const bool asks = config.remote.tag == 0;
    if (!asks || RAND_bytes(config.random, sizeof config.random) == 1)
        peer->sctp = sctp_create(&config);
    if (!peer->sctp)
        has_ended(peer, "no memory");
    else if (asks)
        sctp_connect(peer->sctp);
}

/* Acts on the state that DTLS has reached. */
static void follow_dtls(struct peer *peer, double now)
{
    const enum dtls_state state = dtls_state(peer->dtls);
    if (state == DTLS_CLOSED)
        peer_has_left(peer, "closed by the browser");
    else if (state == DTLS_FAILED)
        has_ended(peer, peer->sctp ? "DTLS failed" : "the DTLS handshake failed");
    else if (state == DTLS_CONNECTED && !peer->sctp)
        begin_sctp(peer);
    peer->dtls_at = now + dtls_timeout(peer->dtls);
}

/* Reads the records of a DTLS datagram. path is NULL while nothing else has come along it. */
static void read_dtls(struct peer *peer, struct path *path, const uint8_t *data, size_t size,
                      double now)
{
    const bool connected = peer->sctp != NULL;
    peer->from = path;
    if (!dtls_number(data, size, &peer->number))
        peer->number = 0;
    if (path) {
        paths_speak(&peer->paths, path);
        send_flight(peer);
    }
    dtls_receive(peer->dtls, data, size);
    if (!connected)
        follow_dtls(peer, now);
}

bool peer_check(struct peer *peer, const struct stun_request *request, const uint8_t *data,
                size_t size, const struct udp_path *ends, double now)
{
    if (peer->state == PEER_ENDED || !peer_is_named(peer, request) ||
        !stun_verify(request, data, peer->password))
        return false;

    uint8_t response[STUN_RESPONSE_MAX];
    bool accepted;
    const size_t length =
        stun_respond(response, sizeof response, request, &ends->remote, peer->password, &accepted);
    if (!accepted || length == 0) {
        if (length > 0)
            peer->common->send(peer->common->context, ends, response, length);
        return true;
    }
    peer->consented = now;
    struct path *path = paths_add(&peer->paths, ends, now);
    paths_hear(&peer->paths, path, false, now);
    paths_receive(path, size);
    peer->ends = *ends;
    peer->size = size;
    send_on(peer, path, response, length);
    if (peer->state == PEER_OFFERED) {
        /* DTLS is ready before a path is nominated: browsers begin with it after the first answer,
           and nominate later. */
        peer->dtls = dtls_create(peer->common->identity, peer->fingerprint, on_dtls_send, peer);
        peer->expires = now + PEER_SETUP_SECONDS;
        peer->state = PEER_CONNECTING;
        if (!peer->dtls)
            has_ended(peer, "no memory");
    }
    send_flight(peer);
    if (request->dtls && peer->dtls && !peer->sctp)
        read_dtls(peer, path, request->dtls, request->dtls_size, now);
    probe(peer, now);
    return true;
}

bool peer_receive(struct peer *peer, const struct udp_path *ends, const uint8_t *data, size_t size,
                  double now)
{
    struct path *path = paths_find(&peer->paths, ends);
    if (!peer->dtls || (!path && !peer->sctp) || peer->state == PEER_ENDED)
        return false;
    peer->ends = *ends;
    peer->size = size;
    if (path)
        paths_receive(path, size);
    read_dtls(peer, path, data, size, now);
    return true;
}

bool peer_expects(const struct peer *peer, const uint8_t *data, size_t size)
{
    uint64_t number;
    return dtls_number(data, size, &number) &&
           number + NUMBERS_BEHIND - peer->last_number <= NUMBERS_BEHIND + NUMBERS_AHEAD;
}

bool peer_misses(const struct peer *peer, uint64_t number, double now)
{
    return peer->sctp && peer->state != PEER_ENDED &&
           now - peer->paths.current->last_arrival > SILENT_SECONDS &&
           number - peer->last_number - 1 < NUMBERS_AHEAD;
}

/* Notes that the current datagram is authentic: the browser has sent it. */
static void hear(struct peer *peer, double now)
{
    if (!peer->from) {
        peer->from = paths_add(&peer->paths, &peer->ends, now);
        paths_receive(peer->from, peer->size);
    }
    if (peer->last_number < peer->number)
        peer->last_number = peer->number;
    paths_hear(&peer->paths, peer->from, true, now);
}

bool peer_next(struct peer *peer, struct peer_datagram *datagram, double now)
{
    struct sctp_event event;
    while (peer->state != PEER_ENDED && peer->sctp) {
        while (sctp_next(peer->sctp, &event, now)) {
            if (peer_take_event(peer, &event, datagram, now))
                return true;
            if (peer->state == PEER_ENDED)
                return false;
        }
        const size_t size =
            dtls_read(peer->dtls, peer->common->record, sizeof peer->common->record);
        if (size == 0) {
            if (dtls_state(peer->dtls) != DTLS_CONNECTED)
                follow_dtls(peer, now);
            else
                peer_flush(peer, now);
            probe(peer, now);
            return false;
        }
        hear(peer, now);
        sctp_receive(peer->sctp, peer->common->record, size, now);
    }
    return false;
}

/* Takes bytes from the rate's allowance. Returns true when this many may go out now. */
static bool take_allowed(struct peer *peer, double bytes, double now)
{
    const double rate = peer->common->bytes_per_second;
    if (rate <= 0.0)
        return true;
    const double most = fmax(rate * BURST_SECONDS, BURST_LEAST);
    if (bucket_fill(&peer->allowed, rate, most, now) < bytes)
        return false;
    peer->allowed.level -= bytes;
    return true;
}

enum peer_send peer_send(struct peer *peer, const uint8_t *data, size_t size, double now)
{
    if (peer->state != PEER_OPEN)
        return PEER_NOT_OPEN;
    /* A message that is split takes two packets. */
    if (!paths_allow(peer->paths.current, size + 2 * OVERHEAD))
        return PEER_UNPROVEN;
    if (!take_allowed(peer, (double)(size + OVERHEAD), now))
        return PEER_OVER_RATE;
    switch (sctp_send(peer->sctp, (uint16_t)peer->channel, PPID_BINARY, data, size)) {
    case SCTP_SENT:
        peer_flush(peer, now);
        return PEER_SENT;
    case SCTP_TOO_LONG:
        return PEER_TOO_LONG;
    case SCTP_WINDOW_FULL:
    case SCTP_BUSY:
        return PEER_CONGESTED;
    case SCTP_NOT_UP:
        break;
    }
    return PEER_NOT_OPEN;
}

double peer_deadline(const struct peer *peer)
{
    double deadline = fmin(peer->expires, peer->consented + PEER_CONSENT_SECONDS);
    deadline = fmin(deadline, peer->dtls_at);
    if (!peer->sctp || !sctp_is_established(peer->sctp))
        return deadline;
    return fmin(deadline, fmin(sctp_deadline(peer->sctp), peer->paths.deadline));
}

double peer_rtt(const struct peer *peer)
{
    struct sctp_stats stats = {.rtt = NAN};
    if (peer->sctp)
        sctp_stats(peer->sctp, &stats);
    return stats.rtt;
}

void peer_update(struct peer *peer, double now)
{
    if (peer->state == PEER_ENDED)
        return;
    if (now >= peer->expires) {
        peer_end(peer,
                 peer->state == PEER_OFFERED ? "no connectivity check came"
                 : peer->sctp                ? "no data channel was opened"
                                             : "the DTLS handshake was not finished",
                 now);
        return;
    }
    if (now >= peer->consented + PEER_CONSENT_SECONDS) {
        peer_end(peer, "the connectivity checks stopped", now);
        return;
    }
    if (now >= peer->paths.deadline)
        paths_update(&peer->paths, now);
    if (now >= peer->dtls_at && peer->flight.size > 0) {
        peer->dtls_at = now + DEFERRED_BACK_SECONDS; /* there is nothing to repeat yet */
    } else if (now >= peer->dtls_at) {
        dtls_update(peer->dtls);
        follow_dtls(peer, now);
    }
    if (peer->sctp && peer->state != PEER_ENDED) {
        sctp_update(peer->sctp, now);
        peer_flush(peer, now);
        probe(peer, now);
    }
}
