#include "webtransport/connection_ids.h"

#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

struct id_entry {
    struct id_entry *next; /* the next with the same hash */
    void *connection;
    uint8_t size;
    uint8_t bytes[CONNECTION_ID_MAX];
};

struct connection_ids {
    size_t row_mask;
    uint64_t key; /* a secret, so that nobody chooses ids with the same hash */
    struct id_entry *rows[];
};

struct connection_ids *connection_ids_create(size_t connections)
{
    size_t rows = 64;
    while (rows < 2 * connections)
        rows *= 2;
    struct connection_ids *ids = calloc(1, sizeof *ids + rows * sizeof(struct id_entry *));
    if (!ids || RAND_bytes((unsigned char *)&ids->key, sizeof ids->key) != 1) {
        free(ids);
        return NULL;
    }
    ids->row_mask = rows - 1;
    return ids;
}

void connection_ids_destroy(struct connection_ids *ids)
{
    for (size_t row = 0; ids && row <= ids->row_mask; row++) {
        for (struct id_entry *entry = ids->rows[row], *next; entry; entry = next) {
            next = entry->next;
            free(entry);
        }
    }
    free(ids);
}

/* Returns the pointer that leads to an id, or to NULL where it belongs. */
static struct id_entry **place_of(struct connection_ids *ids, const uint8_t *id, size_t size)
{
    uint64_t words[3] = {0};
    uint64_t hash = ids->key ^ size;
    memcpy(words, id, size);
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    struct id_entry **at = &ids->rows[(size_t)(hash >> 20) & ids->row_mask];
    while (*at && ((*at)->size != size || memcmp((*at)->bytes, id, size) != 0))
        at = &(*at)->next;
    return at;
}

bool connection_ids_add(struct connection_ids *ids, const uint8_t *id, size_t size,
                        void *connection)
{
    struct id_entry **at = place_of(ids, id, size);
    struct id_entry *entry = *at ? NULL : calloc(1, sizeof *entry);
    if (!entry)
        return false;
    entry->connection = connection;
    entry->size = (uint8_t)size;
    memcpy(entry->bytes, id, size);
    *at = entry;
    return true;
}

void connection_ids_remove(struct connection_ids *ids, const uint8_t *id, size_t size)
{
    struct id_entry **at = place_of(ids, id, size);
    struct id_entry *entry = *at;
    if (!entry)
        return;
    *at = entry->next;
    free(entry);
}

void *connection_ids_find(const struct connection_ids *ids, const uint8_t *id, size_t size)
{
    /* The place is only read here. */
    const struct id_entry *entry = *place_of((struct connection_ids *)ids, id, size);
    return entry ? entry->connection : NULL;
}
