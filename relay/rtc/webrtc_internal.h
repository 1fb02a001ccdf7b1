/* Declarations that the parts of WebRTC share: webrtc_offers.c creates links for offers over HTTP,
   and for tickets; webrtc.c runs them. */
#ifndef CAUSEWAY_RELAY_RTC_WEBRTC_INTERNAL_H
#define CAUSEWAY_RELAY_RTC_WEBRTC_INTERNAL_H

#include "os/deadlines.h"
#include "os/log.h"
#include "rtc/deferred.h"
#include "rtc/half_open.h"
#include "rtc/offer_limit.h"
#include "rtc/peer.h"
#include "rtc/policing.h"
#include "rtc/rtc_socket.h"
#include "rtc/table.h"
#include "rtc/webrtc.h"

/* The number of random bytes in the name of a resource. */
#define WEBRTC_NAME_BYTES 16

/* One browser. */
struct rtc_link {
    struct webrtc *webrtc;
    struct peer *peer;
    struct link_request request; /* the session that its offer asked for */
    struct session_link base;
    struct deadline deadline;
    struct rtc_entry entry;
    struct rtc_listing listings[PATHS_MAX]; /* one for each path of the peer */
    struct rtc_listing claimed; /* the listing under the name of the claim that made the link */
    struct rtc_link *next_ended;
    struct policing policing;
    struct half_open_entry half_open; /* entered while its channel is not open */
    bool opened;                      /* its channel was opened, or a session refused it */
    bool ended;
    bool deleted; /* a DELETE over HTTP has ended it */
    /* the name of the resource for DELETE */
    char name[RTC_PLACE_DIGITS + 2 * WEBRTC_NAME_BYTES + 1];
};

struct webrtc {
    struct webrtc_config config;
    struct loop *loop;
    struct sessions *sessions;
    struct stats *stats;
    struct rtc_socket *socket;
    struct peer_common common;
    struct offer_limit *offers;
    struct half_open *half_open;
    struct rtc_table *table;
    size_t most; /* the most links at a time since memory was last given back */
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct deferred deferred; /* the datagrams of links whose handshakes wait */
    struct loop_timer held_timer;
    struct rtc_link *ended;
    /* another protocol on the port, see webrtc_share */
    void (*take_other)(void *context, const struct udp_path *path, const uint8_t *data,
                       size_t size);
    void *other;
    uint16_t port;
    struct log_limit limit;
};

/* Returns the link that contains an entry of the table; NULL for NULL. */
static inline struct rtc_link *webrtc_link_of(struct rtc_entry *entry)
{
    return entry ? lws_container_of(entry, struct rtc_link, entry) : NULL;
}

/* Adds the routes by which pages open and end links. */
void webrtc_add_routes(struct webrtc *webrtc, struct http *http);

/* Returns the link of a check whose username has a ticket. Creates the link when the check proves
   that the page has the ticket's key. Returns NULL when there is none. */
struct rtc_link *webrtc_claim(struct webrtc *webrtc, const struct stun_request *request,
                              const uint8_t *data);

/* Sets the timer for the next time at which the peer of a link needs it. */
void webrtc_set_deadline(struct rtc_link *link);

/* Ends links that have no open channel yet when there are too many of them. */
void webrtc_make_room(struct webrtc *webrtc);

/* Brings session, table and timer up to date with the state of the peer. */
void webrtc_follow(struct rtc_link *link);

#endif
