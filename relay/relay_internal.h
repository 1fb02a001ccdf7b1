/* What the parts of the relay share: relay.c opens and closes it; relay_signals.c stops it,
   relay_reload.c changes it while it runs, relay_upgrade.c lets another process go on, and
   relay_worker.c makes it one of several. */
#ifndef CAUSEWAY_RELAY_RELAY_INTERNAL_H
#define CAUSEWAY_RELAY_RELAY_INTERNAL_H

#include "admin/admin.h"
#include "http/descriptors.h"
#include "http/http.h"
#include "http/listener.h"
#include "http/websocket.h"
#include "limits/pre_session_limit.h"
#include "limits/tls_turns.h"
#include "os/log.h"
#include "os/loop.h"
#include "os/signals.h"
#include "os/tls.h"
#include "process/directory_filter.h"
#include "process/startup.h"
#include "process/upgrade.h"
#include "relay.h"
#include "rtc/webrtc.h"
#include "session/session.h"
#include "stats/counters.h"

#include <stdbool.h>

enum relay_state {
    RELAY_SERVING,
    RELAY_DRAINING, /* newcomers are refused, sessions go on */
    RELAY_STOPPING, /* they are being closed */
};

struct relay {
    const struct options *options; /* of the start */
    struct options reloaded;       /* since then; all zero before the first time */
    struct http_pages pages;       /* of these */
    struct descriptors descriptors;
    struct counters own_counters;
    struct counters *counters;    /* these, or those of this worker */
    unsigned worker;              /* which one this is, from 1 on; 0 = none */
    struct loop_watch supervisor; /* of a worker: the channel to its supervisor; else fd is -1 */
    struct lws_protocols protocols[4];
    struct lws_protocols redirect_protocols[2];
    unsigned redirect_port; /* to which --http-redirect sends */
    struct tls *tls;        /* NULL without --tls-certificate */
    struct handshake_budget handshakes;
    struct tls_turns *tls_turns; /* NULL without --tls-certificate */
    struct loop *loop;
    struct pre_session_limit *pre_session_limit;
    struct prefaces *prefaces;
    struct upstreams *upstreams;
    struct sessions *sessions;
    struct websockets *websockets;
    struct webrtc *webrtc; /* NULL without --rtc */
    struct http *http;
    struct listener *listeners[OPTIONS_LISTEN_MAX];
    struct listener *redirects[OPTIONS_LISTEN_MAX];
    struct admin *admin; /* NULL without --admin */
    struct signals signals;
    struct loop_timer count;        /* of a worker: its counters, for the supervisor */
    struct directory_filter filter; /* of sessions that other workers may have */
    int copy; /* of the file of options, for the next reload of a worker; -1 = the file itself */
    enum relay_state state;
    struct loop_timer stop; /* when draining, stopping or leaving has taken too long */
    struct loop_timer look; /* whether all have left a process that has been replaced */
    struct upgrade upgrade;
    struct log_limit lost_limit;
};

/* Does what a signal asks for; context is the struct relay. */
void relay_take_signal(void *context, int signal_number);

/* Brings the counters up to date. */
void relay_count(struct relay *relay);

/* Writes the counters to the log. */
void relay_log_stats(struct relay *relay);

/* No more browsers can connect. May be called again. */
void relay_close_listeners(struct relay *relay);

/* What the sessions need to know of the options. */
struct sessions_config relay_sessions_config(const struct relay *relay,
                                             const struct options *options);

/* Returns what WebRTC needs to know of the options that may change. */
struct webrtc_limits relay_webrtc_limits(const struct options *options);

/* Has the prefaces heed what the options say of proxies. */
void relay_heed_proxies(struct relay *relay);

/* Opens the admin listener, if there is to be one; a worker has none. Logs why and returns false
   when it cannot. */
bool relay_open_admin(struct relay *relay, struct startup *startup);

/* Reads the options again and heeds those that may change. Logs what is wrong with them, and then
   changes nothing. */
void relay_reload(struct relay *relay);

/* Starts a successor, unless the relay is stopping. */
void relay_begin_upgrade(struct relay *relay);

/* Carries on a session of another process, or logs that it is lost. Takes over fd. */
void relay_adopt(struct relay *relay, const void *state, size_t size, int fd);

/* Takes what a worker's supervisor has read of the certificates, and closes the copy. Logs it and
   returns false when it cannot. */
bool relay_take_certificates(struct relay *relay, int copy);

/* Another process has taken the relay over: closes the links, whose pages open others, and ends. */
void relay_leave(struct relay *relay);

/* Takes part in a relay of several processes; takes over the channel of startup. Logs why and
   returns false when it cannot. */
bool relay_become_worker(struct relay *relay, struct startup *startup);

/* Has another worker end a connection of WebRTC; context is the struct relay. */
void relay_end_other_rtc(void *context, unsigned worker, const char *name);

/* Prepares for successors, and takes over the sessions of the predecessor if there is one; until
   then nothing may be served, because it still serves. Logs why and returns false when it cannot.
 */
bool relay_take_over(struct relay *relay, struct startup *startup);

#endif
