#include "session/session_summary.h"

#include "os/log.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* The most fields of a line. Not every line has the last two. */
#define FIELDS_MAX 15

void session_summary_token(const struct session_summary *summary, char text[SESSION_TOKEN_TEXT])
{
    text[0] = '\0';
    if (summary->token_id != 0)
        snprintf(text, SESSION_TOKEN_TEXT, "%016" PRIx64, summary->token_id);
}

void session_summary_log(const struct session_summary *summary, const char *transport,
                         const char *why, unsigned others)
{
    const struct traffic *traffic = &summary->traffic;
    char client[SOCKET_ADDRESS_TEXT];
    char server[SOCKET_ADDRESS_TEXT];
    char source[SOCKET_ADDRESS_TEXT] = "none";
    char token[SESSION_TOKEN_TEXT];
    session_summary_token(summary, token);
    socket_address_format(&summary->client, client);
    socket_address_format(&summary->server, server);
    if (summary->source.size > 0)
        socket_address_format(&summary->source, source);
    struct log_field fields[FIELDS_MAX] = {
        {.name = "session", .number = (double)summary->id},
        {.name = "token", .text = token[0] ? token : "none"},
        {.name = "client", .text = client},
        {.name = "server", .text = server},
        {.name = "source", .text = source},
        {.name = "transport", .text = transport},
        {.name = "seconds", .number = round(summary->age_seconds * 1e3) / 1e3},
        {.name = "client_datagrams", .number = (double)traffic->client_datagrams},
        {.name = "client_bytes", .number = (double)traffic->client_bytes},
        {.name = "upstream_datagrams", .number = (double)traffic->upstream_datagrams},
        {.name = "upstream_bytes", .number = (double)traffic->upstream_bytes},
        {.name = "answered", .text = summary->answered ? "yes" : "no"},
        {.name = "why", .text = why},
    };
    size_t count = FIELDS_MAX - 2;
    if (!isnan(summary->rtt))
        fields[count++] =
            (struct log_field){.name = "rtt_ms", .number = round(summary->rtt * 1e6) / 1e3};
    if (others > 0)
        fields[count++] = (struct log_field){.name = "held_back", .number = others};
    log_fields(LOG_INFO, "session ended", fields, count);
}
