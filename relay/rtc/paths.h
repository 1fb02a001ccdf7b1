/* The paths to one browser, and which of them it is on. Anyone can write any sender into a
   datagram, and a browser may itself be hostile: where something seems to come from gets at most
   three times what came from there, until a random number that was sent there has come back from
   there. No sockets and no clock: the caller sends, and tells the time. */
#ifndef CAUSEWAY_RELAY_RTC_PATHS_H
#define CAUSEWAY_RELAY_RTC_PATHS_H

#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Browsers check every pair of an address of theirs and one of ours. */
#define PATHS_MAX        8
#define PATHS_NONCE_SIZE 16

/* Seconds that a proof holds. It is asked for again in good time, whenever something comes. */
#define PATHS_PROOF_SECONDS 30.0

struct path {
    struct udp_path ends;
    bool used;
    bool proven;
    bool authentic;     /* the browser's own encrypted datagrams have come from there */
    double heard;       /* when a check, or such a datagram, last came from there */
    double proven_at;   /* when it was */
    unsigned probes;    /* how often the nonce is still to be sent */
    double probe_at;    /* when next */
    double asked_at;    /* when the nonce was made; -INFINITY when none is to come back */
    uint64_t allowance; /* bytes that may still go there while it is not proven */
    uint8_t nonce[PATHS_NONCE_SIZE];
};

struct paths {
    struct path at[PATHS_MAX];
    struct path *current; /* where the browser is; NULL before the first check */
    double deadline;      /* when paths_update has something to do; INFINITY when never */
};

void paths_init(struct paths *paths);

/* The path with these ends; NULL when the browser was not heard on it, or it had to make room. */
struct path *paths_find(struct paths *paths, const struct udp_path *ends);

/* The same, and new when there is none: the browser has been heard on it. */
struct path *paths_add(struct paths *paths, const struct udp_path *ends, double now);

/* Something of the browser has come on a path: a verified check, or an authentic datagram, one that
   could be decrypted. From now on the path is due for a probe, unless it is current and was proven
   not long ago. */
void paths_hear(struct paths *paths, struct path *path, bool authentic, double now);

/* So many bytes have come on a path. */
void paths_receive(struct path *path, size_t size);

/* True when so many bytes may go out on a path now. */
bool paths_allow(const struct path *path, size_t size);

/* The same, and takes them from the allowance. */
bool paths_spend(struct path *path, size_t size);

/* Any datagram of DTLS has come on a path. As long as the current one is not proven, the browser is
   where it last spoke. */
void paths_speak(struct paths *paths, struct path *path);

/* The next path that the nonce is to be sent on; NULL when there is none, or none yet. */
struct path *paths_probe(struct paths *paths, double now);

/* Bytes have come back on a path. If they are its nonce, it is proven and current from now on. */
void paths_answer(struct paths *paths, struct path *path, const uint8_t *data, size_t size,
                  double now);

/* Lets time pass: proofs run out. */
void paths_update(struct paths *paths, double now);

#endif
