#include "rtc/dtls_order.h"

#include "rtc/big_endian.h"

#define RECORD_HEADER    13
#define HANDSHAKE_HEADER 12
/* The bytes that AES-GCM adds to a record. A shorter record would make OpenSSL give up the
   connection, whoever sent the record. */
#define SEAL 24
/* Bytes of the longest handshake message that is taken. A browser's certificate is signed by
   itself: with RSA of 4,096 bits it has 1,300 bytes. A post-quantum ClientHello has 1,400. */
#define MESSAGE_MAX 4096
/* The number of encrypted handshake records that are taken. A client sends one, but a forged record
   may be taken for it. */
#define SEALED_MAX 2

enum { CHANGE_CIPHER_SPEC = 20, ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };

/* The client's messages in their order: ClientHello, Certificate, ClientKeyExchange and
   CertificateVerify. */
enum { CERTIFICATE = 11 };
static const uint8_t messages[] = {1, CERTIFICATE, 16, 15};
#define MESSAGES (sizeof messages)

static uint32_t load24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | load16(at + 1);
}

size_t dtls_record_size(const uint8_t *data, size_t size)
{
    if (size < RECORD_HEADER || load16(data + 11) > size - RECORD_HEADER)
        return 0;
    return RECORD_HEADER + (size_t)load16(data + 11);
}

/* The bytes of two lengths, of all certificates and of the first, which tell whether a message has
   one certificate. */
#define CERTIFICATE_LENGTHS 6

/* Returns whether a part of a message may belong to one with a single certificate, as browsers
   send. OpenSSL would read each certificate of a chain, which costs a third of a handshake. */
static bool may_be_single(const uint8_t *body, uint32_t offset, uint32_t size)
{
    if (offset >= CERTIFICATE_LENGTHS)
        return true;
    if (offset > 0 || size < CERTIFICATE_LENGTHS)
        return false;
    return load24(body) == load24(body + 3) + 3;
}

enum part { PART_DUE, PART_REPEATED, PART_EARLY, PART_BAD };

/* Takes a message or a part of one, and moves *at behind it. */
static enum part take_part(struct dtls_order *order, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *part = *at;
    if (end - part < HANDSHAKE_HEADER)
        return PART_BAD;
    const uint32_t total = load24(part + 1);
    const unsigned number = load16(part + 4);
    const uint32_t offset = load24(part + 6);
    const uint32_t size = load24(part + 9);
    if (size > (size_t)(end - part) - HANDSHAKE_HEADER || offset + size > total || total == 0 ||
        total > MESSAGE_MAX || number >= MESSAGES || part[0] != messages[number] ||
        (part[0] == CERTIFICATE && !may_be_single(part + HANDSHAKE_HEADER, offset, size)))
        return PART_BAD;
    *at = part + HANDSHAKE_HEADER + size;
    if (number > order->next || (number == order->next && offset > order->have))
        return PART_EARLY;
    if (number < order->next || offset + size <= order->have)
        return PART_REPEATED;
    if (order->have > 0 && order->total != total)
        return PART_BAD;
    order->total = (uint16_t)total;
    order->have = (uint16_t)(offset + size);
    if (order->have == total) {
        order->next++;
        order->have = 0;
    }
    return PART_DUE;
}

/* Takes the parts of messages in a record, which may have several. */
static enum dtls_turn take_parts(struct dtls_order *order, const uint8_t *at, const uint8_t *end)
{
    struct dtls_order after = *order;
    enum dtls_turn turn = DTLS_NEVER;
    do
        switch (take_part(&after, &at, end)) {
        case PART_DUE:
            turn = DTLS_DUE;
            break;
        case PART_REPEATED:
            break;
        case PART_EARLY:
            return turn == DTLS_DUE ? DTLS_NEVER : DTLS_EARLY;
        case PART_BAD:
            return DTLS_NEVER;
        }
    while (at < end);
    *order = after;
    return turn;
}

static enum dtls_turn take_plain(struct dtls_order *order, const uint8_t *record, size_t size)
{
    switch (record[0]) {
    case HANDSHAKE:
        return take_parts(order, record + RECORD_HEADER, record + size);
    case CHANGE_CIPHER_SPEC:
        if (order->next < MESSAGES)
            return DTLS_EARLY;
        if (order->has_keys)
            return DTLS_NEVER;
        order->has_keys = true;
        return DTLS_DUE;
    case ALERT:
        return order->next > 0 || order->have > 0 ? DTLS_DUE : DTLS_NEVER;
    default:
        return DTLS_NEVER;
    }
}

static enum dtls_turn take_sealed(struct dtls_order *order, const uint8_t *record, size_t size)
{
    if (size < RECORD_HEADER + SEAL)
        return DTLS_NEVER;
    if (order->is_established)
        return record[0] == CHANGE_CIPHER_SPEC ? DTLS_NEVER : DTLS_DUE;
    if (record[0] != HANDSHAKE)
        return order->has_keys && record[0] == ALERT ? DTLS_DUE : DTLS_NEVER;
    if (!order->has_keys)
        return DTLS_EARLY;
    return order->sealed++ < SEALED_MAX ? DTLS_DUE : DTLS_NEVER;
}

enum dtls_turn dtls_order_turn(struct dtls_order *order, const uint8_t *record, size_t size)
{
    switch (load16(record + 3)) { /* the number of the keys that encrypt the record */
    case 0:
        return order->is_established ? DTLS_NEVER : take_plain(order, record, size);
    case 1:
        return take_sealed(order, record, size);
    default:
        return DTLS_NEVER;
    }
}
