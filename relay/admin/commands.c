#include "admin/commands.h"

#include "admin/recording.h"
#include "http/form.h"
#include "os/log.h"
#include "os/loop.h"
#include "session/session.h"
#include "stats/gauges.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest block in seconds: a year. */
#define BLOCK_SECONDS_MAX 31536000

#define JSON "application/json"

/* Reads a whole number from 1 to `most`. */
static bool read_number(const char *text, unsigned long most, unsigned long *out)
{
    const size_t digits = strspn(text, "0123456789");
    *out = strtoul(text, NULL, 10); /* strtoul returns ULONG_MAX when the number does not fit */
    return digits > 0 && text[digits] == '\0' && *out >= 1 && *out <= most;
}

/* Reads a number from a parameter. When there is no such parameter, it leaves *out and returns
   true. */
static bool read_parameter(const char *text, const char *name, unsigned long most,
                           unsigned long *out)
{
    char value[24];
    return form_value(text, name, value, sizeof value) &&
           (!value[0] || read_number(value, most, out));
}

bool commands_read_list(const struct http_request *request, struct command *command,
                        struct http_response *response)
{
    command->kind = COMMAND_LIST;
    command->limit = COMMAND_LIST_MAX;
    if (read_parameter(request->query, "after", ULONG_MAX, &command->id) &&
        read_parameter(request->query, "limit", COMMAND_LIST_MAX, &command->limit))
        return true;
    response_say(response, HTTP_BAD_REQUEST,
                 "after is the id of a session, and limit a number from 1 to 1000.");
    return false;
}

static void refuse_record(struct http_response *response)
{
    response_say(response, HTTP_NOT_FOUND,
                 "There is no such session, or it is not recorded: see --record.");
}

bool commands_read_record(const struct http_request *request, struct command *command,
                          struct http_response *response)
{
    char id[24];
    const size_t digits = strcspn(request->rest, "/");
    command->kind = COMMAND_RECORD;
    command->limit = SESSION_RECORD_PARTS + 1;
    snprintf(id, sizeof id, "%.*s", (int)(digits < sizeof id ? digits : 0), request->rest);
    if (strcmp(request->rest + digits, "/record") == 0 && read_number(id, ULONG_MAX, &command->id))
        return true;
    refuse_record(response);
    return false;
}

static void refuse_end(struct http_response *response)
{
    response_say(response, HTTP_NOT_FOUND, "There is no such session.");
}

bool commands_read_end(const struct http_request *request, struct command *command,
                       struct http_response *response)
{
    command->kind = COMMAND_END;
    if (read_number(request->rest, ULONG_MAX, &command->id))
        return true;
    refuse_end(response);
    return false;
}

bool commands_read_block(const struct http_request *request, struct command *command,
                         struct http_response *response)
{
    char text[PREFIX_TEXT];
    unsigned long seconds = 0;
    command->kind = COMMAND_BLOCK;
    if (form_value(request->body, "prefix", text, sizeof text) &&
        prefix_parse(text, &command->block.prefix) &&
        read_parameter(request->body, "seconds", BLOCK_SECONDS_MAX, &seconds) && seconds > 0) {
        command->block.until = loop_now() + (double)seconds;
        return true;
    }
    response_say(response, HTTP_BAD_REQUEST,
                 "The body must be prefix=P&seconds=N: an address or a prefix, as in 192.0.2.7 or "
                 "10.0.0.0/8, and a number from 1 to 31536000.");
    return false;
}

static void refuse_unblock(struct http_response *response)
{
    response_say(response, HTTP_NOT_FOUND, "There is no such block.");
}

bool commands_read_unblock(const struct http_request *request, struct command *command,
                           struct http_response *response)
{
    command->kind = COMMAND_UNBLOCK;
    if (prefix_parse(request->rest, &command->block.prefix))
        return true;
    refuse_unblock(response);
    return false;
}

/* Adds a number; one that is not known, or without end, as null. */
static void add_number(struct text *out, double number)
{
    if (isfinite(number))
        text_add(out, "%.3f", number);
    else
        text_add(out, "null");
}

static void add_session(struct text *out, const struct session_summary *summary)
{
    char client[SOCKET_ADDRESS_TEXT];
    char server[SOCKET_ADDRESS_TEXT];
    char source[SOCKET_ADDRESS_TEXT] = "";
    char token[SESSION_TOKEN_TEXT];
    socket_address_format(&summary->client, client);
    socket_address_format(&summary->server, server);
    if (summary->source.size > 0)
        socket_address_format(&summary->source, source);
    session_summary_token(summary, token);
    text_add(
        out,
        "\n{\"id\":%lu,\"token\":\"%s\",\"client\":\"%s\",\"server\":\"%s\",\"source\":\"%s\",",
        summary->id, token, client, server, source);
    text_add(out, "\"answered\":%s,\"age_seconds\":%.3f,\"transports\":[",
             summary->answered ? "true" : "false", summary->age_seconds);
    for (unsigned i = 0; i < summary->transport_count; i++)
        text_add(out, "%s\"%s\"", i > 0 ? "," : "", gauges_transports[summary->transports[i]]);
    text_add(out, "],\"rtt_ms\":");
    add_number(out, summary->rtt * 1e3);
    text_add(out,
             ",\"client_datagrams\":%" PRIu64 ",\"client_bytes\":%" PRIu64
             ",\"upstream_datagrams\":%" PRIu64 ",\"upstream_bytes\":%" PRIu64 "}",
             summary->traffic.client_datagrams, summary->traffic.client_bytes,
             summary->traffic.upstream_datagrams, summary->traffic.upstream_bytes);
}

/* Adds the last member of a JSON object, the number of silent workers. */
static void add_silent(struct text *out, unsigned silent)
{
    if (silent > 0)
        text_add(out, ",\"silent_workers\":%u", silent);
    text_add(out, "}\n");
}

static void answer_list(const struct command_result *result, const struct session_summary *page,
                        struct http_response *response)
{
    struct text *out = &response->body;
    if (!result->done) {
        response_say(response, HTTP_SERVICE_UNAVAILABLE, "There is no memory for it.");
        return;
    }
    response->type = JSON;
    text_add(out, "{\"sessions\":[");
    for (unsigned i = 0; i < result->count; i++) {
        text_add(out, "%s", i > 0 ? "," : "");
        add_session(out, &page[i]);
    }
    text_add(out, "\n],\"next_after\":");
    text_add(out, result->has_more ? "%lu" : "null",
             result->has_more ? page[result->count - 1].id : 0);
    add_silent(out, result->silent);
}

static void answer_record(const struct command_result *result, const struct session_summary *page,
                          struct http_response *response)
{
    if (!result->done) {
        refuse_record(response);
        return;
    }
    response->type = "application/octet-stream";
    recording_write(page, result->count, &response->body);
}

static void answer_end(const struct command *command, const struct command_result *result,
                       struct http_response *response)
{
    if (!result->done) {
        refuse_end(response);
        return;
    }
    log_info("session %lu ended by the operator", command->id);
    response->type = JSON;
    text_add(&response->body, "{\"ended\":%u}\n", result->count);
}

static void answer_block(const struct command *command, const struct command_result *result,
                         struct http_response *response)
{
    char text[PREFIX_TEXT];
    if (!result->done) {
        response_say(response, HTTP_SERVICE_UNAVAILABLE, "There are too many blocks.");
        return;
    }
    prefix_format(&command->block.prefix, text);
    log_info("%s blocked by the operator for %ld seconds: %s ended", text,
             lround(command->block.until - loop_now()), log_count(result->count, "session").text);
    response->type = JSON;
    text_add(&response->body, "{\"ended\":%u", result->count);
    add_silent(&response->body, result->silent);
}

static void answer_unblock(const struct command *command, const struct command_result *result,
                           struct http_response *response)
{
    char text[PREFIX_TEXT];
    if (!result->done) {
        refuse_unblock(response);
        return;
    }
    prefix_format(&command->block.prefix, text);
    log_info("%s no longer blocked by the operator", text);
    response->type = JSON;
    text_add(&response->body, "{\"removed\":1");
    add_silent(&response->body, result->silent);
}

void commands_answer(const struct command *command, const struct command_result *result,
                     const struct session_summary *page, struct http_response *response)
{
    if (!result->done && result->silent > 0) {
        response_say(response, HTTP_SERVICE_UNAVAILABLE, "A worker does not answer.");
        return;
    }
    switch (command->kind) {
    case COMMAND_LIST:
        answer_list(result, page, response);
        break;
    case COMMAND_RECORD:
        answer_record(result, page, response);
        break;
    case COMMAND_END:
        answer_end(command, result, response);
        break;
    case COMMAND_BLOCK:
        answer_block(command, result, response);
        break;
    case COMMAND_UNBLOCK:
        answer_unblock(command, result, response);
        break;
    }
}

void commands_list_blocks(struct blocks *blocks, struct http_response *response)
{
    const double now = loop_now();
    blocks_expire(blocks, now);
    response->type = JSON;
    text_add(&response->body, "{\"blocks\":[");
    for (unsigned i = 0; i < blocks->count; i++) {
        char prefix[PREFIX_TEXT];
        prefix_format(&blocks->list[i].prefix, prefix);
        text_add(&response->body, "%s\n{\"prefix\":\"%s\",\"seconds_left\":", i > 0 ? "," : "",
                 prefix);
        add_number(&response->body, blocks->list[i].until - now);
        text_add(&response->body, "}");
    }
    text_add(&response->body, "\n]}\n");
}
