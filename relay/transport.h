/* How a session reaches its browser: the one thing a session knows about WebSocket or WebRTC. */
#ifndef CAUSEWAY_RELAY_TRANSPORT_H
#define CAUSEWAY_RELAY_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* Why the relay ends a session. */
enum session_end {
    SESSION_END_IDLE,      /* no datagram either way for the idle timeout */
    SESSION_END_DRAIN,     /* the relay is stopping */
    SESSION_END_TEXT,      /* the browser sent a text message */
    SESSION_END_EMPTY,     /* the browser sent an empty message */
    SESSION_END_OVERSIZE,  /* the browser sent more than SESSION_DATAGRAM_MAX bytes */
    SESSION_END_PROTOCOL,  /* the browser kept sending what the gate does not let pass */
    SESSION_END_RESOURCES, /* the relay has no socket or no memory for it */
};

/* One per kind of transport, constant. `link` is what the transport gave to session_open. The
   transport counts every datagram that it was given: delivered, or dropped by reason. */
struct transport {
    /* For log lines: "websocket", "webrtc". */
    const char *name;

    /* Takes one datagram for the browser, 1 to SESSION_DATAGRAM_MAX bytes, without blocking; the
       bytes are the caller's and must be copied if they are to wait. */
    void (*send)(void *link, const uint8_t *data, size_t size);

    /* All datagrams that are due now have been given: what is being gathered must go out. Called
       after every run of send calls for one link, before the next link gets any. */
    void (*flush)(void *link);

    /* The session is over. Say so to the browser, then call session_close, in this call or later
       but within a few seconds whatever the browser does. No send and no flush comes after. */
    void (*close)(void *link, enum session_end why);
};

#endif
