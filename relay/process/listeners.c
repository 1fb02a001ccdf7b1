#include "process/listeners.h"

#include "http/redirect.h"
#include "os/log.h"
#include "process/startup.h"

static bool open_each(const char *const *texts, unsigned count,
                      const struct listener_config *config, struct listener **out)
{
    for (unsigned i = 0; i < count; i++) {
        out[i] = listener_create(texts[i], config);
        if (!out[i])
            return false;
    }
    return true;
}

bool listeners_open(struct listeners *listeners, const struct options *options,
                    const struct listener_config *config, const struct http_config *redirect)
{
    struct listener_config redirects = *config;
    if (!open_each(options->listen, options->listen_count, config, listeners->listen))
        return false;
    listeners->port = listener_port(listeners->listen[0]);
    if (options->http_redirect_count == 0)
        return true;
    listeners->redirect = http_create(redirect);
    if (!listeners->redirect) {
        log_error("no memory");
        return false;
    }
    redirect_add_route(listeners->redirect, &listeners->port);
    redirects.http = listeners->redirect;
    return open_each(options->http_redirect, options->http_redirect_count, &redirects,
                     listeners->redirects);
}

bool listeners_send(const struct listeners *listeners, int channel)
{
    bool sent = true;
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX && listeners->listen[i]; i++)
        sent = sent && startup_send_socket(channel, listener_socket(listeners->listen[i]));
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX && listeners->redirects[i]; i++)
        sent = sent && startup_send_socket(channel, listener_socket(listeners->redirects[i]));
    return sent;
}

void listeners_announce(const struct listeners *listeners)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX && listeners->redirects[i]; i++)
        listener_announce(listeners->redirects[i], "redirecting from");
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX && listeners->listen[i]; i++)
        listener_announce(listeners->listen[i], "listening on");
}

void listeners_stop(struct listeners *listeners)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_stop(listeners->listen[i]);
        listener_stop(listeners->redirects[i]);
    }
}

void listeners_close(struct listeners *listeners)
{
    for (unsigned i = 0; i < OPTIONS_LISTEN_MAX; i++) {
        listener_destroy(listeners->listen[i]);
        listeners->listen[i] = NULL;
        listener_destroy(listeners->redirects[i]);
        listeners->redirects[i] = NULL;
    }
}

void listeners_free(struct listeners *listeners)
{
    http_destroy(listeners->redirect);
    listeners->redirect = NULL;
}
