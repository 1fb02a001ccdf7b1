/* A client's policy decides the same for every host: when it asks for a token, which of the token's
   servers it tries, when a link counts as lost, when it comes back, and when there is no connection
   any more. It does no I/O and has no clock: the host says what has happened, and does what `next`
   says.

   A link is whatever carries datagrams to one server: a session with a relay, or a socket. The host
   opens one for each server, and gives the client's packets to it. */
#ifndef CAUSEWAY_CLIENT_POLICY_H
#define CAUSEWAY_CLIENT_POLICY_H

#include "causeway/netcode_client.h"
#include "netcode/crypto.h"

/* Milliseconds for which a link stays open after the packets that tell the server of the end,
   because a link that is closed at once may drop them. They are enough for a relay on the other
   side of the earth, and a browser gives a page that is left no more time. */
#define CW_CLIENT_FAREWELL_MS 100

/* Seconds after which a client that receives nothing tries another link. A server of ours sends at
   least every 0.1 s, as the standard's does, so at least four packets in a row were lost by
   then. */
#define CW_CLIENT_SILENCE_SECONDS 0.5

enum cw_client_action {
    CW_CLIENT_ACTION_NONE,
    CW_CLIENT_ACTION_TOKEN, /* get a token; then call cw_client_policy_token, or _fail */
    CW_CLIENT_ACTION_OPEN,  /* leave the link there is, and open one to policy->server; then call
                               cw_client_policy_link, _skip or _fail */
    CW_CLIENT_ACTION_RENEW, /* nothing comes: open another link to the same server beside this one,
                               or move the client if its link cannot be another */
    CW_CLIENT_ACTION_END    /* there is no connection, for the reason policy->end: disconnect the
                               client; cw_client_policy_returns tells whether another follows */
};

struct cw_client_policy_config {
    double silence_seconds; /* CW_CLIENT_SILENCE_SECONDS at first; 0: a silent link is kept */
    uint32_t attempts;      /* to connect anew after an end, one after the other; 0: none */
    bool after_any_end;     /* come back after every end that another token may mend; else only when
                               this program did not run before the end */
    struct cw_random random;
};

enum cw_client_phase {
    CW_CLIENT_PHASE_OVER,
    CW_CLIENT_PHASE_PAUSE,   /* until token_time */
    CW_CLIENT_PHASE_TOKEN,   /* the host gets a token */
    CW_CLIENT_PHASE_OPENING, /* the host opens a link */
    CW_CLIENT_PHASE_CONNECTING,
    CW_CLIENT_PHASE_CONNECTED
};

/* The host reads server, end and absence; all else is private. A policy of zeros has ended. */
struct cw_client_policy {
    struct cw_client_policy_config config;
    enum cw_client_phase phase;
    enum cw_client_action action; /* the next one */
    uint32_t server; /* the index of the token's server that is tried or connected, from 0 */
    uint32_t server_count;
    enum cw_client_state end;
    double absence; /* seconds for which the program did not run before now, 0 when it did */

    double expire_time;   /* the token's, Unix seconds */
    double token_time;    /* when the next token is asked for */
    double pause_seconds; /* before the token after that */
    uint32_t tries;       /* since the last connection */
    bool returning;       /* the attempt follows an absence */
    bool leaving;         /* the host has said so */

    bool linked;              /* there is a link over which something could come */
    bool trying;              /* another link has been tried since something came */
    double last_call;         /* Unix time of the last call that told it */
    double link_time;         /* when the link to the server was open */
    double handshake_seconds; /* from then until the server took the client */
    double last_received; /* when something came, or could not come for a reason that is known */
    double return_time;   /* when the program ran again and had a link */
    double try_time;      /* when another link was tried, or the patience was lowered */
    double patience;
    double silence;         /* the longest that ended by itself, lately */
    double earlier_silence; /* and in the time of calm before */
};

/* Begins to connect the client. With after_absence, an attempt that fails is repeated as after an
   absence, for a page that comes back. now is this machine's clock, as everywhere, and unix_now the
   clock of the world in seconds, which goes on while the machine sleeps. */
void cw_client_policy_start(struct cw_client_policy *policy, bool after_absence, double now);

/* Tells the policy that the host has a token, how many servers it names, and at which Unix time it
   expires. */
void cw_client_policy_token(struct cw_client_policy *policy, uint32_t server_count,
                            double expire_time);

/* Tells the policy that a link has opened, or that the last one was lost, which the host
   replaces. */
void cw_client_policy_link(struct cw_client_policy *policy, bool linked, double now);

/* Tells the policy that no link leads to this server. Returns true when there is another server to
   try. */
bool cw_client_policy_skip(struct cw_client_policy *policy);

/* Tells the policy that the attempt or the connection has failed for a reason that the client does
   not know. */
void cw_client_policy_fail(struct cw_client_policy *policy, enum cw_client_state reason,
                           double now);

/* Tells the policy that the client has taken a datagram from the server. */
void cw_client_policy_received(struct cw_client_policy *policy, double now, double unix_now);

/* Tells the policy the client's state and server. Call it after the client has received something
   or let time pass. */
void cw_client_policy_follow(struct cw_client_policy *policy, enum cw_client_state state,
                             uint32_t server, double now);

/* Lets time pass. Call it once per tick before the client's update, and while there is no tick when
   token_time has come. */
void cw_client_policy_update(struct cw_client_policy *policy, double now, double unix_now);

/* Tells the policy that the host is about to leave: the next end is the last. An attempt ends at
   once. */
void cw_client_policy_leave(struct cw_client_policy *policy);

/* Returns what the host is to do next. Call it after each of the functions above until there is
   nothing. */
enum cw_client_action cw_client_policy_next(struct cw_client_policy *policy);

/* Returns whether another connection follows by itself: a token is to be asked for, or is being
   got. */
bool cw_client_policy_returns(const struct cw_client_policy *policy);

#endif
