/* Declarations that the parts of the relay share: relay.c runs it, relay_open.c opens its parts,
   and relay_upgrade.c gives them to a successor, or takes them over. */
#ifndef CAUSEWAY_RELAY_RELAY_INTERNAL_H
#define CAUSEWAY_RELAY_RELAY_INTERNAL_H

#include "admin/admin.h"
#include "admin/block_list.h"
#include "http/descriptors.h"
#include "http/files.h"
#include "http/websocket.h"
#include "limits/pre_session_limit.h"
#include "process/listeners.h"
#include "process/liveness.h"
#include "process/shutdown.h"
#include "process/signals.h"
#include "process/upgrade.h"
#include "process/worker.h"
#include "relay.h"
#include "rtc/webrtc.h"
#include "webtransport/webtransport.h"

struct relay {
    const struct options *options;  /* the options at the start */
    struct options reloaded;        /* the options since a reload; all zero before the first one */
    struct http_pages pages;        /* the pages that those options allow */
    struct descriptors descriptors; /* as divided at the start; a reload changes `sessions` */
    struct counters own_counters;
    /* the counters of this process, shared with a supervisor if it is a worker */
    struct counters *counters;
    unsigned number;  /* the number of this worker, from 1 on; 0 = it is none */
    unsigned workers; /* the number of processes that serve */
    struct lws_protocols protocols[3 + WEBSOCKET_PROTOCOLS];
    struct tls *tls; /* NULL without --tls-certificate */
    struct handshake_budget handshakes;
    struct tls_turns *tls_turns; /* NULL without --tls-certificate */
    struct loop *loop;
    struct pre_session_limit *pre_session_limit;
    struct proxy_connections *proxy_connections;
    struct upstreams *upstreams;
    struct sessions *sessions;
    struct websockets *websockets;
    struct webrtc *webrtc;             /* NULL without --rtc */
    struct webtransport *webtransport; /* NULL without --webtransport */
    struct files files;
    struct http *http;
    struct lingers *lingers;
    struct lws_vhost *plain_vhost; /* a vhost without TLS */
    struct listeners listeners;
    struct admin *admin;           /* NULL without --admin */
    struct block_list *block_list; /* NULL without --blocks-from */
    struct signals signals;
    struct worker worker; /* the channel to the supervisor, if this is a worker */
    struct shutdown shutdown;
    struct upgrade upgrade;
    struct log_limit lost_limit;
    struct liveness liveness;
};

/* Opens all parts. Logs why and returns false when one cannot be opened. */
bool relay_open(struct relay *relay, struct startup *startup);

/* Waits until the predecessor, if there is one, has given everything. Nothing may be served before,
   because the predecessor still serves. Logs why and returns false when it does not. */
bool relay_take_over(struct relay *relay, struct startup *startup);

/* Returns the configuration of the sessions with these options. */
struct sessions_config relay_sessions_config(const struct relay *relay,
                                             const struct options *options);

/* Returns the limits of WebRTC with these options. */
struct webrtc_limits relay_webrtc_limits(const struct relay *relay, const struct options *options);

/* Brings the counters up to date; context is the struct relay. */
void relay_count(void *context);

#endif
