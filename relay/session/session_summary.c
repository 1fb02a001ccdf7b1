#include "session/session_summary.h"

#include "os/log.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* The fields that each line has, and the most: the others are the round-trip time, how many lines
   were held back, and the drops. */
#define FIELDS     13
#define FIELDS_MAX (FIELDS + 2 + sizeof(struct drops) / sizeof(uint32_t))

void session_summary_token(const struct session_summary *summary, char text[SESSION_TOKEN_TEXT])
{
    text[0] = '\0';
    if (summary->token_id != 0)
        snprintf(text, SESSION_TOKEN_TEXT, "%016" PRIx64, summary->token_id);
}

void session_summary_log(const struct session_summary *summary, const char *what,
                         const char *transport, const char *why, unsigned held_back)
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
    size_t count = FIELDS;
    if (!isnan(summary->rtt))
        fields[count++] =
            (struct log_field){.name = "rtt_ms", .number = round(summary->rtt * 1e6) / 1e3};
#define SUMMARY_DROP(name_, help)                                                                  \
    if (summary->drops.name_ > 0)                                                                  \
        fields[count++] = (struct log_field){.name = #name_, .number = summary->drops.name_};
    STATS_DROPPED_TO_SERVER(SUMMARY_DROP)
    STATS_DROPPED_TO_BROWSER(SUMMARY_DROP)
#undef SUMMARY_DROP
    if (held_back > 0)
        fields[count++] = (struct log_field){.name = "held_back", .number = held_back};
    log_fields(LOG_INFO, what, fields, count);
}
