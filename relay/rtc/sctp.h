/* SCTP for datagrams (RFC 9260, RFC 3758 and RFC 6525, as far as WebRTC data channels use them):
   one association, opened by the other side or by both at once. Messages to the other side are
   unordered and never sent again. There are no sockets and no clock here: packets and the time come
   from the caller.

   Hand in a packet with sctp_receive() and call sctp_next() until it returns false. Then fetch the
   packets to send with sctp_transmit() until it returns 0. There is no send queue: a message goes
   out now or not at all. */
#ifndef CAUSEWAY_RELAY_RTC_SCTP_H
#define CAUSEWAY_RELAY_RTC_SCTP_H

#include "session/datagram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest packet that is sent. With DTLS, UDP and IPv6 around it, it has 1,276 bytes,
   which fit even through tunnels of 1,280. */
#define SCTP_PACKET_MAX 1191
/* Bytes of the longest message that goes out in one packet. */
#define SCTP_UNSPLIT_MAX (SCTP_PACKET_MAX - 12 - 16 - 3)
/* Bytes of the longest message in either direction. */
#define SCTP_MESSAGE_MAX SESSION_DATAGRAM_MAX
/* Limits of messages that are sent reliably: the bytes of the longest, and the most at once. */
#define SCTP_RELIABLE_BYTES 8
#define SCTP_RELIABLE_MAX   4

/* This is what an INIT says. */
struct sctp_init {
    uint32_t tag; /* 0 = there is no INIT */
    uint32_t tsn;
    uint32_t window;
    uint16_t streams; /* the number of our streams that its sender takes */
};

/* Bytes of the INIT that sctp_write_init writes. */
#define SCTP_OWN_INIT_SIZE 32

struct sctp_config {
    uint16_t local_port;
    uint16_t remote_port;
    /* The other side's INIT, when it came with the signalling, and sctp_write_init's went back: the
       association is established from the start (SNAP, draft-hancke-tsvwg-snap). */
    struct sctp_init remote;
    uint8_t random[24]; /* fresh random bytes; zeros where the association is established so */
    /* room for SCTP_MESSAGE_MAX bytes, where messages that came in parts are put together: scratch,
       which associations may share */
    uint8_t *message;
};

enum sctp_event_type {
    SCTP_ESTABLISHED, /* the association is established */
    SCTP_MESSAGE,     /* a whole message */
    SCTP_RESET,       /* the other side closed streams */
    SCTP_HEARTBEAT,   /* the other side returned what a heartbeat carried: data, size */
    SCTP_ENDED,       /* the association has ended; reason says how */
};

struct sctp_event {
    enum sctp_event_type type;
    /* a message or a heartbeat; data is valid until the next call of any that shares the message of
       sctp_config */
    const uint8_t *data;
    size_t size;
    uint32_t ppid;
    uint16_t stream;
    bool unordered;
    uint16_t order; /* its number among the ordered messages of its stream */
    /* the streams of a reset, two bytes each, big-endian; none means all */
    const uint8_t *streams;
    size_t stream_count;
    /* the reason of an end: static text */
    const char *reason;
};

enum sctp_send {
    SCTP_SENT,
    SCTP_NOT_UP,
    SCTP_TOO_LONG,
    SCTP_WINDOW_FULL, /* the other side has too much to acknowledge, or has no room */
    SCTP_BUSY,        /* the last message has not been fetched, or too many reliable ones wait */
};

struct sctp_stats {
    uint64_t packets_refused; /* checksum, tag, ports or form are wrong */
    uint64_t duplicates;      /* DATA that had arrived before, or was beyond the window */
    uint64_t fragments_dropped;
    uint64_t messages_too_long;
    uint64_t chunks_abandoned; /* our chunks that the other side did not acknowledge in time */
    uint64_t forwards_sent;
    /* seconds, smoothed, with the time that the other side waits to acknowledge; NAN at first */
    double rtt;
};

struct sctp;

/* Reads an INIT chunk, which may be anything. Returns false, and writes nothing, when no
   association can be made of it. */
bool sctp_read_init(struct sctp_init *init, const uint8_t *chunk, size_t size);

/* Writes our INIT chunk for the signalling. It is always the same, so that a page can write it too:
   DTLS protects an association, whose tag and first TSN need not be secret. */
void sctp_write_init(uint8_t out[SCTP_OWN_INIT_SIZE]);

/* Creates an association. Returns NULL when there is no memory. */
struct sctp *sctp_create(const struct sctp_config *config);
void sctp_destroy(struct sctp *sctp);

/* Asks for the association without waiting for the other side, which saves a round trip. Call it
   first. The request is sent once: the other side asks too, and repeats its request. */
void sctp_connect(struct sctp *sctp);

/* Takes a packet, which must stay in place until sctp_next() has returned false. */
void sctp_receive(struct sctp *sctp, const uint8_t *packet, size_t size, double now);

/* Goes on until something has happened that concerns the caller. Returns false when the packet is
   done. */
bool sctp_next(struct sctp *sctp, struct sctp_event *event, double now);

/* Sends an unordered message of 1 to SCTP_MESSAGE_MAX bytes, once. It is not copied: data must stay
   in place until sctp_transmit() has returned 0. Call that right away. */
enum sctp_send sctp_send(struct sctp *sctp, uint16_t stream, uint32_t ppid, const uint8_t *data,
                         size_t size);

/* Sends an ordered message of at most SCTP_RELIABLE_BYTES, the first one of its stream, until it is
   acknowledged. It is copied. */
enum sctp_send sctp_send_reliable(struct sctp *sctp, uint16_t stream, uint32_t ppid,
                                  const uint8_t *data, size_t size);

/* Closes our direction of a stream, and repeats that until it is answered. Only one stream can be
   closed at a time: the function returns false while another one waits. */
bool sctp_reset(struct sctp *sctp, uint16_t stream);

/* Ends the association: sctp_transmit() then gives an ABORT with the reason. */
void sctp_abort(struct sctp *sctp, const char *reason);

/* Writes the next packet to send; returns 0 when there is none. capacity must be at least
   SCTP_PACKET_MAX. */
size_t sctp_transmit(struct sctp *sctp, uint8_t *out, size_t capacity, double now);

/* Writes a packet that makes the other side send `data` back. It is apart from those of
   sctp_transmit() and may take another path. Returns 0 when the association is not answered.
   capacity must be at least SCTP_PACKET_MAX. */
size_t sctp_heartbeat(const struct sctp *sctp, const uint8_t *data, size_t size, uint8_t *out,
                      size_t capacity);

/* Returns when sctp_update() has something to do, in seconds; INFINITY when never. */
double sctp_deadline(const struct sctp *sctp);

/* Lets time pass: sends delayed acknowledgements and repeats. Fetch packets afterwards. */
void sctp_update(struct sctp *sctp, double now);

bool sctp_is_established(const struct sctp *sctp);

/* Returns true when the association is established, or will be on the other side when the packets
   that have been fetched arrive. */
bool sctp_is_answered(const struct sctp *sctp);
void sctp_stats(const struct sctp *sctp, struct sctp_stats *out);

#endif
