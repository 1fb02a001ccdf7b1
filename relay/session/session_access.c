#include "session/session_internal.h"

#include <math.h>

/* The last two are not in each line. */
#define FIELDS_MAX 14

/* Everybody can open sessions that the game server does not answer: one line in a while tells of
   them, and each only at the level debug. Those of players are all told. */
static bool may_log(struct session *session, unsigned *held)
{
    *held = 0;
    return log_wants(LOG_INFO) && (session->allowance.answered || log_wants(LOG_DEBUG) ||
                                   log_limit_pass(&session->all->ended_limit, loop_now(), held));
}

void session_log_end(struct session *session, const char *why)
{
    const struct traffic *traffic = &session->traffic;
    char client[SOCKET_ADDRESS_TEXT];
    char server[SOCKET_ADDRESS_TEXT];
    char source[SOCKET_ADDRESS_TEXT] = "none";
    struct socket_address local;
    unsigned held;
    if (!may_log(session, &held))
        return;
    socket_address_format(&session->client, client);
    socket_address_format(&session->server, server);
    if (upstream_local(&session->upstream, &local))
        socket_address_format(&local, source);
    const double rtt = session_rtt(session);
    struct log_field fields[FIELDS_MAX] = {
        {.name = "session", .number = (double)session->id},
        {.name = "client", .text = client},
        {.name = "server", .text = server},
        {.name = "source", .text = source},
        {.name = "transport", .text = session->transport ? session->transport->name : "none"},
        {.name = "seconds", .number = round((loop_now() - session->opened) * 1e3) / 1e3},
        {.name = "client_datagrams", .number = (double)traffic->client_datagrams},
        {.name = "client_bytes", .number = (double)traffic->client_bytes},
        {.name = "upstream_datagrams", .number = (double)traffic->upstream_datagrams},
        {.name = "upstream_bytes", .number = (double)traffic->upstream_bytes},
        {.name = "answered", .text = session->allowance.answered ? "yes" : "no"},
        {.name = "why", .text = why},
    };
    size_t count = FIELDS_MAX - 2;
    if (!isnan(rtt))
        fields[count++] = (struct log_field){.name = "rtt_ms", .number = round(rtt * 1e6) / 1e3};
    if (held > 0)
        fields[count++] = (struct log_field){.name = "held_back", .number = held};
    log_fields(LOG_INFO, "session ended", fields, count);
}
