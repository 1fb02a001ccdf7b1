#include "admin/steering.h"

#include "net/log.h"
#include "session/session_look.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Sessions in one reply. */
#define PAGE_MAX 1000

/* The longest block: a year. */
#define BLOCK_SECONDS_MAX 31536000

#define JSON "application/json"

static void refuse(struct admin_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    text_add(&reply->body, "%s\n", text);
}

/* A whole number from 1 to `most`. */
static bool read_number(const char *text, unsigned long most, unsigned long *out)
{
    const size_t digits = strspn(text, "0123456789");
    *out = strtoul(text, NULL, 10); /* the most that fits for more */
    return digits > 0 && text[digits] == '\0' && *out >= 1 && *out <= most;
}

/* True too when there is none, and *out stays. */
static bool read_parameter(const char *text, const char *name, unsigned long most,
                           unsigned long *out)
{
    char value[24];
    return admin_request_parameter(text, name, value, sizeof value) &&
           (!value[0] || read_number(value, most, out));
}

struct page {
    struct text *out;
    unsigned count;
};

static void add_session(void *context, const struct session_facts *facts)
{
    struct page *page = context;
    struct text *out = page->out;
    char client[SOCKET_ADDRESS_TEXT];
    char server[SOCKET_ADDRESS_TEXT];
    socket_address_format(&facts->client, client);
    socket_address_format(&facts->server, server);
    text_add(out, "%s\n{\"id\":%lu,\"client\":\"%s\",\"server\":\"%s\",\"upstream_port\":%u,",
             page->count++ > 0 ? "," : "", facts->id, client, server, facts->upstream_port);
    text_add(out, "\"answered\":%s,\"age_seconds\":%.3f,\"transports\":[",
             facts->answered ? "true" : "false", facts->age_seconds);
    for (unsigned i = 0; i < facts->transport_count; i++)
        text_add(out, "%s\"%s\"", i > 0 ? "," : "", facts->transports[i]);
    text_add(out,
             "],\"client_datagrams\":%" PRIu64 ",\"client_bytes\":%" PRIu64
             ",\"upstream_datagrams\":%" PRIu64 ",\"upstream_bytes\":%" PRIu64 "}",
             facts->traffic.client_datagrams, facts->traffic.client_bytes,
             facts->traffic.upstream_datagrams, facts->traffic.upstream_bytes);
}

void steering_list_sessions(struct sessions *sessions, const struct admin_request *request,
                            const char *rest, struct admin_reply *reply)
{
    unsigned long after = 0;
    unsigned long limit = PAGE_MAX;
    struct page page = {.out = &reply->body};
    (void)rest;
    if (!read_parameter(request->query, "after", ULONG_MAX, &after) ||
        !read_parameter(request->query, "limit", PAGE_MAX, &limit)) {
        refuse(reply, 400, "after is the id of a session, and limit a number from 1 to 1000.");
        return;
    }
    reply->type = JSON;
    text_add(&reply->body, "{\"sessions\":[");
    const unsigned long next = sessions_list(sessions, after, limit, add_session, &page);
    text_add(&reply->body, "\n],\"next_after\":");
    text_add(&reply->body, next > 0 ? "%lu}\n" : "null}\n", next);
}

void steering_end_session(struct sessions *sessions, const struct admin_request *request,
                          const char *rest, struct admin_reply *reply)
{
    unsigned long id;
    (void)request;
    if (!read_number(rest, ULONG_MAX, &id) || !sessions_end_one(sessions, id)) {
        refuse(reply, 404, "There is no such session.");
        return;
    }
    log_info("session %lu ended by the operator", id);
    reply->type = JSON;
    text_add(&reply->body, "{\"ended\":1}\n");
}

void steering_list_blocks(struct sessions *sessions, const struct admin_request *request,
                          const char *rest, struct admin_reply *reply)
{
    struct blocks *blocks = sessions_blocks(sessions);
    const double now = loop_now();
    (void)request;
    (void)rest;
    blocks_expire(blocks, now);
    reply->type = JSON;
    text_add(&reply->body, "{\"blocks\":[");
    for (unsigned i = 0; i < blocks->count; i++) {
        char prefix[PREFIX_TEXT];
        prefix_format(&blocks->list[i].prefix, prefix);
        text_add(&reply->body, "%s\n{\"prefix\":\"%s\",\"seconds_left\":%.3f}", i > 0 ? "," : "",
                 prefix, blocks->list[i].until - now);
    }
    text_add(&reply->body, "\n]}\n");
}

void steering_block(struct sessions *sessions, const struct admin_request *request,
                    const char *rest, struct admin_reply *reply)
{
    char text[PREFIX_TEXT];
    struct prefix prefix;
    unsigned long seconds = 0;
    const double now = loop_now();
    (void)rest;
    if (!admin_request_parameter(request->body, "prefix", text, sizeof text) ||
        !prefix_parse(text, &prefix) ||
        !read_parameter(request->body, "seconds", BLOCK_SECONDS_MAX, &seconds) || seconds == 0) {
        refuse(reply, 400,
               "The body must be prefix=P&seconds=N: an address or a prefix, as in 192.0.2.7 or "
               "10.0.0.0/8, and a number from 1 to 31536000.");
        return;
    }
    if (!blocks_add(sessions_blocks(sessions), &prefix, now + (double)seconds, now)) {
        refuse(reply, 503, "There are too many blocks.");
        return;
    }
    const unsigned ended = sessions_end_of(sessions, &prefix);
    prefix_format(&prefix, text);
    log_info("%s blocked by the operator for %lu seconds: %u sessions ended", text, seconds, ended);
    reply->type = JSON;
    text_add(&reply->body, "{\"ended\":%u}\n", ended);
}

void steering_unblock(struct sessions *sessions, const struct admin_request *request,
                      const char *rest, struct admin_reply *reply)
{
    struct prefix prefix;
    (void)request;
    if (!prefix_parse(rest, &prefix) || !blocks_remove(sessions_blocks(sessions), &prefix)) {
        refuse(reply, 404, "There is no such block.");
        return;
    }
    log_info("%s no longer blocked by the operator", rest);
    reply->type = JSON;
    text_add(&reply->body, "{\"removed\":1}\n");
}
