/* A summary is what the operator may know of a session, in a list and in the log. It is plain data,
   so that it can come from another process. */
#ifndef CAUSEWAY_RELAY_SESSION_SUMMARY_H
#define CAUSEWAY_RELAY_SESSION_SUMMARY_H

#include "os/socket_address.h"
#include "session/traffic.h"
#include "stats/stats.h"

#include <stdbool.h>

#define SESSION_SUMMARY_LINKS_MAX 4

struct session_summary {
    unsigned long id;
    uint64_t token_id; /* the id of the token that it came with last, see gate.h; 0 = none */
    double age_seconds;
    struct socket_address client; /* the address of its newest or last link */
    struct socket_address server;
    struct socket_address source; /* the address that the game server sees; all zero = none yet */
    bool answered;
    /* the transports of its links, the newest first, see gauges.h */
    unsigned transports[SESSION_SUMMARY_LINKS_MAX];
    unsigned transport_count;
    double rtt; /* seconds of a round trip to the browser; NAN when it is not known */
    struct traffic traffic;
    struct drops drops;
};

/* Bytes of a token's id as text, with its terminator. */
#define SESSION_TOKEN_TEXT 17

/* Writes the id of the token as text: 16 hexadecimal digits, or nothing when there is none. */
void session_summary_token(const struct session_summary *summary, char text[SESSION_TOKEN_TEXT]);

/* Logs what has become of a session: the transport of its newest or last link, the reason, its
   drops, and how many such lines were held back. */
void session_summary_log(const struct session_summary *summary, const char *what,
                         const char *transport, const char *why, unsigned held_back);

#endif
