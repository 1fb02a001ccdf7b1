/* Helpers of the tests of netcode and sessions: hex, fields of netcode.json, and a repeatable
   source of random bytes. */
#ifndef CAUSEWAY_TESTS_NETCODE_H
#define CAUSEWAY_TESTS_NETCODE_H

#include "netcode/crypto.h"
#include "netcode/secure_packet.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

/* Reads a 64-bit number, which is a decimal string in the vectors. */
static inline uint64_t netcode_u64(const cJSON *object, const char *key)
{
    return strtoull(cJSON_GetStringValue(vectors_get(object, key)), NULL, 10);
}

/* Reads a field whose size is known. */
static inline void netcode_bytes(uint8_t *out, size_t size, const cJSON *object, const char *key)
{
    size_t length;
    uint8_t *bytes = vectors_bytes(vectors_get(object, key), &length);
    if (length != size) {
        fprintf(stderr, "%s has %zu bytes, not %zu\n", key, length, size);
        exit(1);
    }
    memcpy(out, bytes, size);
    free(bytes);
}

static inline struct cw_address netcode_address(const cJSON *item)
{
    struct cw_address address = {.port = (uint16_t)vectors_int(item, "port")};
    if (strcmp(cJSON_GetStringValue(vectors_get(item, "type")), "ipv4") == 0) {
        address.type = CW_ADDRESS_IPV4;
        for (int i = 0; i < 4; i++)
            address.bytes[i] = (uint8_t)cJSON_GetArrayItem(vectors_get(item, "bytes"), i)->valueint;
    } else {
        address.type = CW_ADDRESS_IPV6;
        for (int i = 0; i < 8; i++) {
            const int word = cJSON_GetArrayItem(vectors_get(item, "words"), i)->valueint;
            address.bytes[2 * i] = (uint8_t)(word >> 8);
            address.bytes[2 * i + 1] = (uint8_t)word;
        }
    }
    return address;
}

/* Returns a copy in a heap block of exactly its size, so that reading past it is seen. The caller
   frees it. */
static inline uint8_t *netcode_exact(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

/* Fills in repeatable bytes; context is a uint64_t state, not 0. */
static inline void netcode_fill(void *context, uint8_t *out, size_t size)
{
    uint64_t *state = context;
    uint8_t *bytes = out;
    for (size_t i = 0; i < size; i++) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        bytes[i] = (uint8_t)(*state >> 32);
    }
}

/* Encrypts the private part of a connect token, whether it makes sense or not. */
static inline void netcode_seal(uint8_t plain[CW_TOKEN_PRIVATE_SIZE], uint64_t protocol_id,
                                uint64_t expire_time, const uint8_t nonce[CW_LONG_NONCE_BYTES],
                                const uint8_t private_key[CW_KEY_BYTES])
{
    uint8_t associated[CW_NETCODE_VERSION_SIZE + 16] = CW_NETCODE_VERSION;
    for (int i = 0; i < 8; i++) {
        associated[CW_NETCODE_VERSION_SIZE + i] = (uint8_t)(protocol_id >> 8 * i);
        associated[CW_NETCODE_VERSION_SIZE + 8 + i] = (uint8_t)(expire_time >> 8 * i);
    }
    cw_crypto_seal_long(&(struct cw_seal){.key = private_key,
                                          .nonce = nonce,
                                          .associated = associated,
                                          .associated_size = sizeof(associated)},
                        plain, CW_TOKEN_PRIVATE_SIZE - CW_MAC_BYTES, plain);
}

static inline struct cw_secure_key netcode_key(enum cw_direction direction, uint64_t protocol_id,
                                               const uint8_t *bytes)
{
    return (struct cw_secure_key){protocol_id, direction, bytes};
}

/* Reads a packet from a block of exactly its size, into a block of the body's size. */
static inline enum cw_error netcode_read(struct cw_secure_packet *packet, uint8_t *body,
                                         const void *bytes, size_t size, struct cw_secure_key key,
                                         struct cw_replay *replay)
{
    uint8_t *copy = netcode_exact(bytes, size), *out = malloc(CW_PAYLOAD_MAX);
    const enum cw_error error = cw_secure_read(copy, size, &key, replay, out, packet);
    if (!error && body && packet->size)
        memcpy(body, out, packet->size);
    free(copy);
    free(out);
    return error;
}

#endif
