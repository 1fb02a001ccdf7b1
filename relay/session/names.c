#include "session/names.h"

#include "session/key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

/* The longest origin that is told from others. HTTP refuses longer ones. */
#define ORIGIN_MAX 1024

/* Of a server: its address and its port. */
#define SERVER_SIZE 18

struct names {
    uint8_t secret[NAMES_SECRET_SIZE];
    size_t buckets; /* a power of two */
    struct name_entry *bucket[];
};

struct names *names_create(unsigned expected, const uint8_t secret[NAMES_SECRET_SIZE])
{
    size_t buckets = 64;
    while (buckets < expected)
        buckets *= 2;
    struct names *names = calloc(1, sizeof *names + buckets * sizeof(void *));
    if (!names)
        return NULL;
    names->buckets = buckets;
    if (secret) {
        memcpy(names->secret, secret, sizeof names->secret);
        return names;
    }
    if (RAND_bytes(names->secret, sizeof names->secret) == 1)
        return names;
    free(names);
    return NULL;
}

void names_destroy(struct names *names)
{
    free(names);
}

const uint8_t *names_secret(const struct names *names)
{
    return names->secret;
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

void names_make(const struct names *names, const char *key, const char *origin,
                const struct socket_address *server, struct name *out)
{
    /* All but the origin have one length, so no two of them make the same text. */
    uint8_t text[SESSION_KEY_SIZE + SERVER_SIZE + ORIGIN_MAX];
    const size_t size = strlen(origin);
    *out = (struct name){0};
    if (!session_key_valid(key, strlen(key)) || size > ORIGIN_MAX)
        return;
    memcpy(text, key, SESSION_KEY_SIZE);
    put_server(server, text + SESSION_KEY_SIZE);
    memcpy(text + SESSION_KEY_SIZE + SERVER_SIZE, origin, size);
    out->given = HMAC(EVP_sha256(), names->secret, sizeof names->secret, text,
                      SESSION_KEY_SIZE + SERVER_SIZE + size, out->hash, NULL) != NULL;
    OPENSSL_cleanse(text, SESSION_KEY_SIZE);
}

static size_t bucket_of(const struct names *names, const struct name *name)
{
    size_t hash;
    memcpy(&hash, name->hash, sizeof hash);
    return hash & (names->buckets - 1);
}

void names_add(struct names *names, struct name_entry *entry, const struct name *name)
{
    if (!name->given)
        return;
    struct name_entry **bucket = &names->bucket[bucket_of(names, name)];
    *entry = (struct name_entry){.name = *name, .next = *bucket, .listed = true};
    *bucket = entry;
}

void names_remove(struct names *names, struct name_entry *entry)
{
    if (!entry->listed)
        return;
    struct name_entry **at = &names->bucket[bucket_of(names, &entry->name)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    entry->listed = false;
}

struct name_entry *names_find(const struct names *names, const struct name *name)
{
    if (!name->given)
        return NULL;
    struct name_entry *entry = names->bucket[bucket_of(names, name)];
    while (entry && CRYPTO_memcmp(entry->name.hash, name->hash, sizeof name->hash) != 0)
        entry = entry->next;
    return entry;
}
