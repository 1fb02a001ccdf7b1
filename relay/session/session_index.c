#include "session/session_index.h"

#include "session/session_key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the longest origin that has a hash. HTTP refuses longer ones. */
#define ORIGIN_MAX 1024

/* Bytes of a server: its address and its port. */
#define SERVER_SIZE 18

struct session_index {
    uint8_t secret[SESSION_SECRET_SIZE];
    size_t buckets; /* a power of two */
    struct session_index_entry *bucket[];
};

struct session_index *session_index_create(unsigned expected,
                                           const uint8_t secret[SESSION_SECRET_SIZE])
{
    size_t buckets = 64;
    while (buckets < expected)
        buckets *= 2;
    struct session_index *index = calloc(1, sizeof *index + buckets * sizeof(void *));
    if (!index)
        return NULL;
    index->buckets = buckets;
    if (secret) {
        memcpy(index->secret, secret, sizeof index->secret);
        return index;
    }
    if (RAND_bytes(index->secret, sizeof index->secret) == 1)
        return index;
    free(index);
    return NULL;
}

void session_index_destroy(struct session_index *index)
{
    free(index);
}

const uint8_t *session_index_secret(const struct session_index *index)
{
    return index->secret;
}

static void put_server(const struct socket_address *server, uint8_t out[SERVER_SIZE])
{
    memset(out, 0, SERVER_SIZE);
    if (server->size == 0 || !socket_address_bytes(server, out))
        return;
    const unsigned port = socket_address_port(server);
    out[16] = (uint8_t)(port >> 8);
    out[17] = (uint8_t)port;
}

void session_index_hash(const struct session_index *index, const char *key, const char *origin,
                        const struct socket_address *server, struct session_hash *out)
{
    /* All parts but the origin have one length, so no two of these texts are the same. */
    uint8_t text[SESSION_KEY_SIZE + SERVER_SIZE + ORIGIN_MAX];
    const size_t size = strlen(origin);
    *out = (struct session_hash){0};
    if (!session_key_valid(key, strlen(key)) || size > ORIGIN_MAX)
        return;
    memcpy(text, key, SESSION_KEY_SIZE);
    put_server(server, text + SESSION_KEY_SIZE);
    memcpy(text + SESSION_KEY_SIZE + SERVER_SIZE, origin, size);
    out->given = HMAC(EVP_sha256(), index->secret, sizeof index->secret, text,
                      SESSION_KEY_SIZE + SERVER_SIZE + size, out->bytes, NULL) != NULL;
    OPENSSL_cleanse(text, SESSION_KEY_SIZE);
}

static size_t bucket_of(const struct session_index *index, const struct session_hash *hash)
{
    size_t number;
    memcpy(&number, hash->bytes, sizeof number);
    return number & (index->buckets - 1);
}

void session_index_add(struct session_index *index, struct session_index_entry *entry,
                       const struct session_hash *hash)
{
    if (!hash->given)
        return;
    struct session_index_entry **bucket = &index->bucket[bucket_of(index, hash)];
    *entry = (struct session_index_entry){.hash = *hash, .next = *bucket, .listed = true};
    *bucket = entry;
}

void session_index_remove(struct session_index *index, struct session_index_entry *entry)
{
    if (!entry->listed)
        return;
    struct session_index_entry **at = &index->bucket[bucket_of(index, &entry->hash)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry->listed = false;
}

struct session_index_entry *session_index_find(const struct session_index *index,
                                               const struct session_hash *hash)
{
    if (!hash->given)
        return NULL;
    struct session_index_entry *entry = index->bucket[bucket_of(index, hash)];
    while (entry && CRYPTO_memcmp(entry->hash.bytes, hash->bytes, sizeof hash->bytes) != 0)
        entry = entry->next;
    return entry;
}
