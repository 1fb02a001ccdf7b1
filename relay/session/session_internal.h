/* What the parts of a session share: session_links.c has its links, session_room.c says who gets a
   place, session_moves.c lets it go to another process, session_access.c logs how it ended;
   session.c has all else. */
#ifndef CAUSEWAY_RELAY_SESSION_INTERNAL_H
#define CAUSEWAY_RELAY_SESSION_INTERNAL_H

#include "limits/address_memory.h"
#include "limits/per_address_limit.h"
#include "os/deadlines.h"
#include "os/log.h"
#include "session/blocks.h"
#include "session/session.h"
#include "session/traffic.h"
#include "session/upstream.h"

/* Sessions that make room when all places are taken, the first of them first. */
struct session_list {
    struct session *first;
    struct session *last;
};

struct session {
    struct sessions *all;
    struct session_link *newest;       /* NULL while it has none; the others are older */
    struct address_count *address;     /* of the last link, which counts while there is none */
    struct socket_address server;      /* the game server */
    struct socket_address client;      /* of the newest or last link */
    unsigned char owner[16];           /* of that */
    const struct transport *transport; /* of that; NULL when it came from another process */
    struct session_list *list;         /* NULL: it does not make room */
    struct session *before;            /* neighbours there */
    struct session *after;
    struct session_index_entry entry;
    struct deadline deadline; /* none while it is ending */
    double opened;
    double active;   /* when it last came a step on, or a datagram came, from either side */
    double heard;    /* when the game server last spoke to it, but for challenges */
    double unlinked; /* when it lost its last link; INFINITY while it has one */
    unsigned long id;
    bool ending;
    bool evicted;
    bool published; /* the directory has it */
    bool away;      /* its page may be gone: its browser said so, and nothing came since */
    enum gate_verdict verdict; /* on the latest of the datagrams that could begin it */
    unsigned offences;         /* datagrams that the gate has not let pass */
    float rtt;                 /* seconds, of the last link that told it; NAN while none has */
    struct allowance allowance;
    struct traffic traffic;
    struct upstream upstream;
};

struct sessions {
    struct session_directory directory; /* all zero = there is none */
    struct bucket lookups;              /* in that */
    struct sessions_config config;
    struct loop *loop;
    struct stats *stats;
    struct session_index *index;
    struct per_address_limit *per_address;
    struct address_memory *opened;     /* sessions */
    struct address_memory *unanswered; /* datagrams of sessions that were not answered */
    double unanswered_most;            /* that is remembered of one address */
    struct upstream_common *upstream_common;
    struct session_list unproven; /* those that are ending, then those that the game server has not
                                     answered, the oldest first */
    struct session_list unheard;  /* to which the game server no longer speaks, the longest first */
    struct session_list waiting;  /* for a link, the longest first */
    unsigned count;
    unsigned evicted; /* of these, those that have given up their places */
    unsigned long last_id;
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct blocks blocks;
    bool draining;
    enum session_end draining_why;
    void (*drained)(void *context);
    void *drained_context;
    struct log_limit refused_limit;
    struct log_limit ended_limit; /* of sessions that the game server has not answered */
    struct log_limit room_limit;
    struct log_limit rate_limit;
};

/* Begins a session to a server, with a place, which counts for the address of its link from now on.
   NULL when there is none for it; *why is the reason. */
struct session *session_begin(struct sessions *all, struct session_link *link,
                              const struct socket_address *client,
                              const struct socket_address *server, enum session_refusal *why);

/* Seconds of a round trip to its browser, over the newest link that knows or the last that did; NAN
   when none has. */
double session_rtt(const struct session *session);

/* Creates a session that has no link and is in no list, nor counted yet; `owner` is that of its
   address. NULL when there is no memory. */
struct session *session_create(struct sessions *all, const unsigned char owner[16]);

/* Frees a session that has no link. */
void session_free(struct session *session);

/* It has come a step on: it is open, it has asked, it has been answered, it has a link again. */
void session_step(struct session *session);

/* Its deadline may be sooner than it was. */
void session_hurry(struct session *session);

/* Its newest link is over a transport from a browser at an address. */
void session_set_client(struct session *session, const struct session_link *link,
                        const struct socket_address *client);

/* Logs what the session was. Call it before its socket is closed. */
void session_log_end(struct session *session, const char *why);

/* Adopts the session of this hash if another process has it. The directory is not asked more often
   than a player who opens many links may have this process wait. */
void sessions_look_up(struct sessions *all, const struct session_hash *hash);

/* The game server has answered it: others may carry it on. */
void session_publish(struct session *session);

/* Whether its page may be gone; others that carry it on know too. */
void session_set_away(struct session *session, bool away);

/* Its hash is free again. The directory drops it, unless another process goes on with it. */
void session_withdraw(struct session *session, bool goes_on);

/* What browsers are told, by enum session_end. */
extern const struct session_farewell session_farewells[];

/* Closes all links of a session. */
void session_close_links(struct session *session, const struct session_farewell *farewell,
                         bool at_once);

/* Puts a session at the front or the end of a list, out of the one that it is in. */
void session_list_prepend(struct session_list *list, struct session *session);
void session_list_append(struct session_list *list, struct session *session);

/* Takes it out of the list that it is in, if any. */
void session_list_remove(struct session *session);

/* A place for one more session, from the owner of an address. Those to which the game server speaks
   keep theirs while they have a link. False when nobody gives way. */
bool session_make_room(struct sessions *all, const unsigned char owner[16]);

#endif
