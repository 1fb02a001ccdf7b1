/* The two messages that open a data channel (RFC 8832), written and read by pure functions. */
#ifndef CAUSEWAY_RELAY_RTC_DCEP_H
#define CAUSEWAY_RELAY_RTC_DCEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The payload protocol identifiers of data channels (RFC 8831). */
enum {
    PPID_DCEP = 50,
    PPID_STRING = 51,
    PPID_BINARY = 53,
    PPID_STRING_EMPTY = 56,
    PPID_BINARY_EMPTY = 57,
};

#define DCEP_ACK_SIZE 1

enum dcep_type {
    DCEP_MALFORMED,
    DCEP_OPEN,
    DCEP_ACK,
};

struct dcep_message {
    enum dcep_type type;
    /* the contents of an OPEN */
    bool unordered;
    bool unreliable;      /* messages may be given up after some repeats or milliseconds */
    uint32_t reliability; /* the number of repeats or milliseconds */
    const char *label;    /* the label, not terminated, inside the message */
    size_t label_size;
};

enum dcep_type dcep_read(struct dcep_message *message, const uint8_t *data, size_t size);

/* Writes an ACK into DCEP_ACK_SIZE bytes. */
void dcep_write_ack(uint8_t *out);

#endif
