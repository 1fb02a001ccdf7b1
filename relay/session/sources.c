#include "session/sources.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Of a wider prefix, the part that is used: more than can be counted through. */
#define HOST_BITS_MAX 48

/* That rest beyond those that may be in use; of more, the first are free again. Only a prefix that
   is hardly larger could lend them before their time. */
#define RESTING_MORE 4096

struct sources {
    struct prefix prefix;
    uint64_t first; /* behind the prefix, the lowest that is lent */
    uint64_t size;  /* so many are */
    uint64_t next;  /* of these, the one to be tried first */
    uint64_t seed;
    struct source **places;
    size_t mask;            /* of a hash */
    struct source *longest; /* of those that rest, which comes first */
    struct source *latest;
    unsigned in_use;
    unsigned resting;
    unsigned resting_most;
};

struct sources *sources_create(const struct prefix *prefix, unsigned most)
{
    struct sources *sources = calloc(1, sizeof *sources);
    if (!sources)
        return NULL;
    const unsigned bits = 128 - prefix->bits;
    const uint64_t whole = (uint64_t)1 << (bits < HOST_BITS_MAX ? bits : HOST_BITS_MAX);
    sources->prefix = *prefix;
    sources->first = whole > 2;
    sources->size = whole > 2 ? whole - 2 : whole;
    sources->resting_most = most + RESTING_MORE;
    sources->mask = 1;
    while (sources->mask < 2 * (size_t)most)
        sources->mask *= 2;
    sources->places = calloc(sources->mask, sizeof(struct source *));
    sources->mask--;
    if (!sources->places || getrandom(&sources->seed, sizeof sources->seed, 0) < 0 ||
        getrandom(&sources->next, sizeof sources->next, 0) < 0) {
        sources_destroy(sources);
        return NULL;
    }
    sources->next %= sources->size;
    return sources;
}

void sources_destroy(struct sources *sources)
{
    if (!sources)
        return;
    for (size_t i = 0; sources->places && i <= sources->mask; i++) {
        while (sources->places[i]) {
            struct source *source = sources->places[i];
            sources->places[i] = source->next;
            free(source);
        }
    }
    free(sources->places);
    free(sources);
}

static void address_at(const struct sources *sources, uint64_t index, unsigned char out[16])
{
    uint64_t rest = sources->first + index;
    memcpy(out, sources->prefix.address, 16);
    for (int i = 15; rest > 0; i--, rest >>= 8)
        out[i] |= (unsigned char)rest;
}

void sources_last(const struct sources *sources, unsigned char out[16])
{
    address_at(sources, sources->size - 1, out);
}

static struct source **place_of(const struct sources *sources, const unsigned char address[16],
                                const struct socket_address *server)
{
    unsigned char other[16] = {0};
    socket_address_bytes(server, other);
    const uint64_t hash = socket_address_owner_hash(address, sources->seed);
    return &sources->places[socket_address_owner_hash(other, hash ^ socket_address_port(server)) &
                            sources->mask];
}

struct source *sources_find(const struct sources *sources, const unsigned char address[16],
                            const struct socket_address *server)
{
    struct source *source = *place_of(sources, address, server);
    while (source && (memcmp(source->address, address, sizeof source->address) != 0 ||
                      !socket_address_same(&source->server, server)))
        source = source->next;
    return source;
}

static void forget_longest(struct sources *sources)
{
    struct source *source = sources->longest;
    struct source **at = place_of(sources, source->address, &source->server);
    while (*at != source)
        at = &(*at)->next;
    *at = source->next;
    sources->longest = source->after;
    if (!sources->longest)
        sources->latest = NULL;
    sources->resting--;
    free(source);
}

static struct source *add(struct sources *sources, const unsigned char address[16],
                          const struct socket_address *server, void *owner)
{
    struct source **place = place_of(sources, address, server);
    struct source *source = calloc(1, sizeof *source);
    unsigned char bytes[16] = {0};
    if (!source)
        return NULL;
    memcpy(source->address, address, sizeof source->address);
    /* In the family of the socket. */
    socket_address_bytes(server, bytes);
    socket_address_of_bytes(bytes, &source->server);
    socket_address_set_port(&source->server, socket_address_port(server));
    source->owner = owner;
    source->next = *place;
    *place = source;
    sources->in_use++;
    return source;
}

static void expire(struct sources *sources, double now)
{
    while (sources->longest &&
           (sources->longest->rests_until <= now || sources->resting > sources->resting_most))
        forget_longest(sources);
}

struct source *sources_take(struct sources *sources, const struct socket_address *server,
                            void *owner, double now)
{
    expire(sources, now);
    /* Each that is tried in vain is in the set. */
    const uint64_t known = (uint64_t)sources->in_use + sources->resting;
    for (uint64_t i = 0; i <= known && i < sources->size; i++) {
        unsigned char address[16];
        address_at(sources, sources->next, address);
        sources->next = (sources->next + 1) % sources->size;
        if (!sources_find(sources, address, server))
            return add(sources, address, server, owner);
    }
    return NULL;
}

struct source *sources_take_this(struct sources *sources, const unsigned char address[16],
                                 const struct socket_address *server, void *owner, double now)
{
    expire(sources, now);
    return sources_find(sources, address, server) ? NULL : add(sources, address, server, owner);
}

void sources_release(struct sources *sources, struct source *source, double now)
{
    source->owner = NULL;
    source->rests_until = now + SOURCES_REST_SECONDS;
    source->after = NULL;
    *(sources->latest ? &sources->latest->after : &sources->longest) = source;
    sources->latest = source;
    sources->in_use--;
    sources->resting++;
}

unsigned sources_count(const struct sources *sources)
{
    return sources->in_use;
}
