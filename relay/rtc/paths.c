#include "rtc/paths.h"

#include <math.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

/* The bytes that may go to an unproven address for each one that came from it, as in QUIC (RFC
   9000, 8.1). */
#define ALLOWANCE_PER_BYTE 3
/* A packet from a path is followed by this many probes, this many seconds apart, until one is
   answered. */
#define PROBES        3
#define PROBE_SECONDS 0.25
/* Seconds for which a nonce is sent; it is accepted for twice as long. A nonce that proves that the
   browser was at an address once does not prove that it still is. */
#define NONCE_SECONDS 2.5
/* The age of a proof in seconds at which the next packet from the path has the proof renewed. */
#define RENEWAL_SECONDS 10.0
/* A path on which the browser's own datagrams have come within this many seconds gives way only
   after paths on which none have. */
#define LIVE_SECONDS 5.0

void paths_init(struct paths *paths)
{
    *paths = (struct paths){.deadline = INFINITY};
}

static bool same_ends(const struct udp_path *a, const struct udp_path *b)
{
    return udp_address_same(&a->remote, &b->remote) && a->interface == b->interface &&
           memcmp(a->local, b->local, sizeof a->local) == 0;
}

struct path *paths_find(struct paths *paths, const struct udp_path *ends)
{
    for (size_t i = 0; i < PATHS_MAX; i++)
        if (paths->at[i].used && same_ends(&paths->at[i].ends, ends))
            return &paths->at[i];
    return NULL;
}

static void set_deadline(struct paths *paths)
{
    paths->deadline = INFINITY;
    for (size_t i = 0; i < PATHS_MAX; i++) {
        const struct path *path = &paths->at[i];
        if (path->probes > 0)
            paths->deadline = fmin(paths->deadline, path->probe_at);
        if (path->proven)
            paths->deadline = fmin(paths->deadline, path->proven_at + PATHS_PROOF_SECONDS);
    }
}

/* Returns whether a path gives way before another. Checks can be recorded and sent again from any
   address, encrypted datagrams cannot. So a path that has brought some gives way last: an attacker
   who repeats checks cannot push out a real move. */
static bool gives_way(const struct path *path, const struct path *other, double now)
{
    const bool live = path->authentic && now - path->last_arrival < LIVE_SECONDS;
    const bool other_live = other->authentic && now - other->last_arrival < LIVE_SECONDS;
    return live != other_live ? other_live : path->last_arrival < other->last_arrival;
}

static struct path *make(struct paths *paths, const struct udp_path *ends, double now)
{
    struct path *place = NULL;
    for (size_t i = 0; i < PATHS_MAX; i++) {
        struct path *path = &paths->at[i];
        if (!path->used) {
            place = path;
            break;
        }
        if (path != paths->current && (!place || gives_way(path, place, now)))
            place = path;
    }
    *place = (struct path){.ends = *ends, .used = true, .asked_at = -INFINITY};
    return place;
}

struct path *paths_add(struct paths *paths, const struct udp_path *ends, double now)
{
    struct path *path = paths_find(paths, ends);
    if (!path)
        path = make(paths, ends, now);
    if (!paths->current)
        paths->current = path;
    return path;
}

void paths_hear(struct paths *paths, struct path *path, bool authentic, double now)
{
    path->last_arrival = now;
    path->authentic = path->authentic || authentic;
    const bool fresh = path->proven && now - path->proven_at < RENEWAL_SECONDS;
    if (path == paths->current && fresh)
        return;
    path->probes = PROBES;
    path->probe_at = fmax(path->probe_at, now);
    set_deadline(paths);
}

void paths_receive(struct path *path, size_t size)
{
    if (!path->proven)
        path->allowance += size * ALLOWANCE_PER_BYTE;
}

bool paths_allow(const struct path *path, size_t size)
{
    return path->proven || path->allowance >= size;
}

bool paths_spend(struct path *path, size_t size)
{
    if (!paths_allow(path, size))
        return false;
    if (!path->proven)
        path->allowance -= size;
    return true;
}

void paths_speak(struct paths *paths, struct path *path)
{
    if (!paths->current->proven)
        paths->current = path;
}

struct path *paths_probe(struct paths *paths, double now)
{
    if (now < paths->deadline)
        return NULL;
    for (size_t i = 0; i < PATHS_MAX; i++) {
        struct path *path = &paths->at[i];
        if (path->probes == 0 || now < path->probe_at)
            continue;
        path->probes--;
        path->probe_at = now + PROBE_SECONDS;
        set_deadline(paths);
        if (now - path->asked_at < NONCE_SECONDS)
            return path;
        path->asked_at = -INFINITY;
        if (RAND_bytes(path->nonce, sizeof path->nonce) == 1) {
            path->asked_at = now;
            return path;
        }
    }
    return NULL;
}

void paths_answer(struct paths *paths, struct path *path, const uint8_t *data, size_t size,
                  double now)
{
    if (now - path->asked_at >= 2 * NONCE_SECONDS || size != sizeof path->nonce ||
        CRYPTO_memcmp(data, path->nonce, sizeof path->nonce) != 0)
        return;
    path->asked_at = -INFINITY;
    path->probes = 0;
    path->probe_at = now;
    path->proven = true;
    path->proven_at = now;
    paths->current = path;
    set_deadline(paths);
}

void paths_update(struct paths *paths, double now)
{
    for (size_t i = 0; i < PATHS_MAX; i++) {
        struct path *path = &paths->at[i];
        if (path->proven && now >= path->proven_at + PATHS_PROOF_SECONDS)
            path->proven = false;
    }
    set_deadline(paths);
}
