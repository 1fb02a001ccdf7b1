/* What the parts of WebRTC share: webrtc_offers.c makes links, over HTTP; webrtc.c has the rest of
   their lives. */
#ifndef CAUSEWAY_RELAY_RTC_WEBRTC_INTERNAL_H
#define CAUSEWAY_RELAY_RTC_WEBRTC_INTERNAL_H

#include "net/deadlines.h"
#include "net/log.h"
#include "rtc/half_open.h"
#include "rtc/offer_limit.h"
#include "rtc/peer.h"
#include "rtc/rtc_socket.h"
#include "rtc/table.h"
#include "rtc/webrtc.h"

#define WEBRTC_ROUTE "/rtc"
/* Random bytes in the name of a resource. */
#define WEBRTC_NAME_BYTES 16

/* One browser. */
struct rtc_link {
    struct webrtc *all;
    struct peer *peer;
    struct session *session; /* while its channel is open */
    struct deadline deadline;
    struct rtc_entry entry;
    struct rtc_listing listings[PATHS_MAX]; /* of the paths of the peer */
    struct rtc_link *next_ended;
    struct half_open_entry half_open; /* while its channel is not open */
    bool ended;
    char name[RTC_PLACE_DIGITS + 2 * WEBRTC_NAME_BYTES + 1]; /* of the resource that DELETE names */
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
    size_t most; /* links at a time since memory was given back */
    struct deadlines deadlines;
    struct loop_timer timer;
    double timer_at;
    struct rtc_link *ended;
    uint16_t port;
    struct log_limit limit;
};

/* The link that an entry of the table sits in; NULL for none. */
static inline struct rtc_link *webrtc_link_of(struct rtc_entry *entry)
{
    return entry ? lws_container_of(entry, struct rtc_link, entry) : NULL;
}

/* Answers a request below WEBRTC_ROUTE; context is the struct webrtc. */
void webrtc_request(void *context, const struct http_request *request, struct http_reply *reply);

/* Has the timer go off when the peer of a link wants it to. */
void webrtc_set_deadline(struct rtc_link *link);

/* Ends links that have no open channel yet when there are too many of them. */
void webrtc_make_room(struct webrtc *all);

/* Brings session, table and timer in line with what has become of the peer. */
void webrtc_follow(struct rtc_link *link);

#endif
