/* This part of a worker speaks with its supervisor. It publishes the sessions that others can carry
   on, asks for sessions of others, and carries out the operator's commands. It passes on sessions
   and certificates that the worker is to take, and the command to leave. */
#ifndef CAUSEWAY_RELAY_WORKER_H
#define CAUSEWAY_RELAY_WORKER_H

#include "os/loop.h"
#include "process/directory_filter.h"
#include "process/message.h"
#include "process/startup.h"
#include "rtc/webrtc.h"
#include "session/session.h"

#include <stdbool.h>

struct worker_config {
    struct loop *loop;
    struct sessions *sessions;
    struct webrtc *webrtc; /* NULL without --rtc */
    struct stats *stats;
    void (*count)(void *context); /* brings the counters up to date */
    void (*adopt)(void *context,
                  const struct message *message); /* takes a session, or certificates */
    /* called when other processes have taken the relay over */
    void (*leave)(void *context);
    void *context;
};

struct worker {
    struct worker_config config;
    struct loop_watch watch; /* watches the channel to the supervisor; fd is -1 without one */
    struct loop_timer timer; /* expires when it is time to count again */
    struct directory_filter filter;
    bool replaced;                    /* other processes have taken the relay over */
    bool is_asking;                   /* the answer to its question has not come */
    uint8_t asked[SESSION_HASH_SIZE]; /* the session for which it has asked */
    int options; /* a copy of the file of options, for the next reload; -1 = the file itself */
};

/* Sets the members of a worker that has no supervisor yet, and may never have one. */
void worker_init(struct worker *worker);

/* Begins to serve as a worker; takes over the channel of startup. All in config must outlive the
   worker. Logs why and returns false when it cannot. */
bool worker_start(struct worker *worker, const struct worker_config *config,
                  struct startup *startup);

/* Obeys what the supervisor has sent. Returns false when other processes have taken the relay over;
   what listened here is then closed. */
bool worker_obey(struct worker *worker);

/* Returns the copy of the file of options that came last, which the caller then owns; -1 when none
   has come. */
int worker_take_options(struct worker *worker);

/* Makes another worker end a connection of WebRTC; context is the struct worker. */
void worker_end_other_rtc(void *context, unsigned worker, const char *name);

/* Closes everything. */
void worker_close(struct worker *worker);

#endif
