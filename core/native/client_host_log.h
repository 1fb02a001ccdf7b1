/* The lines that a client host logs. */
#ifndef CAUSEWAY_NATIVE_CLIENT_HOST_LOG_H
#define CAUSEWAY_NATIVE_CLIENT_HOST_LOG_H

#include "causeway/base.h"
#include "causeway/netcode_client.h"

/* The line begins with `what`: "connecting to " or "connected to ". */
void cw_client_host_log_server(const struct cw_log *log, const char *what,
                               const struct cw_netcode_client *client);
/* Logs that the client may have another address now. */
void cw_client_host_log_moving(const struct cw_log *log);
void cw_client_host_log_end(const struct cw_log *log, enum cw_client_state state, uint32_t code,
                            const char *text);

#endif
