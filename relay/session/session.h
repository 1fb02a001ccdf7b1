/* A session: one browser on one side, and one UDP socket connected to the game server on the other.
   Links carry it to the browser, and may come and go while it lasts. Datagrams from the browser are
   taken from any link, and datagrams to it take the newest link that is ready. Limits, counters and
   timeouts live here and are the same for every transport. */
#ifndef CAUSEWAY_RELAY_SESSION_H
#define CAUSEWAY_RELAY_SESSION_H

#include "os/loop.h"
#include "os/socket_address.h"
#include "session/allowance.h"
#include "session/blocks.h"
#include "session/datagram.h"
#include "session/gate.h"
#include "session/session_index.h"
#include "session/session_state.h"
#include "session/session_summary.h"
#include "session/transport.h"
#include "session/upstreams.h"
#include "stats/gauges.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;
struct sessions;

/* A page that its browser seemed to leave has this many seconds to come back. Firefox closes
   WebSockets when a navigation begins; a page that stays after all, because it was a download for
   example, opens the next one at once. */
#define SESSION_AWAY_SECONDS 3.0

struct sessions_config {
    struct upstreams *upstreams;       /* the game servers; no datagram goes elsewhere */
    struct gate gate;                  /* checks which datagrams may go to a game server */
    struct allowance_limits allowance; /* limits the datagrams to it, for each session */
    unsigned max_sessions;             /* the most sessions over all transports */
    /* the highest number that max_sessions may become; no less than it is */
    unsigned capacity;
    /* the most links of an address; 0 = no limit; an IPv6 address counts by its /64 */
    unsigned max_per_address;
    double request_timeout_seconds; /* the time until a datagram has passed the gate */
    /* the time from then until the game server has answered; a session to which it then says
       nothing for as long keeps no place */
    double answer_timeout_seconds;
    double idle_timeout_seconds; /* the time without a datagram either way; 0 = never */
    /* the time without a link, for a session with a hash; 0 = none */
    double resume_seconds;
    bool records; /* sessions that the game server has answered are recorded */
    /* a number in the ids of the sessions, see session_id_worker; 0 = none */
    unsigned worker;
    /* the secret of the hashes, see session_index_create; NULL = a new one */
    const uint8_t *secret;
};

/* The reasons for which a link is refused. */
enum session_refusal {
    SESSION_REFUSED_NOT,
    SESSION_REFUSED_FULL,
    SESSION_REFUSED_ADDRESS,
    SESSION_REFUSED_DRAINING,
    SESSION_REFUSED_RESTART,
    SESSION_REFUSED_BLOCKED,
    SESSION_REFUSED_MEMORY,
    SESSION_REFUSED_SERVER,
    SESSION_REFUSED_ELSEWHERE, /* a subflow of a session that is not here */
};

/* Returns the code and the text for a browser that was refused. */
const struct session_farewell *session_refusal_farewell(enum session_refusal why);

/* The directory of the sessions that several processes share. Each member is called with the
   context. */
struct session_directory {
    /* Takes a session that others can carry on from now on; see sessions_export. Returns false when
       the directory has not taken it. */
    bool (*publish)(void *context, const struct session_state *state, int fd);
    /* Notes that the page of such a session may be gone, or has come back. */
    void (*set_away)(void *context, const uint8_t hash[SESSION_HASH_SIZE], bool away);
    /* Removes such a session, which has ended. */
    void (*withdraw)(void *context, const uint8_t hash[SESSION_HASH_SIZE]);
    /* Gives back a session that was given to this process, and that cannot be carried on here; see
       sessions_adopt. */
    void (*decline)(void *context, const uint8_t hash[SESSION_HASH_SIZE]);
    /* Returns whether the directory may have a session: false for most that it does not have. */
    bool (*may_contain)(void *context, const uint8_t hash[SESSION_HASH_SIZE]);
    /* Adopts a session for which a link asks, and that is not here, if the directory has it.
       Returns false when the directory has not answered: it may have the session. */
    bool (*lookup)(void *context, const uint8_t hash[SESSION_HASH_SIZE]);
    void *context;
};

/* Creates the set of all sessions. loop and stats must outlive it. Returns NULL when there is no
   memory. */
struct sessions *sessions_create(const struct sessions_config *config, struct loop *loop,
                                 struct stats *stats);

/* Changes the limits, for open sessions too; when there are more than max_sessions, they stay, and
   there are no new ones. upstreams, capacity and the secret stay what they are. */
void sessions_set_limits(struct sessions *sessions, const struct sessions_config *config);

/* Returns the worker in the id of one of its sessions. There are SESSION_WORKERS_MAX workers at
   most. */
#define SESSION_WORKERS_MAX 99
unsigned session_id_worker(unsigned long id);

/* Frees the set. Every session must be closed. NULL is allowed. */
void sessions_destroy(struct sessions *sessions);

/* Returns the number of open sessions, including those that have no link and those that are ending.
 */
unsigned sessions_count(const struct sessions *sessions);

/* Returns the number of these that have a place, even if some would give way to others. */
unsigned sessions_places_taken(const struct sessions *sessions);

/* Returns whether all sessions have a link whose pages have not left. Takes time in proportion to
   the number of sessions. */
bool sessions_are_settled(const struct sessions *sessions);

/* Fills in the gauges. Takes time in proportion to the number of sessions. */
void sessions_gauges(const struct sessions *sessions, struct gauges *out);

/* Returns the open sessions that are not ending, in an order that changes whenever one ends; NULL
   behind the last. */
struct session *sessions_at(const struct sessions *sessions, size_t index);

/* Return the number of a session, which no other session of this relay has, and the address of its
   newest or last link; and describe the session for the operator. */
unsigned long session_id(const struct session *session);
const struct socket_address *session_client(const struct session *session);
void session_describe(const struct session *session, struct session_summary *out);

/* A record has this many parts, each as long, unless a link comes or goes. */
#define SESSION_RECORD_PARTS        30
#define SESSION_RECORD_PART_SECONDS 2.0

/* The sessions that ended last whose records are kept. */
#define SESSIONS_RECORDS_ENDED 64

/* Writes the summaries of a session as each part of its record began, the oldest first, and as it
   is now or was at its end: at most SESSION_RECORD_PARTS + 1. Returns their number, 0 when there is
   no record of it. */
unsigned sessions_recorded(const struct sessions *sessions, unsigned long id,
                           struct session_summary *out);

/* Returns the blocked prefixes, from which no link is taken. */
struct blocks *sessions_blocks(struct sessions *sessions);

/* Refuses new sessions from now on, because of `why`, which is SESSION_END_DRAIN or
   SESSION_END_RESTART. Sessions that are open go on, and their new links are welcome. `drained` is
   called once, when the last session has closed (at once when there is none). */
void sessions_drain(struct sessions *sessions, enum session_end why, void (*drained)(void *context),
                    void *context);

/* Ends every session for the reason that was given to sessions_drain, which must have been called.
 */
void sessions_end_all(struct sessions *sessions);

/* Returns the secret of the hashes, for another process of the relay. */
const uint8_t *sessions_secret(const struct sessions *sessions);

/* Takes the state of a session and its socket, which stays the session's. Returns false when it was
   not taken. */
typedef bool sessions_export_one(void *context, const struct session_state *state, int fd);

/* Gives `take` each session that another process can carry on, with its socket, of which that
   process gets a copy: each that the game server has answered and the next link can find by its
   hash. Nothing changes here; end the sessions with SESSION_END_RESTART when the other process has
   them. Returns false when `take` does. */
bool sessions_export(struct sessions *sessions, sessions_export_one *take, void *context);

/* Makes the sessions use the directory of several processes from now on. */
void sessions_set_directory(struct sessions *sessions, const struct session_directory *directory);

/* Leaves a session to another process, if it is here: SESSION_END_MOVED. */
void sessions_release(struct sessions *sessions, const uint8_t hash[SESSION_HASH_SIZE]);

/* Carries on a session of another process, whose socket is fd: the session waits for its next link.
   Takes over fd. Returns false, after closing fd, when the state cannot be read, the game server
   has answered a session of the same hash here, or all places are taken. */
bool sessions_adopt(struct sessions *sessions, const void *state, size_t size, int fd);

/* The request of a page that opens a link. */
struct link_request {
    struct socket_address client;
    struct socket_address server; /* the server that it names; all zero when it names none */
    struct session_hash hash;     /* the hash of its session */
    /* the number of the subflow that the link is to be; 0 = it carries the session alone */
    unsigned subflow;
};

/* Makes request->hash of the key and the origin of the page, and of request->server; see
   session_index_hash. */
void session_identify(const struct sessions *sessions, const char *key, const char *origin,
                      struct link_request *request);

/* Returns true when a link can be opened as far as the server is concerned: the server is allowed,
   or the session is open already. Otherwise the refusal has been counted. */
bool session_server_allowed(struct sessions *sessions, const struct link_request *request);

/* Opens a link. It joins the session that has its hash, where it takes the place of a link of the
   same transport, or of the subflow of the same number. A subflow never begins a session, nor does
   a session move to another process for it. When there is none, or no hash is given, the link
   begins a session. When all places are taken, the oldest session that the game server has not
   answered gives way, or else the one to which it has said nothing for longest, if that is the
   answer timeout at least, or else the one that has been without a link for longest, unless this
   client has opened more sessions lately. Returns SESSION_REFUSED_NOT, or why the link was refused,
   which has been counted. No socket is opened before the first datagram. */
enum session_refusal session_link_open(struct sessions *sessions, struct session_link *link,
                                       const struct transport *transport,
                                       const struct link_request *request);

/* Makes a link of a session its newest, as if it had joined only now, from this address. */
void session_link_lead(struct session_link *link, const struct socket_address *client);

/* The ways in which a link ends. */
enum session_parting {
    SESSION_LINK_LOST,
    SESSION_LINK_AWAY, /* the browser has closed it: its page is left, or a navigation has begun */
    SESSION_LINK_CLOSED, /* the page has closed it, on purpose */
};

/* Closes a link with which the transport is done. Call it once per link, refused or not. The
   session ends with its last link, unless it has a hash, the game server has answered it, and the
   page did not close the link: then the session waits for the next one. */
void session_link_close(struct session_link *link, enum session_parting parting);

/* Takes a datagram from the browser to the game server. An empty or oversized one is dropped, and
   its data is not read; the session goes on, as it would over UDP. A datagram that the gate does
   not pass is dropped, and several of them end the session. Returns false when the datagram was
   dropped because it exceeds the session's allowance, so that the browser should send less, or when
   the session is ending (the transport's close has been called, now or earlier) and needs no more
   datagrams. */
bool session_receive(struct session *session, const uint8_t *data, size_t size);

/* Takes a message that came over a link: a datagram, which has a header when the link is a subflow.
   Returns what session_receive does. */
bool session_link_receive(struct session_link *link, const uint8_t *data, size_t size);

/* Counts a datagram from a browser without a session, as session_receive counts one whose session
   is ending. */
void sessions_discard(struct sessions *sessions, size_t size);

/* Ends a session on the relay's behalf: counts the reason and closes all its links. Does nothing
   when the session is already ending. */
void session_end(struct session *session, enum session_end why);

/* Adds the datagrams that found the sockets of open sessions full to stats. */
void sessions_count_overflow(struct sessions *sessions);

#endif
