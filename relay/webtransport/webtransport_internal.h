/* Declarations that the parts of WebTransport share: webtransport_requests.c answers the requests
   of pages, over HTTP and over HTTP/3; webtransport.c runs the links. */
#ifndef CAUSEWAY_RELAY_WEBTRANSPORT_INTERNAL_H
#define CAUSEWAY_RELAY_WEBTRANSPORT_INTERNAL_H

#include "os/deadlines.h"
#include "rtc/half_open.h"
#include "rtc/offer_limit.h"
#include "rtc/policing.h"
#include "webtransport/http3.h"
#include "webtransport/parts.h"
#include "webtransport/quic.h"
#include "webtransport/webtransport.h"

enum wt_state {
    WT_WAITING, /* for the request of the page */
    WT_OPEN,
    WT_CLOSING, /* the browser has been told, and is to answer */
    WT_ENDED,   /* the link is freed in this turn of the loop */
};

/* One browser. */
struct wt_link {
    struct webtransport *webtransport;
    struct quic *quic;
    enum wt_state state;
    struct session_link base;
    struct deadline deadline;
    double give_up; /* when the link ends, if it is neither open nor ended */
    int64_t stream; /* the stream of the session; -1 before its request */
    bool used;      /* a datagram has come */
    bool reads;     /* a packet is being read: nothing can be sent */
    bool at_once;   /* the link ends in this turn of the loop */
    enum session_parting parting;
    struct http3_reader reader;
    struct parts parts;
    struct policing policing;
    struct bucket allowed;            /* the bytes that may go to the browser */
    struct half_open_entry half_open; /* entered while the link waits */
    struct wt_link *next;             /* the next of all links */
    struct wt_link **at;              /* the pointer to this one there */
    struct wt_link *next_due;         /* the next of those that are due */
    bool due;
};

struct webtransport {
    struct webtransport_config config;
    struct loop *loop;
    struct sessions *sessions;
    struct stats *stats;
    struct certificates *certificates;
    struct quic_server *quic;
    struct offer_limit *offers;
    struct half_open *half_open;
    size_t most; /* the most links */
    size_t count;
    size_t peak;    /* the most links at a time since memory was last given back */
    size_t waiting; /* the links that wait for a request */
    struct wt_link *links;
    struct wt_link *due; /* links that may have something to send, or have ended */
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    bool left; /* another process receives */
    uint8_t secret[QUIC_SECRET_SIZE];
};

/* Adds the route at which pages ask for the address and the certificates. */
void webtransport_add_route(struct webtransport *webtransport, struct http *http);

/* Answers the request for a session: opens it, or refuses it. */
void webtransport_answer(struct wt_link *link, const struct http3_request *request);

/* Tells the browser that the link is over. */
void webtransport_dismiss(struct wt_link *link, const struct session_farewell *farewell);

/* Notes that a link no longer waits for a request. */
void webtransport_leave_waiting(struct wt_link *link);

/* Lets a link have its turn. */
void webtransport_make_due(struct wt_link *link);

extern const struct transport webtransport_transport;

#endif
