/* The lines that a client host logs. */
#ifndef CAUSEWAY_NATIVE_CLIENT_HOST_LOG_H
#define CAUSEWAY_NATIVE_CLIENT_HOST_LOG_H

#include "causeway/client.h"
#include "causeway/log.h"

void cw_client_host_log_connecting(const struct cw_log *log, const struct cw_client *client);
/* Logs that the client may have another address now. */
void cw_client_host_log_moving(const struct cw_log *log);
/* Only CONNECTED and DISCONNECTED are logged. */
void cw_client_host_log_event(const struct cw_log *log, const struct cw_client *client,
                              const struct cw_client_event *event);

#endif
