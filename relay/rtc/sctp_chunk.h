/* The pieces of SCTP packets (RFC 9260): numbers on the wire, a reader and a writer. */
#ifndef CAUSEWAY_RELAY_RTC_SCTP_CHUNK_H
#define CAUSEWAY_RELAY_RTC_SCTP_CHUNK_H

#include "rtc/big_endian.h"

#include <stdbool.h>
#include <string.h>

#define SCTP_HEADER_SIZE      12
#define SCTP_CHUNK_HEADER     4
#define SCTP_DATA_HEADER      16
#define SCTP_INIT_SIZE        20
#define SCTP_SACK_HEADER      16
#define SCTP_PARAMETER_HEADER 4

enum sctp_chunk_type {
    CHUNK_DATA = 0,
    CHUNK_INIT = 1,
    CHUNK_INIT_ACK = 2,
    CHUNK_SACK = 3,
    CHUNK_HEARTBEAT = 4,
    CHUNK_HEARTBEAT_ACK = 5,
    CHUNK_ABORT = 6,
    CHUNK_SHUTDOWN = 7,
    CHUNK_SHUTDOWN_ACK = 8,
    CHUNK_ERROR = 9,
    CHUNK_COOKIE_ECHO = 10,
    CHUNK_COOKIE_ACK = 11,
    CHUNK_SHUTDOWN_COMPLETE = 14,
    CHUNK_RECONFIG = 130,
    CHUNK_FORWARD_TSN = 192,
};

/* Flags of DATA. */
enum {
    DATA_END = 1,
    DATA_BEGIN = 2,
    DATA_UNORDERED = 4,
    DATA_IMMEDIATE = 8,
};

enum {
    PARAMETER_HEARTBEAT_INFO = 1,
    PARAMETER_STATE_COOKIE = 7,
    PARAMETER_OUTGOING_RESET = 13,
    PARAMETER_INCOMING_RESET = 14,
    PARAMETER_RECONFIG_RESPONSE = 16,
    PARAMETER_EXTENSIONS = 0x8008,
    PARAMETER_FORWARD_TSN = 0xc000,
};

enum {
    CAUSE_UNRECOGNIZED_CHUNK = 6,
    CAUSE_NO_USER_DATA = 9,
    CAUSE_USER_ABORT = 12,
    CAUSE_PROTOCOL_VIOLATION = 13,
};

/* A chunk or a parameter: type, flags (chunks), and the bytes after its header, unpadded. */
struct sctp_piece {
    uint16_t type;
    uint8_t flags;
    const uint8_t *start; /* the start of its header */
    const uint8_t *value;
    size_t size;
};

/* Takes the next chunk off the front of [*at, end). Returns false at the end (then *at == end), or
   when the rest is not a chunk. The last one may lack its padding. */
static inline bool sctp_next_chunk(const uint8_t **at, const uint8_t *end, struct sctp_piece *chunk)
{
    const size_t room = (size_t)(end - *at);
    if (room < SCTP_CHUNK_HEADER)
        return false;
    const size_t length = load16(*at + 2);
    if (length < SCTP_CHUNK_HEADER || length > room)
        return false;
    *chunk = (struct sctp_piece){.type = (*at)[0],
                                 .flags = (*at)[1],
                                 .start = *at,
                                 .value = *at + SCTP_CHUNK_HEADER,
                                 .size = length - SCTP_CHUNK_HEADER};
    *at += padded(length) < room ? padded(length) : room;
    return true;
}

/* Does the same for parameters, whose type has two bytes. */
static inline bool sctp_next_parameter(const uint8_t **at, const uint8_t *end,
                                       struct sctp_piece *parameter)
{
    if (!sctp_next_chunk(at, end, parameter))
        return false;
    parameter->type = load16(parameter->start);
    parameter->flags = 0;
    return true;
}

/* A buffer that is filled from the front. */
struct sctp_writer {
    uint8_t *data;
    size_t size;
    size_t capacity;
};

/* Starts a chunk or parameter with room for size bytes after its header, padding zeroed. first is
   the first 16 bits: type and flags of a chunk, or the type of a parameter. Returns NULL when it
   does not fit. */
static inline uint8_t *sctp_put(struct sctp_writer *writer, uint16_t first, size_t size)
{
    const size_t length = SCTP_CHUNK_HEADER + size;
    if (padded(length) > writer->capacity - writer->size)
        return NULL;
    uint8_t *start = writer->data + writer->size;
    store16(start, first);
    store16(start + 2, (uint16_t)length);
    memset(start + length, 0, padded(length) - length);
    writer->size += padded(length);
    return start + SCTP_CHUNK_HEADER;
}

static inline uint8_t *sctp_put_chunk(struct sctp_writer *writer, uint8_t type, uint8_t flags,
                                      size_t size)
{
    return sctp_put(writer, (uint16_t)(type << 8 | flags), size);
}

#endif
