#include "native/client_host_log.h"

#include "base/log_line.h"

void cw_client_host_log_server(const struct cw_log *log, const char *what,
                               const struct cw_netcode_client *client)
{
    if (!cw_log_wants(log, CW_LOG_INFO))
        return;
    struct cw_log_line line = {0};
    cw_log_line_text(&line, what);
    cw_log_line_address(&line, cw_netcode_client_server_address(client));
    cw_log_line_write(&line, log, CW_LOG_INFO);
}

void cw_client_host_log_moving(const struct cw_log *log)
{
    if (cw_log_wants(log, CW_LOG_INFO))
        log->write(log->context, CW_LOG_INFO,
                   "the network may have changed: asking the server to move the connection");
}

void cw_client_host_log_end(const struct cw_log *log, enum cw_client_state state, uint32_t code,
                            const char *text)
{
    const enum cw_log_level level = state < CW_CLIENT_DISCONNECTED ? CW_LOG_WARNING : CW_LOG_INFO;
    if (!cw_log_wants(log, level))
        return;
    struct cw_log_line line = {0};
    cw_log_line_text(&line, "disconnected: ");
    cw_log_line_text(&line, cw_client_state_string(state));
    if (state == CW_CLIENT_KICKED) {
        cw_log_line_text(&line, ", code ");
        cw_log_line_number(&line, code);
        cw_log_line_text(&line, text[0] ? ": " : "");
        cw_log_line_text(&line, text);
    }
    cw_log_line_write(&line, log, level);
}
