/* This stands in for WebTransport where its libraries are missing. */
#include "os/log.h"
#include "webtransport/webtransport.h"

bool webtransport_check(const char *certificate, const char *key)
{
    (void)certificate;
    (void)key;
    log_error(
        "no --webtransport: this relay was built without it, because ngtcp2 1.11 or newer with "
        "GnuTLS and nghttp3 1.8 were missing; see WebTransport in the relay's README");
    return false;
}

struct webtransport *webtransport_create(const struct webtransport_config *config,
                                         struct loop *loop, struct sessions *sessions,
                                         struct http *http, struct stats *stats)
{
    (void)loop;
    (void)sessions;
    (void)http;
    (void)stats;
    (void)webtransport_check(config->certificate, config->key);
    return NULL;
}

void webtransport_set_limits(struct webtransport *webtransport, const struct webrtc_limits *limits)
{
    (void)webtransport;
    (void)limits;
}

bool webtransport_reload(struct webtransport *webtransport, const char *certificate,
                         const char *key)
{
    (void)webtransport;
    (void)certificate;
    (void)key;
    return true;
}

void webtransport_turn(struct webtransport *webtransport)
{
    (void)webtransport;
}

void webtransport_leave(struct webtransport *webtransport)
{
    (void)webtransport;
}

void webtransport_destroy(struct webtransport *webtransport)
{
    (void)webtransport;
}
