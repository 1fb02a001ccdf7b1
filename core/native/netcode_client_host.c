#include "causeway/native/client_host.h"

#include "native/client_host_core.h"

#include <math.h>

struct cw_netcode_client_host {
    struct cw_client_host_core core;
};

static struct cw_client_host_core *core_of(struct cw_netcode_client_host *host)
{
    return host ? &host->core : NULL;
}

struct cw_netcode_client_host_config cw_netcode_client_host_config_default(void)
{
    return (struct cw_netcode_client_host_config){
        .client = cw_netcode_client_config_default(),
        .silence_seconds = CW_CLIENT_SILENCE_SECONDS,
        .log = {.level = CW_LOG_INFO},
    };
}

enum cw_error cw_netcode_client_host_open(const struct cw_netcode_client_host_config *config,
                                          struct cw_netcode_client_host **host)
{
    if (!config || !host)
        return CW_ERROR_INVALID_ARGUMENT;
    const struct cw_client_host_core_config core_config = {
        .netcode = &config->client,
        .silence_seconds = config->silence_seconds,
        .token = config->token,
        .token_context = config->token_context,
        .log = config->log,
    };
    struct cw_client_host_core *core = NULL;
    const enum cw_error error = cw_client_host_core_open(&core_config, &core);
    if (error == CW_OK)
        *host = (struct cw_netcode_client_host *)core; /* its first member */
    return error;
}

void cw_netcode_client_host_close(struct cw_netcode_client_host *host)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD_LAST(core);
    if (core)
        cw_client_host_core_close(core);
}

enum cw_error cw_netcode_client_host_connect(struct cw_netcode_client_host *host,
                                             const uint8_t *token, size_t size)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core ? cw_client_host_core_connect(core, token, size) : CW_ERROR_INVALID_ARGUMENT;
}

enum cw_error cw_netcode_client_host_connect_insecure(struct cw_netcode_client_host *host,
                                                      const char *server, uint64_t protocol_id,
                                                      uint64_t client_id)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core && server
               ? cw_client_host_core_connect_insecure(core, server, protocol_id, client_id)
               : CW_ERROR_INVALID_ARGUMENT;
}

bool cw_netcode_client_host_reconnects(const struct cw_netcode_client_host *host)
{
    return host && cw_client_policy_returns(&host->core.policy);
}

void cw_netcode_client_host_flush_and_disconnect(struct cw_netcode_client_host *host,
                                                 double flush_seconds)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    if (core && isfinite(flush_seconds))
        cw_client_host_core_flush_and_disconnect(core, flush_seconds);
}

struct cw_netcode_client *cw_netcode_client_host_client(struct cw_netcode_client_host *host)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core ? core->netcode : NULL;
}

bool cw_netcode_client_host_next(struct cw_netcode_client_host *host, double until,
                                 struct cw_netcode_client_event *event)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    return core && event && cw_client_host_core_next(core, until, event);
}

void cw_netcode_client_host_update(struct cw_netcode_client_host *host)
{
    struct cw_client_host_core *core = core_of(host);
    CW_ONE_THREAD(core);
    if (core)
        cw_client_host_core_update(core);
}
