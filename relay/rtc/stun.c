#include "rtc/stun.h"

#include "rtc/big_endian.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <zlib.h>

#define MAGIC_COOKIE    0x2112a442u
#define FINGERPRINT_XOR 0x5354554eu
#define HEADER_SIZE     20
#define INTEGRITY_SIZE  20

enum {
    BINDING_REQUEST = 0x0001,
    BINDING_SUCCESS = 0x0101,
    BINDING_ERROR = 0x0111,
};

enum {
    USERNAME = 0x0006,
    MESSAGE_INTEGRITY = 0x0008,
    ERROR_CODE = 0x0009,
    UNKNOWN_ATTRIBUTES = 0x000a,
    MESSAGE_INTEGRITY_SHA256 = 0x001c,
    XOR_MAPPED_ADDRESS = 0x0020,
    PRIORITY = 0x0024,
    USE_CANDIDATE = 0x0025,
    FINGERPRINT = 0x8028,
    ICE_CONTROLLED = 0x8029,
    EMBEDDED_DTLS = 0xc070,
    EMBEDDED_DTLS_RECEIVED = 0xc071, /* the CRC-32 of each datagram */
};

static uint32_t fingerprint(const uint8_t *data, size_t size)
{
    return (uint32_t)crc32(0, data, (uInt)size) ^ FINGERPRINT_XOR;
}

/* Signs the bytes before MESSAGE-INTEGRITY. The HMAC covers all of them, with a length that ends at
   that attribute. */
static bool sign(uint8_t out[INTEGRITY_SIZE], const uint8_t *data, size_t integrity,
                 const char *password)
{
    uint8_t copy[STUN_REQUEST_MAX];
    memcpy(copy, data, integrity);
    store16(copy + 2, (uint16_t)(integrity + 4 + INTEGRITY_SIZE - HEADER_SIZE));
    unsigned int size = 0;
    return HMAC(EVP_sha1(), password, (int)strlen(password), copy, integrity, out, &size) != NULL &&
           size == INTEGRITY_SIZE;
}

static bool is_known(uint16_t type)
{
    return type == USERNAME || type == MESSAGE_INTEGRITY || type == MESSAGE_INTEGRITY_SHA256 ||
           type == PRIORITY;
}

static bool read_attribute(struct stun_request *request, const uint8_t *data, size_t offset,
                           uint16_t type, size_t size)
{
    switch (type) {
    case USERNAME:
        if (request->username)
            return false;
        request->username = (const char *)data + offset + 4;
        request->username_size = size;
        return true;
    case MESSAGE_INTEGRITY:
        request->integrity = offset;
        return size == INTEGRITY_SIZE;
    case USE_CANDIDATE:
        request->nominates = true;
        return true;
    case ICE_CONTROLLED:
        request->controlled = true;
        return true;
    case EMBEDDED_DTLS:
        request->dtls = size > 0 ? data + offset + 4 : NULL;
        request->dtls_size = size;
        request->embeds_dtls = true;
        return true;
    case EMBEDDED_DTLS_RECEIVED:
        request->embeds_dtls = true;
        return true;
    default:
        if (type < 0x8000 && !is_known(type) && request->unknown_required == 0)
            request->unknown_required = type;
        return true;
    }
}

bool stun_parse(struct stun_request *request, const uint8_t *data, size_t size)
{
    *request = (struct stun_request){0};
    if (size < HEADER_SIZE || size > STUN_REQUEST_MAX || size % 4 != 0 ||
        load16(data) != BINDING_REQUEST || load16(data + 2) != size - HEADER_SIZE ||
        load32(data + 4) != MAGIC_COOKIE)
        return false;
    request->transaction = data + 8;

    for (size_t offset = HEADER_SIZE; offset < size;) {
        const uint16_t type = load16(data + offset);
        const size_t value = load16(data + offset + 2);
        if (padded(value) > size - offset - 4)
            return false;
        const size_t next = offset + 4 + padded(value);
        if (type == FINGERPRINT)
            return next == size && value == 4 && request->integrity != 0 && request->username &&
                   load32(data + offset + 4) == fingerprint(data, offset);
        /* Attributes after the signature are not signed, so they are skipped. */
        if (request->integrity == 0 && !read_attribute(request, data, offset, type, value))
            return false;
        offset = next;
    }
    return false;
}

bool stun_verify(const struct stun_request *request, const uint8_t *data, const char *password)
{
    uint8_t expected[INTEGRITY_SIZE];
    return sign(expected, data, request->integrity, password) &&
           CRYPTO_memcmp(expected, data + request->integrity + 4, INTEGRITY_SIZE) == 0;
}

static size_t put_attribute(uint8_t *out, size_t at, uint16_t type, size_t size)
{
    store16(out + at, type);
    store16(out + at + 2, (uint16_t)size);
    return at + 4;
}

static size_t put_mapped_address(uint8_t *out, size_t at, const struct udp_address *from)
{
    const bool v4 = udp_address_is_v4(from);
    const size_t ip_size = v4 ? 4 : 16;
    const uint8_t *ip = from->ip + (16 - ip_size);
    at = put_attribute(out, at, XOR_MAPPED_ADDRESS, 4 + ip_size);
    out[at] = 0;
    out[at + 1] = v4 ? 1 : 2;
    store16(out + at + 2, (uint16_t)(from->port ^ MAGIC_COOKIE >> 16));
    /* The mask is the cookie and the transaction, which lie side by side in the header. */
    for (size_t i = 0; i < ip_size; i++)
        out[at + 4 + i] = ip[i] ^ out[4 + i];
    return at + 4 + ip_size;
}

static size_t put_error(uint8_t *out, size_t at, int code, uint16_t unknown)
{
    at = put_attribute(out, at, ERROR_CODE, 4);
    store32(out + at, (uint32_t)(code / 100 << 8 | code % 100));
    at += 4;
    if (unknown != 0) {
        at = put_attribute(out, at, UNKNOWN_ATTRIBUTES, 2);
        store32(out + at, (uint32_t)unknown << 16);
        at += 4;
    }
    return at;
}

/* Adds the acknowledgement of the DTLS in a request. Each response acknowledges only that of its
   own request: the browser waits for nothing else. */
static size_t put_received(uint8_t *out, size_t at, const struct stun_request *request)
{
    at = put_attribute(out, at, EMBEDDED_DTLS_RECEIVED, request->dtls ? 4 : 0);
    if (!request->dtls)
        return at;
    store32(out + at, (uint32_t)crc32(0, request->dtls, (uInt)request->dtls_size));
    return at + 4;
}

size_t stun_respond(uint8_t *out, size_t capacity, const struct stun_request *request,
                    const struct udp_address *from, const char *password, bool *accepted)
{
    *accepted = request->unknown_required == 0 && !request->controlled;
    if (capacity < STUN_RESPONSE_MAX)
        return 0;

    store16(out, *accepted ? BINDING_SUCCESS : BINDING_ERROR);
    store32(out + 4, MAGIC_COOKIE);
    memcpy(out + 8, request->transaction, 12);
    size_t at = HEADER_SIZE;
    if (*accepted)
        at = put_mapped_address(out, at, from);
    else if (request->unknown_required != 0)
        at = put_error(out, at, 420, request->unknown_required);
    else
        at = put_error(out, at, 487, 0);
    if (*accepted && request->embeds_dtls)
        at = put_received(out, at, request);

    uint8_t signature[INTEGRITY_SIZE];
    if (!sign(signature, out, at, password))
        return 0;
    at = put_attribute(out, at, MESSAGE_INTEGRITY, INTEGRITY_SIZE);
    memcpy(out + at, signature, INTEGRITY_SIZE);
    at += INTEGRITY_SIZE;

    store16(out + 2, (uint16_t)(at + 8 - HEADER_SIZE));
    const uint32_t crc = fingerprint(out, at);
    at = put_attribute(out, at, FINGERPRINT, 4);
    store32(out + at, crc);
    return at + 4;
}
