/* The interface through which a session reaches its browser. It is all that a session knows about
   WebSocket or WebRTC. */
#ifndef CAUSEWAY_RELAY_TRANSPORT_H
#define CAUSEWAY_RELAY_TRANSPORT_H

#include "session/datagram.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stddef.h>

/* The reasons for which the relay ends a session. X(NAME, name, code, text, line): `code` closes a
   WebSocket, every browser is told `text`, the log says `line`, and sessions_ended_<name> counts
   it. */
#define SESSION_ENDS(X)                                                                            \
    X(IDLE, idle, 4000, "idle", "no datagram for the idle timeout")                                \
    X(SILENT, silent, 4001, "no request in time", "no request within --request-timeout")           \
    X(UNANSWERED, unanswered, 4002, "the game server does not answer",                             \
      "no answer of the game server within --answer-timeout")                                      \
    X(DOWN, down, 4005, "the game server is down", "nobody is at the address of the game server")  \
    X(UNLINKED, unlinked, 1001, "no link", "no new link in time (--resume-seconds)")               \
    X(EVICTED, evicted, 1013, "try later", "another session needed its place")                     \
    X(DRAIN, drain, 1001, "relay is stopping", "the relay is stopping")                            \
    X(RESTART, restart, 1012, "relay restarts", "another process goes on with it")                 \
    X(MOVED, moved, 4003, "another link took its place", "its next link came to another process")  \
    X(BLOCKED, blocked, 4007, "ended by the operator", "the operator has ended it")                \
    X(TEXT, text, 1003, "text is not supported", "it sent text")                                   \
    X(OVERSIZE, oversize, 1009, "longer than a datagram", "it sent more than UDP carries")         \
    X(PROTOCOL, protocol, 1008, "not a secure connection",                                         \
      "it sent what the gate does not let in")                                                     \
    X(RESOURCES, resources, 1013, "out of resources", "no socket or memory for it")

/* The codes that close links which are refused before they have a session. */
#define SESSION_CODE_ORIGIN 4004 /* the page's origin is not allowed */
#define SESSION_CODE_SERVER 4006 /* the game server that the page asks for is not allowed */

enum session_end {
#define SESSION_END_MEMBER(NAME, name, code, text, line) SESSION_END_##NAME,
    SESSION_ENDS(SESSION_END_MEMBER)
#undef SESSION_END_MEMBER
};

/* The reason that a browser is told when the relay closes its link. */
struct session_farewell {
    unsigned code; /* closes a WebSocket; a data channel brings it before its text */
    const char *text;
};

struct session_link;
struct subflow;

/* A kind of transport, of which a session has one link at most, and subflows. The transport counts
   every datagram that it gets: as delivered, or as dropped by reason. */
struct transport {
    /* the name in log lines: "websocket", "webrtc" */
    const char *name;

    /* Returns true when a datagram may go out now: the link is not closing, and its browser has
       proven where it is. */
    bool (*ready)(const struct session_link *link);

    /* Sends a run of datagrams of 1 to SESSION_DATAGRAM_MAX bytes each to the browser, without
       blocking. Datagrams that have to wait must be copied. */
    void (*send_batch)(struct session_link *link, const struct datagram *datagrams, size_t count);

    /* Tells the browser that the link is over, and then calls session_link_close: after this call,
       but within a few seconds whatever the browser does. send_batch is not called afterwards. With
       `at_once` the connection must go in this turn of the loop; that may also be asked for when
       the link is being closed already. */
    void (*close)(struct session_link *link, const struct session_farewell *farewell, bool at_once);

    /* Returns the seconds of a round trip to the browser, or to the proxy in front of it; NAN when
       they are not known. */
    double (*rtt)(const struct session_link *link);
};

/* One way to a browser. A link is embedded in the connection that the transport has for it; all
   zero before session_link_open. */
struct session_link {
    struct session *session; /* NULL when the link was refused, or when another took its place */
    struct sessions *sessions;
    const struct transport *transport;
    /* the count of its address, which includes it; NULL when the next link is counted instead */
    struct address_count *address;
    struct session_link *older;
    struct drops drops;      /* the datagrams that its transport has dropped */
    struct subflow *subflow; /* NULL when it carries the session alone, see session/subflows.h */
};

#endif
