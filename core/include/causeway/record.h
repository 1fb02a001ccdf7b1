/* A flight recorder: a record keeps what an endpoint did lately, in memory of a fixed size, and a
   recording reads it again. A recording has no contents of packets, only their numbers, acks and
   sizes. It gives the calls that were made to the endpoint to another endpoint, which so comes to
   the same statistics, and finds the same packets acked and lost at the same times.

   64 KB hold about a minute of 60 packets a second in each direction. `causeway-record` prints a
   recording.

   Format: a header, then events. Integers and doubles are little-endian; a varint has seven bits in
   each byte, the lowest first, and all bytes but its last have the highest bit.

       header   "CWREC", 1, a byte that is 1 when acks go in turn, as in a connection, and 0;
                the fields of cw_endpoint_config from max_packet_size to max_reassemblies as 32 bits
                each, rtt_smoothing and min_loss_timeout_seconds as doubles
       event    varint of kind + 16 * time since the event before, in 2^-20 seconds; then, by kind:
       0        the state of the endpoint: the time of the event before as 64 bits, and the fields
                of CW_RECORD_STATE (record_internal.h). It stands first, and then once in each
                eighth of the size
       1        update
       2        a packet was committed: varint of its payload's size
       3        a fragment of it was transmitted
       4        a datagram was received: varint of its size, then the bytes of its headers, at most
                9, or 14 of a fragment
       5        the same, of the packet that is next, which acks 32 packets: varint of its size, and
                how far its ack is behind, in a byte
       6        the packet that arrived last was accepted
       7        acks are passed by
       8, 9     the other end may be idle, or owes an answer: varint of 2^-20 seconds; in 9 also a
                varint of how far the packet to be answered is behind the next
       10       reset
       11       congestion control: a byte of limited + 4 * state, varints of window and bytes in
                flight
       12       a note: varint of its size, and the text */
#ifndef CAUSEWAY_RECORD_H
#define CAUSEWAY_RECORD_H

#include "causeway/endpoint.h"

CW_BEGIN_DECLARATIONS

#define CW_RECORD_NOTE_SIZE 128 /* with the zero at its end */

struct cw_record;

struct cw_record_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t size; /* bytes of the longest recording, 8192 to 1048576; default 65536.
                      The oldest eighth is dropped when it is full */
};

struct cw_record_config cw_record_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_record_memory(const struct cw_record_config *config);

/* *record is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_record_create(const struct cw_record_config *config, struct cw_record **record);

/* Ends recording. NULL is allowed. */
void cw_record_destroy(struct cw_record *record);

/* Records the endpoint from now on, and forgets what the record had. The record still belongs to
   the caller, and leaves the endpoint at which it was set before. NULL ends recording, and so does
   destroying the endpoint. A reset of the endpoint is recorded like all else. Meanwhile the
   endpoint rounds times down to 2^-20 seconds. */
void cw_endpoint_set_record(struct cw_endpoint *endpoint, struct cw_record *record);

/* Adds a line of the program's own, such as a change of the transport. Only its first 127 bytes are
   kept. Does nothing while the record is not set at an endpoint. */
void cw_record_note(struct cw_record *record, const char *text, double now);

/* Writes the recording to out and returns its size. Returns 0 when it is longer than capacity,
   which the size of the config never is, and when nothing was recorded. */
size_t cw_record_write(struct cw_record *record, uint8_t *out, size_t capacity);

struct cw_recording;

/* Opens a recording, which may be anybody's. data must stay as it is until destroy. allocator may
   be NULL: malloc. *recording is set only on CW_OK. Errors: CW_ERROR_MALFORMED when it is none, or
   of an endpoint that takes more than 16 MB; CW_ERROR_NO_MEMORY. */
enum cw_error cw_recording_create(const uint8_t *data, size_t size,
                                  const struct cw_allocator *allocator,
                                  struct cw_recording **recording);

/* NULL is allowed. */
void cw_recording_destroy(struct cw_recording *recording);

enum cw_recording_event_type {
    CW_RECORDING_SENT = 1, /* a packet, or a further fragment of it */
    CW_RECORDING_RECEIVED, /* a datagram */
    CW_RECORDING_ACKED,    /* a packet of ours */
    CW_RECORDING_LOST,     /* a packet of ours */
    CW_RECORDING_TICK,     /* an update */
    CW_RECORDING_RESET,    /* another conversation begins */
    CW_RECORDING_CONGESTION,
    CW_RECORDING_NOTE,
    CW_RECORDING_STATE,  /* the recorded state of the endpoint, with which the replay goes on */
    CW_RECORDING_DAMAGED /* the rest cannot be read; this is the last event */
};

struct cw_recording_event {
    enum cw_recording_event_type type;
    double now;                       /* seconds on the clock of the program that was recorded */
    uint16_t sequence;                /* SENT, RECEIVED, ACKED, LOST: the packet */
    uint32_t size;                    /* SENT, RECEIVED: bytes of the datagram */
    enum cw_error error;              /* RECEIVED: what cw_endpoint_receive returned */
    enum cw_congestion_limit limited; /* CONGESTION: what held the latest round back */
    enum cw_congestion_state state;   /* CONGESTION: of the mode CW_CONGESTION_BINARY */
    uint64_t window, in_flight;       /* CONGESTION: bytes */
    bool exact; /* STATE: the replay had come to the same. It need not where a recording has lost
                   its beginning, at the first two */
    const char *text; /* NOTE: valid until the following next */
};

/* Gives the next event. Returns false at the end. */
bool cw_recording_next(struct cw_recording *recording, struct cw_recording_event *event);

/* The statistics of the endpoint after the latest event. */
void cw_recording_get_stats(const struct cw_recording *recording, struct cw_endpoint_stats *stats);

CW_END_DECLARATIONS

#endif
