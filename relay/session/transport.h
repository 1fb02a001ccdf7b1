/* How a session reaches its browser: all that a session knows about WebSocket or WebRTC. */
#ifndef CAUSEWAY_RELAY_TRANSPORT_H
#define CAUSEWAY_RELAY_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* Why the relay ends a session. X(NAME, name, code, text, line): `code` closes a WebSocket, every
   browser is told `text`, the log says `line`, and sessions_ended_<name> counts it. */
#define SESSION_ENDS(X)                                                                            \
    X(IDLE, idle, 4000, "idle", "no datagram for the idle timeout")                                \
    X(SILENT, silent, 4001, "no request in time", "no request within --request-timeout")           \
    X(UNANSWERED, unanswered, 4002, "the game server does not answer",                             \
      "no answer of the game server within --answer-timeout")                                      \
    X(ROOM, room, 1013, "try later", "no answer of the game server yet, and others need the room") \
    X(DRAIN, drain, 1001, "relay is stopping", "the relay is stopping")                            \
    X(TEXT, text, 1003, "text is not supported", "it sent text")                                   \
    X(EMPTY, empty, 1003, "empty message", "it sent an empty message")                             \
    X(OVERSIZE, oversize, 1009, "longer than a datagram", "it sent an oversized message")          \
    X(PROTOCOL, protocol, 1008, "not a secure connection",                                         \
      "it sent what the gate does not let in")                                                     \
    X(RESOURCES, resources, 1013, "out of resources", "no socket or memory for it")

enum session_end {
#define SESSION_END_MEMBER(NAME, name, code, text, line) SESSION_END_##NAME,
    SESSION_ENDS(SESSION_END_MEMBER)
#undef SESSION_END_MEMBER
};

/* What the browser is told, by enum session_end. */
struct session_farewell {
    unsigned code;
    const char *text;
};
extern const struct session_farewell session_farewells[];

/* One constant per kind of transport. `link` is what the transport gave to session_open. The
   transport counts every datagram that it gets: as delivered, or as dropped by reason. */
struct transport {
    /* For log lines: "websocket", "webrtc". */
    const char *name;

    /* Sends one datagram of 1 to SESSION_DATAGRAM_MAX bytes to the browser, without blocking. The
       bytes belong to the caller and must be copied if they have to wait. */
    void (*send)(void *link, const uint8_t *data, size_t size);

    /* All datagrams that are due now have been given: send what has been gathered. Called after
       every run of send calls for one link, before another link gets any. */
    void (*flush)(void *link);

    /* The session is over. Tell the browser, then call session_close, in this call or later, but
       within a few seconds whatever the browser does. Neither send nor flush is called afterwards.
       With SESSION_END_ROOM the connection must go in this turn of the loop; that may also be
       called for a session that is already ending for another reason. */
    void (*close)(void *link, enum session_end why);
};

#endif
