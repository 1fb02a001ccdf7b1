#include "causeway/native/host.h"

#include "native/host_core.h"

struct cw_host {
    struct cw_host_core core;
};

static struct cw_host_core *core_of(struct cw_host *host)
{
    return host ? &host->core : NULL;
}

struct cw_host_config cw_host_config_default(void)
{
    return (struct cw_host_config){.server = cw_server_config_default()};
}

enum cw_error cw_host_open(const char *listen, const struct cw_host_config *config,
                           struct cw_host **host)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_host_proxies proxies = {config->trusted_proxies, config->trusted_proxy_count};
    struct cw_host_core *core = NULL;
    const enum cw_error error =
        host ? cw_host_core_open(listen, &config->server.netcode, &config->server, &proxies, &core)
             : CW_ERROR_INVALID_ARGUMENT;
    if (error == CW_OK)
        *host = (struct cw_host *)core; /* its first member */
    return error;
}

void cw_host_close(struct cw_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD_LAST(core);
    if (core)
        cw_host_core_close(core);
}

struct cw_server *cw_host_server(struct cw_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core ? core->server : NULL;
}

const struct cw_address *cw_host_address(const struct cw_host *host)
{
    return host ? &host->core.address : NULL;
}

bool cw_host_next(struct cw_host *host, double until, struct cw_server_event *event)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core && event && cw_host_core_next(core, until, event);
}

void cw_host_update(struct cw_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    if (core)
        cw_host_core_update(core);
}
