/* The paths to one browser, and the current one among them. Anyone can write any sender into a
   datagram, and the browser itself may be hostile. So an address from which something seems to come
   gets at most three times the bytes that came from it, until it has returned a random number that
   was sent to it. There are no sockets and no clock here: the caller sends, and gives the time. */
#ifndef CAUSEWAY_RELAY_RTC_PATHS_H
#define CAUSEWAY_RELAY_RTC_PATHS_H

#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most paths. Browsers check every pair of one of their addresses and one of ours. */
#define PATHS_MAX        8
#define PATHS_NONCE_SIZE 16

/* A proof holds for this many seconds. It is renewed before that, whenever something comes. */
#define PATHS_PROOF_SECONDS 30.0

struct path {
    struct udp_path ends;
    bool used;
    bool proven;
    bool authentic;      /* the browser's own encrypted datagrams have come from there */
    double last_arrival; /* when a check, or such a datagram, last came from there */
    double proven_at;    /* when it was proven */
    unsigned probes;     /* the number of times that the nonce is still to be sent */
    double probe_at;     /* when the next probe is due */
    double asked_at;     /* when the nonce was made; -INFINITY when none is awaited */
    uint64_t allowance;  /* bytes that may still go there while it is not proven */
    uint8_t nonce[PATHS_NONCE_SIZE];
};

struct paths {
    struct path at[PATHS_MAX];
    struct path *current; /* the path on which the browser is; NULL before the first check */
    double deadline;      /* when paths_update has something to do; INFINITY when never */
};

void paths_init(struct paths *paths);

/* Returns the path with these ends. Returns NULL when the browser was not heard on it, or when
   another path has taken its place. */
struct path *paths_find(struct paths *paths, const struct udp_path *ends);

/* Returns the path with these ends, which is created when there is none. The browser has been heard
   on it. */
struct path *paths_add(struct paths *paths, const struct udp_path *ends, double now);

/* Notes that something from the browser has come on a path: a verified check, or an authentic
   datagram, that is, one that could be decrypted. The path is then due for a probe, unless it is
   the current one and was proven recently. */
void paths_hear(struct paths *paths, struct path *path, bool authentic, double now);

/* Notes that this many bytes have come on a path. */
void paths_receive(struct path *path, size_t size);

/* Returns true when this many bytes may go out on a path now. */
bool paths_allow(const struct path *path, size_t size);

/* Does the same, and subtracts the bytes from the allowance. */
bool paths_spend(struct path *path, size_t size);

/* Notes that any DTLS datagram has come on a path. While the current path is not proven, the
   browser is taken to be where it last spoke. */
void paths_speak(struct paths *paths, struct path *path);

/* Returns the next path on which to send the nonce. Returns NULL when there is none now. */
struct path *paths_probe(struct paths *paths, double now);

/* Takes bytes that have come back on a path. If they are the path's nonce, the path is now proven
   and the current one. */
void paths_answer(struct paths *paths, struct path *path, const uint8_t *data, size_t size,
                  double now);

/* Lets time pass: proofs expire. */
void paths_update(struct paths *paths, double now);

#endif
