#include "admin/admin.h"

#include "admin/commands.h"
#include "http/descriptors.h"
#include "http/listener.h"
#include "os/log.h"

#include <stdlib.h>

/* Bytes of the longest body that is read, which is the request to block a prefix. */
#define BODY_MAX 1024

/* The connections of the listener are counted apart from those of browsers, so that it answers
   however many browsers there are. A slow client gives way to the next. */
struct admin {
    struct admin_config config;
    struct http *http;
    struct listener *listener; /* NULL when it is closed */
    struct pre_session_limit *places;
    struct stats stats; /* the counters of these connections, which nobody reads */
};

static bool answer_metrics(void *context, const struct http_request *request,
                           struct http_response *response)
{
    (void)request;
    const struct admin *admin = context;
    struct metrics metrics = {.ready = !admin->config.unready(admin->config.context)};
    admin->config.look(admin->config.context, &metrics);
    response->type = METRICS_TYPE;
    metrics_write(&metrics, &response->body);
    return true;
}

static bool answer_health(void *context, const struct http_request *request,
                          struct http_response *response)
{
    (void)context, (void)request;
    response_say(response, HTTP_OK, "ok");
    return true;
}

static bool answer_ready(void *context, const struct http_request *request,
                         struct http_response *response)
{
    (void)request;
    const struct admin *admin = context;
    const char *why = admin->config.unready(admin->config.context);
    response_say(response, why ? HTTP_SERVICE_UNAVAILABLE : HTTP_OK, why ? why : "ready");
    return true;
}

static bool answer_blocks(void *context, const struct http_request *request,
                          struct http_response *response)
{
    (void)request;
    const struct admin *admin = context;
    commands_list_blocks(admin->config.blocks, response);
    return true;
}

/* Reads the command of a request and gives it to the owner, who calls admin_answer. */
static bool take_command(const struct admin *admin, command_reader *read,
                         const struct http_request *request, struct http_response *response)
{
    struct command command = {0};
    if (!read(request, &command, response))
        return true;
    admin->config.carry_out(admin->config.context, &command, request->ticket);
    return false;
}

static bool take_list(void *context, const struct http_request *request,
                      struct http_response *response)
{
    return take_command(context, commands_read_list, request, response);
}

static bool take_record(void *context, const struct http_request *request,
                        struct http_response *response)
{
    return take_command(context, commands_read_record, request, response);
}

static bool take_end(void *context, const struct http_request *request,
                     struct http_response *response)
{
    return take_command(context, commands_read_end, request, response);
}

static bool take_block(void *context, const struct http_request *request,
                       struct http_response *response)
{
    return take_command(context, commands_read_block, request, response);
}

static bool take_unblock(void *context, const struct http_request *request,
                         struct http_response *response)
{
    return take_command(context, commands_read_unblock, request, response);
}

static void add_routes(struct admin *admin)
{
    static const struct http_route routes[] = {
        {.path = "/metrics", .methods = HTTP_GET, .handle = answer_metrics},
        {.path = "/healthz", .methods = HTTP_GET, .handle = answer_health},
        {.path = "/readyz", .methods = HTTP_GET, .handle = answer_ready},
        {.path = "/sessions", .methods = HTTP_GET, .handle = take_list},
        {.path = "/sessions/", .methods = HTTP_GET, .handle = take_record},
        {.path = "/sessions/", .methods = HTTP_DELETE, .handle = take_end},
        {.path = "/blocks", .methods = HTTP_GET, .handle = answer_blocks},
        {.path = "/blocks", .methods = HTTP_POST, .body_max = BODY_MAX, .handle = take_block},
        {.path = "/blocks/", .methods = HTTP_DELETE, .handle = take_unblock},
    };
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        struct http_route route = routes[i];
        route.access = HTTP_NO_PAGES;
        route.context = admin;
        http_add_route(admin->http, &route);
    }
}

void admin_answer(struct admin *admin, uint64_t ticket, const struct command *command,
                  const struct command_result *result, const struct session_summary *page)
{
    struct http_response response = HTTP_RESPONSE;
    commands_answer(command, result, page, &response);
    http_answer(admin->http, ticket, &response);
}

struct admin *admin_create(const struct admin_config *config)
{
    char text[SOCKET_ADDRESS_TEXT];
    struct admin *admin = calloc(1, sizeof *admin);
    if (admin) {
        admin->config = *config;
        admin->http = http_create(&config->http);
        admin->places = pre_session_limit_create(DESCRIPTORS_ADMIN, 0, &admin->stats);
    }
    if (!admin || !admin->http || !admin->places) {
        log_error("no memory");
        admin_destroy(admin);
        return NULL;
    }
    const struct listener_config listener = {
        .loop = config->http.loop,
        .http = admin->http,
        .pre_sessions = admin->places,
        .inherited = config->inherited,
    };
    add_routes(admin);
    socket_address_format(&config->address, text);
    admin->listener = listener_create(text, &listener);
    if (admin->listener)
        return admin;
    admin_destroy(admin);
    return NULL;
}

int admin_socket(const struct admin *admin)
{
    return listener_socket(admin->listener);
}

void admin_announce(const struct admin *admin)
{
    if (admin)
        listener_announce(admin->listener, "admin listener on");
}

void admin_close(struct admin *admin)
{
    if (!admin)
        return;
    listener_destroy(admin->listener);
    admin->listener = NULL;
}

void admin_destroy(struct admin *admin)
{
    if (!admin)
        return;
    pre_session_limit_destroy(admin->places);
    http_destroy(admin->http);
    free(admin);
}
