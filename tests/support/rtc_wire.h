/* A peer and a client that has a browser's side of everything, with a wire between them that takes
   no time. OpenSSL repeats handshakes by the clock of this header too. */
#ifndef CAUSEWAY_TESTS_RTC_WIRE_H
#define CAUSEWAY_TESTS_RTC_WIRE_H

#include "fixture.h"

#include "relay/rtc/peer.h"
#include "rtc_client.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define UFRAG    "relay/ufrag/of/24letters"
#define PASSWORD "relaypassword/0123456789"

static struct dtls_identity *relay_identity;
static struct rtc_identity client_identity;
static double now; /* the time of the test, in seconds */

/* Takes the place of the system's function. */
int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    time->tv_sec = (time_t)now;
    time->tv_usec = (suseconds_t)((now - (double)time->tv_sec) * 1e6);
    return 0;
}

#define FIRST_PORT 40000
#define PORTS      32

/* A wire with both ends; datagrams wait in it until they are carried. */
struct wire {
    struct peer_common common;
    struct peer *peer;
    struct rtc_client client;
    struct udp_path path; /* the path from the client */
    bool hears_all;       /* it receives on its other ports too */
    unsigned lose;        /* the number of next datagrams to the client to lose */
    unsigned first;       /* the index of the one that waits longest */
    unsigned count;
    struct {
        bool to_peer;
        struct udp_path path; /* its path, when it goes to the peer */
        size_t size;
        uint8_t data[2048];
    } waiting[64];
    unsigned from_relay;
    size_t came[PORTS]; /* bytes from each of the client's ports */
    size_t went[PORTS]; /* bytes to each of them */
    unsigned datagrams; /* datagrams that the peer handed on */
    bool last_text;
    size_t last_size;
    uint8_t last[2048];
    unsigned messages; /* messages that the client got */
    size_t message_size;
    uint8_t message[2048];
};

static inline void put(struct wire *wire, bool to_peer, const uint8_t *data, size_t size)
{
    assert_true(wire->count < 64 && size <= 2048);
    wire->waiting[wire->count].to_peer = to_peer;
    wire->waiting[wire->count].path = wire->path;
    wire->waiting[wire->count].size = size;
    memcpy(wire->waiting[wire->count++].data, data, size);
}

static inline void on_relay_send(void *context, const struct udp_path *path, const uint8_t *data,
                                 size_t size)
{
    struct wire *wire = context;
    wire->from_relay++;
    wire->went[path->remote.port - FIRST_PORT] += size;
    /* The longest UDP payload: 1,276 bytes with the headers of IPv6. */
    assert_true(size <= 1228);
    if (!wire->hears_all && !udp_address_same(&path->remote, &wire->path.remote))
        return;
    if (wire->lose > 0)
        wire->lose--;
    else
        put(wire, false, data, size);
}

static inline void on_client_send(void *context, const uint8_t *data, size_t size)
{
    put(context, true, data, size);
}

static inline void on_client_message(void *context, const uint8_t *data, size_t size)
{
    struct wire *wire = context;
    wire->messages++;
    wire->message_size = size;
    memcpy(wire->message, data, size);
}

static inline void drain_peer(struct wire *wire)
{
    struct peer_datagram datagram;
    while (peer_next(wire->peer, &datagram, now)) {
        wire->datagrams++;
        wire->last_text = datagram.text;
        wire->last_size = datagram.size;
        memcpy(wire->last, datagram.data, datagram.size);
    }
}

static inline bool is_known(const struct wire *wire, const struct udp_path *path)
{
    for (size_t i = 0; i < PATHS_MAX; i++) {
        const struct udp_path *known = peer_path_at(wire->peer, i);
        if (known && udp_address_same(&known->remote, &path->remote))
            return true;
    }
    return false;
}

/* Gives the peer a datagram that comes, or seems to come, on a path. Returns false when the peer
   does not take it. */
static inline bool give_peer(struct wire *wire, const struct udp_path *path, const uint8_t *data,
                             size_t size)
{
    struct stun_request request;
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, data, size);
    wire->came[path->remote.port - FIRST_PORT] += size;
    bool taken;
    if (stun_is(data, size)) {
        taken = stun_parse(&request, exact, size) &&
                peer_check(wire->peer, &request, exact, size, path, now);
        if (taken)
            drain_peer(wire);
    } else {
        uint64_t number;
        taken = (is_known(wire, path) ||
                 (dtls_number(exact, size, &number) && peer_misses(wire->peer, number, now))) &&
                peer_receive(wire->peer, path, exact, size, now);
        if (taken)
            drain_peer(wire);
        taken = taken && peer_took(wire->peer);
    }
    free(exact);
    return taken;
}

/* Carries the datagram that waits longest; returns false when none waits. */
static inline bool carry_one(struct wire *wire)
{
    if (wire->first == wire->count) {
        wire->first = wire->count = 0;
        return false;
    }
    const unsigned i = wire->first++;
    if (wire->waiting[i].to_peer)
        give_peer(wire, &wire->waiting[i].path, wire->waiting[i].data, wire->waiting[i].size);
    else
        rtc_client_receive(&wire->client, wire->waiting[i].data, wire->waiting[i].size);
    return true;
}

static inline void carry(struct wire *wire)
{
    while (carry_one(wire)) {
    }
}

/* Has the client send a check, and carries that and what it leads to. */
static inline void check(struct wire *wire)
{
    rtc_client_check(&wire->client);
    carry(wire);
}

static inline void acknowledge(struct wire *wire)
{
    rtc_client_acknowledge(&wire->client);
    carry(wire);
}

static inline void set_port(struct udp_path *path, uint16_t port)
{
    *path = (struct udp_path){
        .remote = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1}, port}};
}

/* Lets time pass, and the peer do what is due then. */
static inline void pass_time(struct wire *wire, double seconds)
{
    now += seconds;
    if (now >= peer_deadline(wire->peer))
        peer_update(wire->peer, now);
}

static inline void wire_close(void *object)
{
    struct wire *wire = object;
    peer_destroy(wire->peer);
    rtc_client_destroy(&wire->client);
    free(wire);
}

/* The test owns the wire. */
static inline struct wire *wire_open(void)
{
    struct wire *wire = calloc(1, sizeof *wire);
    assert_non_null(wire);
    own(wire, wire_close);
    now = 1000.0;
    wire->common =
        (struct peer_common){.identity = relay_identity, .send = on_relay_send, .context = wire};
    wire->client = (struct rtc_client){
        .identity = &client_identity,
        .username = UFRAG ":brow",
        .password = PASSWORD,
        .kind = 0x81,
        .send = on_client_send,
        .message = on_client_message,
        .context = wire,
    };
    set_port(&wire->path, FIRST_PORT);
    rtc_client_open(&wire->client);
    char text[1024];
    struct sdp_offer offer;
    const size_t size = rtc_client_offer(&wire->client, "brow", text, sizeof text);
    assert_int_equal(sdp_read_offer(&offer, text, size), SDP_OK);
    wire->peer = peer_create(&wire->common, &offer, UFRAG, PASSWORD, now);
    assert_non_null(wire->peer);
    return wire;
}

static inline struct wire *wire_connect(void)
{
    struct wire *wire = wire_open();
    check(wire);
    assert_true(wire->client.open);
    assert_int_equal(peer_state(wire->peer), PEER_OPEN);
    return wire;
}

static inline int wire_set_up(void **state)
{
    (void)state;
    relay_identity = dtls_identity_create();
    rtc_identity_create(&client_identity);
    return relay_identity ? 0 : -1;
}

static inline int wire_tear_down(void **state)
{
    (void)state;
    dtls_identity_destroy(relay_identity);
    rtc_identity_destroy(&client_identity);
    return 0;
}

#endif
