#include "load/stun_request.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>
#include <zlib.h>

static void put16(uint8_t *p, size_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value & 0xffff);
}

static size_t attribute(uint8_t *out, size_t at, uint16_t type, const void *value, size_t size)
{
    put16(out + at, type);
    put16(out + at + 2, size);
    memset(out + at + 4, 0, (size + 3) & ~(size_t)3);
    if (size > 0)
        memcpy(out + at + 4, value, size);
    return at + 4 + ((size + 3) & ~(size_t)3);
}

static void hmac(uint8_t digest[20], uint8_t *data, size_t size, const char *password)
{
    unsigned length;
    put16(data + 2, size + 24 - 20);
    HMAC(EVP_sha1(), password, (int)strlen(password), data, size, digest, &length);
}

static uint32_t checksum(const uint8_t *data, size_t size)
{
    return (uint32_t)crc32(0, data, (uInt)size) ^ 0x5354554eu;
}

static size_t begin(uint8_t *out, const char *username)
{
    put16(out, 1);
    put32(out + 4, 0x2112a442);
    memcpy(out + 8, "transaction!", 12);
    size_t at = 20;
    if (username)
        at = attribute(out, at, 0x0006, username, strlen(username));
    at = attribute(out, at, 0x802a, "tiebreak", 8);
    return attribute(out, at, 0x0024, "\x6e\x7f\x1e\xff", 4);
}

static size_t finish(uint8_t *out, size_t at, const char *password, unsigned without)
{
    uint8_t digest[20];
    if (!(without & STUN_WITHOUT_INTEGRITY)) {
        hmac(digest, out, at, password);
        at = attribute(out, at, 0x0008, digest, sizeof digest);
    }
    if (!(without & STUN_WITHOUT_FINGERPRINT)) {
        at = attribute(out, at, 0x8028, "\0\0\0", 4);
        stun_request_fingerprint(out, at);
    }
    put16(out + 2, at - 20);
    return at;
}

size_t stun_request(uint8_t *out, const char *username, const char *password, uint16_t extra,
                    unsigned without)
{
    size_t at = begin(out, without & STUN_WITHOUT_USERNAME ? NULL : username);
    if (extra)
        at = attribute(out, at, extra, NULL, 0);
    return finish(out, at, password, without);
}

size_t stun_request_embed(uint8_t *out, const char *username, const char *password,
                          const uint8_t *dtls, size_t size)
{
    size_t at = begin(out, username);
    at = attribute(out, at, 0xc071, NULL, 0);
    at = attribute(out, at, 0xc070, dtls, size);
    return finish(out, at, password, 0);
}

void stun_request_fingerprint(uint8_t *data, size_t size)
{
    put16(data + 2, size - 20);
    put32(data + size - 4, checksum(data, size - 8));
}

bool stun_response_is_signed(const uint8_t *data, size_t size, const char *password)
{
    uint8_t copy[256];
    uint8_t digest[20];
    uint8_t crc[4];
    if (size < 20 + 24 + 8 || size > sizeof copy)
        return false;
    put32(crc, checksum(data, size - 8));
    if (memcmp(crc, data + size - 4, 4) != 0)
        return false;
    memcpy(copy, data, size);
    hmac(digest, copy, size - 8 - 24, password);
    return memcmp(digest, data + size - 8 - 20, 20) == 0;
}
