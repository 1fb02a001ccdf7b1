#include "os/log.h"
#include "process/notify.h"
#include "relay_internal.h"

#include <unistd.h>

struct sessions_config relay_sessions_config(const struct relay *relay,
                                             const struct options *options)
{
    return (struct sessions_config){
        .upstreams = relay->upstreams,
        .gate = options->gate,
        .allowance = options->allowance,
        .max_sessions = relay->descriptors.sessions,
        .max_per_address = options->max_per_address,
        .request_timeout_seconds = options->request_timeout_seconds,
        .answer_timeout_seconds = options->answer_timeout_seconds,
        .idle_timeout_seconds = options->idle_timeout_seconds,
        .resume_seconds = options->resume_seconds,
        .worker = relay->worker,
    };
}

struct webrtc_limits relay_webrtc_limits(const struct options *options)
{
    return (struct webrtc_limits){
        .max_per_address = options->max_per_address,
        .bytes_per_second = options->peer_bytes_per_second,
        .packets_per_second = options->allowance.packets_per_second,
    };
}

void relay_heed_proxies(struct relay *relay)
{
    const struct forwarded *forwarded = &relay->pages.forwarded;
    if (!relay->tls)
        prefaces_read_heads(relay->prefaces, &forwarded->trusted, forwarded_name(forwarded),
                            forwarded_once(forwarded));
}

static void heed(struct relay *relay, const struct options *options)
{
    const struct sessions_config sessions = relay_sessions_config(relay, options);
    const struct webrtc_limits webrtc = relay_webrtc_limits(options);
    log_set_level(options->log_level);
    log_set_format(options->log_format);
    loop_gather(relay->loop, options->coalesce_us * 1e-6);
    relay->pages = options->pages;
    relay_heed_proxies(relay);
    upstreams_set(relay->upstreams, &options->upstreams);
    pre_session_limit_set(relay->pre_session_limit, options->max_per_address);
    webrtc_set_limits(relay->webrtc, &webrtc);
    sessions_set_limits(relay->sessions, &sessions);
}

static void reload(struct relay *relay)
{
    struct options old = relay->reloaded;
    struct options options;
    struct options_error error;
    const int copy = relay->copy;
    relay->copy = -1;
    const bool loaded =
        options_load(relay->options->argc, relay->options->argv, copy, &options, &error);
    if (copy >= 0)
        close(copy);
    if (!loaded) {
        log_error("not reloaded: %s", error.text);
        return;
    }
    /* A worker gets them from its supervisor. */
    if (relay->worker == 0 && !tls_reload(relay->tls, &options.tls)) {
        log_error("not reloaded");
        options_free(&options);
        return;
    }
    relay->reloaded = options;
    heed(relay, &relay->reloaded);
    options_free(&old);
    log_info("reloaded the options");
    const char *name = NULL;
    while ((name = options_next_fixed(relay->options, &relay->reloaded, name)))
        log_warn("%s has changed: restart the relay to apply it", name);
}

void relay_reload(struct relay *relay)
{
    notify_reloading();
    reload(relay);
    notify_send("READY=1");
}
