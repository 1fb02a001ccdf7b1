#include "netcode/server_log.h"

#include "base/log_line.h"

#define BURST      10.0
#define PER_SECOND 1.0

void cw_server_log_insecure(const struct cw_log *log)
{
    if (cw_log_wants(log, CW_LOG_WARNING))
        log->write(
            log->context, CW_LOG_WARNING,
            "INSECURE: this server lets in whoever asks, as any player; for development only");
}

static struct cw_log_line line_about(uint32_t slot, uint64_t id, const char *what)
{
    struct cw_log_line line = {0};
    cw_log_line_text(&line, "client ");
    cw_log_line_number(&line, slot);
    cw_log_line_text(&line, " (id ");
    cw_log_line_number(&line, id);
    cw_log_line_text(&line, what);
    return line;
}

void cw_server_log_connected(const struct cw_log *log, uint32_t slot, uint64_t id,
                             uint64_t token_id, const struct cw_address *from)
{
    if (!cw_log_wants(log, CW_LOG_INFO))
        return;
    struct cw_log_line line = line_about(slot, id, ") connected from ");
    cw_log_line_address(&line, from);
    cw_log_line_text(&line, " with token ");
    cw_log_line_hexadecimal(&line, token_id);
    cw_log_line_write(&line, log, CW_LOG_INFO);
}

/* Returns whether one more line may be written now. */
static bool has_room(struct cw_server_log_limit *limit, double now)
{
    if (now > limit->time)
        limit->used -= (now - limit->time) * PER_SECOND;
    if (limit->used < 0)
        limit->used = 0;
    limit->time = now;
    if (limit->used + 1 > BURST) {
        limit->hidden++;
        return false;
    }
    limit->used += 1;
    return true;
}

/* Ends a line that there was room for with how many were left out. */
static void tell_hidden(struct cw_log_line *line, struct cw_server_log_limit *limit)
{
    if (limit->hidden > 0) {
        cw_log_line_text(line, " (");
        cw_log_line_number(line, limit->hidden);
        cw_log_line_text(line, " such lines were left out before this one)");
    }
    limit->hidden = 0;
}

void cw_server_log_moved(const struct cw_log *log, struct cw_server_log_limit *limit, uint32_t slot,
                         uint64_t id, const struct cw_address *to, double now)
{
    if (!cw_log_wants(log, CW_LOG_INFO) || !has_room(limit, now))
        return;
    struct cw_log_line line = line_about(slot, id, ") moved to ");
    cw_log_line_address(&line, to);
    tell_hidden(&line, limit);
    cw_log_line_write(&line, log, CW_LOG_INFO);
}

static const char *why(enum cw_disconnect_reason reason)
{
    switch (reason) {
    case CW_DISCONNECT_BY_CLIENT:
        return "the client has left";
    case CW_DISCONNECT_TIMED_OUT:
        return "timed out, nothing came any more";
    case CW_DISCONNECT_REPLACED:
        return "the same client has connected anew";
    case CW_DISCONNECT_STOPPING:
        return "the server is stopping";
    case CW_DISCONNECT_BY_SERVER:
        break;
    }
    return "by the server, code ";
}

void cw_server_log_disconnected(const struct cw_log *log, uint32_t slot, uint64_t id,
                                const struct cw_farewell *farewell)
{
    if (!cw_log_wants(log, CW_LOG_INFO))
        return;
    struct cw_log_line line = line_about(slot, id, ") disconnected: ");
    cw_log_line_text(&line, why(farewell->reason));
    if (farewell->reason == CW_DISCONNECT_BY_SERVER) {
        cw_log_line_number(&line, farewell->code);
        cw_log_line_text(&line, farewell->text[0] ? ": " : "");
        cw_log_line_text(&line, farewell->text);
    }
    cw_log_line_write(&line, log, CW_LOG_INFO);
}

void cw_server_log_refused(const struct cw_log *log, struct cw_server_log_limit *limit,
                           const struct cw_server_log_refusal *refusal, double now)
{
    const enum cw_log_level level = refusal->is_request ? CW_LOG_WARNING : CW_LOG_DEBUG;
    if (!cw_log_wants(log, level) || !has_room(limit, now))
        return;
    struct cw_log_line line = {0};
    cw_log_line_text(&line, refusal->is_request ? "refused " : "dropped a packet from ");
    cw_log_line_address(&line, refusal->from);
    cw_log_line_text(&line, ": ");
    cw_log_line_text(&line, cw_error_string(refusal->error));
    tell_hidden(&line, limit);
    cw_log_line_write(&line, log, level);
}
