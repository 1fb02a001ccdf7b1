#include "causeway/native/host.h"

#include "native/host_core.h"

struct cw_netcode_host {
    struct cw_host_core core;
};

static struct cw_host_core *core_of(struct cw_netcode_host *host)
{
    return host ? &host->core : NULL;
}

struct cw_netcode_host_config cw_netcode_host_config_default(void)
{
    return (struct cw_netcode_host_config){.server = cw_netcode_server_config_default()};
}

enum cw_error cw_netcode_host_open(const char *listen, const struct cw_netcode_host_config *config,
                                   struct cw_netcode_host **host)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_host_proxies proxies = {config->trusted_proxies, config->trusted_proxy_count};
    struct cw_host_core *core = NULL;
    const enum cw_error error =
        host ? cw_host_core_open(listen, &config->server, NULL, &proxies, &core)
             : CW_ERROR_INVALID_ARGUMENT;
    if (error == CW_OK)
        *host = (struct cw_netcode_host *)core; /* its first member */
    return error;
}

void cw_netcode_host_close(struct cw_netcode_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD_LAST(core);
    if (core)
        cw_host_core_close(core);
}

struct cw_netcode_server *cw_netcode_host_server(struct cw_netcode_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core ? core->netcode : NULL;
}

const struct cw_address *cw_netcode_host_address(const struct cw_netcode_host *host)
{
    return host ? &host->core.address : NULL;
}

bool cw_netcode_host_next(struct cw_netcode_host *host, double until,
                          struct cw_netcode_server_event *event)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core && event && cw_host_core_next(core, until, event);
}

void cw_netcode_host_update(struct cw_netcode_host *host)
{
    struct cw_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    if (core)
        cw_host_core_update(core);
}
