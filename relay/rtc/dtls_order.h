/* The order in which a client's DTLS records go to OpenSSL. OpenSSL sets aside 17 KB for each
   handshake message that is announced out of order (up to ten) and for each record whose key is not
   in use yet (up to a hundred). So it gets the records in the order in which it needs them, and
   nothing else. */
#ifndef CAUSEWAY_RELAY_RTC_DTLS_ORDER_H
#define CAUSEWAY_RELAY_RTC_DTLS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The state of the order; all zero before the first record. */
struct dtls_order {
    uint16_t next;       /* the number of the handshake message that is due */
    uint16_t total;      /* the size of that message, once a part of it has come */
    uint16_t have;       /* the bytes of that message so far, without a gap */
    bool has_keys;       /* records are encrypted from now on */
    uint8_t sealed;      /* the number of encrypted handshake records so far */
    bool is_established; /* set by the caller when the handshake is done */
};

enum dtls_turn {
    DTLS_DUE,   /* the record is to be handed on now, and has been noted */
    DTLS_EARLY, /* another record must come first */
    DTLS_NEVER, /* the record is useless or harmful */
};

/* Returns the size of the record at the start of a datagram, with its header; 0 when there is no
   whole record. */
size_t dtls_record_size(const uint8_t *data, size_t size);

/* Returns when it is the record's turn. size is the result of dtls_record_size. */
enum dtls_turn dtls_order_turn(struct dtls_order *order, const uint8_t *record, size_t size);

#endif
