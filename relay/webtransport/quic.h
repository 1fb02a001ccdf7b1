/* The server's side of QUIC (ngtcp2, with GnuTLS for its TLS). The caller hands in packets that
   have come, and is told what they bring; packets to send leave through a callback. Nothing else of
   the relay knows ngtcp2. */
#ifndef CAUSEWAY_RELAY_QUIC_H
#define CAUSEWAY_RELAY_QUIC_H

#include "rtc/udp_address.h"
#include "webtransport/certificate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest packet that is sent. Every path of QUIC carries it (RFC 9000, section 14),
   and it has room for a datagram of ours, so no longer one is searched for. */
#define QUIC_PACKET_MAX 1200

/* Bytes of the secret from which tokens are made. */
#define QUIC_SECRET_SIZE 32

/* Seconds without a packet after which a connection ends. A browser that was killed says nothing.
 */
#define QUIC_IDLE_SECONDS 30
/* Seconds after which the relay asks for a sign of life: well before the browser, too, has seen
   nothing for as long. */
#define QUIC_KEEP_ALIVE_SECONDS 10
/* Seconds that a handshake may take. */
#define QUIC_HANDSHAKE_SECONDS 10

struct quic;
struct quic_server;

/* The functions by which a connection tells its owner what has come, and sends. None of them may
   call a function of the connection that sends. */
struct quic_events {
    /* Sends a packet. */
    void (*send)(void *context, const struct udp_path *path, const uint8_t *data, size_t size);
    /* Takes data of a stream that the client has opened, in order; `end` when it sends no more. */
    void (*stream)(void *owner, int64_t stream, const uint8_t *data, size_t size, bool end);
    /* Takes a datagram. */
    void (*datagram)(void *owner, const uint8_t *data, size_t size);
    void *context; /* for send */
};

struct quic_server_config {
    struct quic_events events;
    struct certificates *certificates; /* must outlive the server */
    uint8_t secret[QUIC_SECRET_SIZE];  /* the same in all processes that take over one another */
    /* the first bytes of a stream that each connection opens */
    const uint8_t *greeting;
    size_t greeting_size;
    size_t most; /* about how many connections there are at most */
};

/* Creates what all connections share. Returns NULL when there is no memory. */
struct quic_server *quic_server_create(const struct quic_server_config *config);

/* Frees it. There may be no connections. NULL is allowed. */
void quic_server_destroy(struct quic_server *server);

/* Returns true when a datagram may be of QUIC and of nothing else on the port (RFC 9443). */
static inline bool quic_is(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] >= 64;
}

/* The kinds of packets. */
enum quic_packet {
    QUIC_KNOWN,   /* it is for the connection of `owner` */
    QUIC_NEW,     /* it begins a connection */
    QUIC_NOTHING, /* it is for nobody; the sender may have been told */
};

struct quic_route {
    enum quic_packet kind;
    void *owner; /* NULL unless the packet is for a connection */
};

/* Tells what a packet is. A new one counts only with proof that its sender is where it says when
   `proof` is wanted; one without is answered with the means to prove it. An address that has proven
   nothing gets at most three times what came from it. */
struct quic_route quic_route(struct quic_server *server, const struct udp_path *path,
                             const uint8_t *data, size_t size, bool proof, double now);

/* Begins a connection with its first packet, which must be given to quic_receive then. Returns NULL
   when there is no memory, or it begins none. */
struct quic *quic_create(struct quic_server *server, void *owner, const struct udp_path *path,
                         const uint8_t *data, size_t size, double now);

/* Frees a connection without a word. */
void quic_destroy(struct quic *quic);

/* Takes a packet. Returns false when the connection has ended. */
bool quic_receive(struct quic *quic, const struct udp_path *path, const uint8_t *data, size_t size,
                  double now);

/* Sends what is to be sent now. Returns false when the connection has ended. */
bool quic_flush(struct quic *quic, double now);

/* Returns when quic_update must be called (seconds); INFINITY when never. */
double quic_deadline(const struct quic *quic);

/* Lets time pass. Returns false when the connection has ended. */
bool quic_update(struct quic *quic, double now);

/* Appends to what is sent on a stream of the client, of which there can be one: QUIC_REPLY_MAX
   bytes altogether. `end` when nothing follows. quic_flush sends it. Returns false when it is full.
 */
#define QUIC_REPLY_MAX 256
bool quic_reply(struct quic *quic, int64_t stream, const uint8_t *data, size_t size, bool end);

/* Refuses a stream of the client. */
void quic_refuse_stream(struct quic *quic, int64_t stream, uint64_t error);

/* Ends the connection with an error of the application, which may be none. Nothing is sent or taken
   afterwards. */
void quic_close(struct quic *quic, uint64_t error, double now);

enum quic_sent { QUIC_SENT, QUIC_CONGESTED, QUIC_TOO_LONG, QUIC_ENDED };

/* Sends a datagram at once, or not at all; `prefix` stands before its data. */
enum quic_sent quic_send_datagram(struct quic *quic, const uint8_t *prefix, size_t prefix_size,
                                  const uint8_t *data, size_t size, double now);

/* Returns whether the handshake is done, and so the client has proven where it is. */
bool quic_is_up(const struct quic *quic);

/* Returns the client's address, which may change, as the path to it. */
void quic_path(const struct quic *quic, struct udp_path *out);

/* Returns the seconds of a round trip; NAN when they are not known. */
double quic_rtt(const struct quic *quic);

#endif
