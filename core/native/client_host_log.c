#include "native/client_host_log.h"

#include "base/log_line.h"

static void log_server(const struct cw_log *log, const char *what, const struct cw_client *client)
{
    if (!cw_log_wants(log, CW_LOG_INFO))
        return;
    struct cw_log_line line = {0};
    cw_log_line_text(&line, what);
    cw_log_line_address(&line, cw_client_server_address(client));
    cw_log_line_write(&line, log, CW_LOG_INFO);
}

void cw_client_host_log_connecting(const struct cw_log *log, const struct cw_client *client)
{
    log_server(log, "connecting to ", client);
}

void cw_client_host_log_moving(const struct cw_log *log)
{
    if (cw_log_wants(log, CW_LOG_INFO))
        log->write(log->context, CW_LOG_INFO,
                   "the network may have changed: asking the server to move the connection");
}

static void log_end(const struct cw_log *log, const struct cw_client_event *event)
{
    const enum cw_log_level level =
        event->state < CW_CLIENT_DISCONNECTED ? CW_LOG_WARNING : CW_LOG_INFO;
    if (!cw_log_wants(log, level))
        return;
    struct cw_log_line line = {0};
    cw_log_line_text(&line, "disconnected: ");
    cw_log_line_text(&line, cw_client_state_string(event->state));
    if (event->state == CW_CLIENT_KICKED) {
        cw_log_line_text(&line, ", code ");
        cw_log_line_number(&line, event->code);
        cw_log_line_text(&line, event->text[0] ? ": " : "");
        cw_log_line_text(&line, event->text);
    }
    cw_log_line_write(&line, log, level);
}

void cw_client_host_log_event(const struct cw_log *log, const struct cw_client *client,
                              const struct cw_client_event *event)
{
    if (event->type == CW_CLIENT_EVENT_CONNECTED)
        log_server(log, "connected to ", client);
    else if (event->type == CW_CLIENT_EVENT_DISCONNECTED)
        log_end(log, event);
}
