/* Declarations that the sources of a session share: session_links.c has its links, session_moves.c
   lets it go to another process, session_record.c has its record, session.c has all else. */
#ifndef CAUSEWAY_RELAY_SESSION_INTERNAL_H
#define CAUSEWAY_RELAY_SESSION_INTERNAL_H

#include "limits/address_memory.h"
#include "limits/bucket.h"
#include "limits/per_address_limit.h"
#include "os/deadlines.h"
#include "os/log.h"
#include "session/blocks.h"
#include "session/eviction.h"
#include "session/session.h"
#include "session/subflows.h"
#include "session/traffic.h"
#include "session/upstream.h"

/* The latest parts of what a session has carried, in turn. */
struct session_record {
    unsigned count; /* the parts that it had in all */
    struct session_summary parts[SESSION_RECORD_PARTS];
};

struct session {
    struct sessions *sessions;
    /* the newest link, before the older ones; NULL while there is none */
    struct session_link *newest;
    /* the count of the last link, which stays while there is none */
    struct address_count *address;
    struct socket_address server; /* the game server */
    struct socket_address client; /* the address of the newest or last link */
    unsigned char owner[16];      /* the owner of that address */
    /* the transport of that link; NULL when the session came from another process */
    const struct transport *transport;
    struct eviction_entry eviction; /* in no list when the session keeps its place */
    struct session_index_entry entry;
    struct deadline deadline; /* none while the session is ending */
    double opened;
    double active;      /* when its state last changed, or a datagram came from either side */
    double last_answer; /* when the game server last spoke to it, other than by a challenge */
    double unlinked;    /* when it lost its last link; INFINITY while it has one */
    unsigned long id;
    uint64_t token_id; /* the id of the token in its latest connection request; 0 = it had none */
    bool ending;
    bool evicted;
    bool published; /* the directory has it */
    bool away;      /* its page may be gone: its browser said so, and nothing came since */
    enum gate_verdict verdict; /* the verdict on the latest of the datagrams that could begin it */
    unsigned offences;         /* the number of datagrams that the gate has not let pass */
    float rtt;                 /* seconds, over the last link that knew them; NAN while none has */
    struct allowance allowance;
    struct traffic traffic;
    struct drops drops;    /* less those of links that are open */
    uint64_t drops_told;   /* the number of all its drops that the log has told */
    struct bucket changes; /* limits the lines about its changes */
    struct upstream upstream;
    struct subflows *subflows;     /* NULL when it never had any */
    struct session_record *record; /* NULL when it is not recorded */
};

struct sessions {
    struct session_directory directory; /* all zero = there is none */
    struct bucket lookups;              /* limits the lookups in the directory */
    struct sessions_config config;
    struct loop *loop;
    struct stats *stats;
    struct session_index *index;
    struct per_address_limit *per_address;
    struct address_memory *opened; /* the sessions that each address has opened */
    /* the datagrams of each address in sessions that were not answered */
    struct address_memory *unanswered;
    double unanswered_most; /* the most datagrams that are remembered of one address */
    struct upstream_common *upstream_common;
    struct eviction eviction;
    unsigned count;
    unsigned evicted; /* the sessions among these that have given up their places */
    unsigned long last_id;
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct blocks blocks;
    struct session_record *ended[SESSIONS_RECORDS_ENDED]; /* in turn; NULL = none yet */
    unsigned ended_next;
    bool draining;
    enum session_end draining_why;
    void (*drained)(void *context);
    void *drained_context;
    struct log_limit refused_limit;
    /* limits the lines about sessions that the game server has not answered */
    struct log_limit ended_limit;
    struct log_limit evicted_limit;
    struct log_limit rate_limit;
    struct bucket changes; /* limits the lines about changes of all sessions */
    unsigned changes_held_back;
};

/* Returns whether the game server has spoken to a session before, but no longer does. */
static inline bool session_is_silent(const struct session *session)
{
    return session->eviction.list == &session->sessions->eviction.lists[EVICTION_SILENT];
}

/* Returns the seconds of a round trip to the browser, over the newest link that knows them, or as
   the last such link knew them; NAN when none has. */
double session_rtt(const struct session *session);

/* Creates a session that has no link and is in no list, nor counted yet; `owner` is that of its
   address. Returns NULL when there is no memory. */
struct session *session_create(struct sessions *sessions, const unsigned char owner[16]);

/* Frees a session that has no link. */
void session_free(struct session *session);

/* Renews the deadline of a session after a step: it was opened, it has asked, it was answered, or
   it has a link again. */
void session_step(struct session *session);

/* Sets the deadline of a session anew, which may be sooner than it was. */
void session_hurry(struct session *session);

/* Adopts the session of this hash if another process has it. The directory is asked only so often
   that players who open many links do not keep this process waiting. Returns false when the
   directory was asked and has not answered. */
bool sessions_look_up(struct sessions *sessions, const struct session_hash *hash);

/* Puts a session into the directory, once the game server has answered it. */
void session_publish(struct session *session);

/* Notes whether the page of a session may be gone, here and in the directory. */
void session_set_away(struct session *session, bool away);

/* Frees the hash of a session for another. The directory drops the session, unless another process
   goes on with it. */
void session_withdraw(struct session *session, bool goes_on);

/* The codes and the texts for browsers, by enum session_end. */
extern const struct session_farewell session_farewells[];

/* Logs a change of a session, with all that is known of it, unless there were too many lines of
   late. */
void session_log_change(struct session *session, const char *why);

/* Begins another part of a session's record when a datagram has come and the latest part has lasted
   its time, or when its links have changed. */
void session_record(struct session *session, bool changed);

/* Keeps the record of a session that is freed, in the place of the oldest such record. */
void session_record_end(struct session *session);

/* Lets the subflows of a session send what is due; it need not have any. */
void session_update_subflows(struct session *session);

/* Closes all links of a session. */
void session_close_links(struct session *session, const struct session_farewell *farewell,
                         bool at_once);

#endif
