/* What of a client's DTLS records goes to OpenSSL, and when. OpenSSL sets 17 KB aside for each
   handshake message that is announced out of order, and for each record of a key that is not in use
   yet, ten and a hundred at a time; so it gets them in order, and nothing else. */
#ifndef CAUSEWAY_RELAY_RTC_DTLS_ORDER_H
#define CAUSEWAY_RELAY_RTC_DTLS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero before the first record. */
struct dtls_order {
    uint16_t next;       /* the number of the handshake message that is due */
    uint16_t total;      /* its bytes, once a part of it has come */
    uint16_t have;       /* of them, without a gap from the first on */
    bool has_keys;       /* what comes now is encrypted */
    uint8_t sealed;      /* encrypted handshake records so far */
    bool is_established; /* set by the caller when the handshake is done */
};

enum dtls_turn {
    DTLS_DUE,   /* hand it on: it is accounted for */
    DTLS_EARLY, /* one that must come before it has not come */
    DTLS_NEVER, /* it is of no use, or harmful */
};

/* The size of the record that a datagram begins with, header included; 0 when it has no whole one.
 */
size_t dtls_record_size(const uint8_t *data, size_t size);

/* When it is a record's turn. size is that of dtls_record_size. */
enum dtls_turn dtls_order_turn(struct dtls_order *order, const uint8_t *record, size_t size);

#endif
