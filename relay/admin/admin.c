#include "admin/admin.h"

#include "admin/commands.h"
#include "admin/server.h"
#include "os/log.h"

#include <stdlib.h>
#include <string.h>

struct admin {
    struct admin_config config;
    struct admin_server *server;
};

static void refuse(struct admin_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    text_add(&reply->body, "%s\n", text);
}

static void answer_metrics(const struct admin *admin, struct admin_reply *reply)
{
    struct metrics metrics = {.ready = !admin->config.unready(admin->config.context)};
    admin->config.look(admin->config.context, &metrics);
    reply->type = METRICS_TYPE;
    metrics_write(&metrics, &reply->body);
}

static void answer_health(const struct admin *admin, struct admin_reply *reply)
{
    (void)admin;
    text_add(&reply->body, "ok\n");
}

static void answer_ready(const struct admin *admin, struct admin_reply *reply)
{
    const char *why = admin->config.unready(admin->config.context);
    if (why)
        refuse(reply, 503, why);
    else
        text_add(&reply->body, "ready\n");
}

static void answer_blocks(const struct admin *admin, struct admin_reply *reply)
{
    commands_list_blocks(admin->config.blocks, reply);
}

/* The requests that are answered; GET stands for HEAD too. A path that ends with a slash has a
   parameter behind it. */
static const struct {
    const char *path;
    enum admin_method method;
    void (*answer)(const struct admin *admin, struct admin_reply *reply);
    command_reader *read; /* reads the command, where `answer` is NULL */
} routes[] = {
    {"/metrics", ADMIN_GET, answer_metrics, NULL},
    {"/healthz", ADMIN_GET, answer_health, NULL},
    {"/readyz", ADMIN_GET, answer_ready, NULL},
    {"/sessions", ADMIN_GET, NULL, commands_read_list},
    {"/sessions/", ADMIN_DELETE, NULL, commands_read_end},
    {"/blocks", ADMIN_GET, answer_blocks, NULL},
    {"/blocks", ADMIN_POST, NULL, commands_read_block},
    {"/blocks/", ADMIN_DELETE, NULL, commands_read_unblock},
};

static bool leads_to(const char *route, const char *path)
{
    const size_t size = strlen(route);
    return route[size - 1] == '/' ? strncmp(path, route, size) == 0 : strcmp(path, route) == 0;
}

/* Returns false when the request is a command, which is answered by admin_answer. */
static bool answer(const struct admin *admin, const struct admin_request *request, uint64_t ticket,
                   struct admin_reply *reply)
{
    const enum admin_method method = request->method == ADMIN_HEAD ? ADMIN_GET : request->method;
    bool known = false;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (!leads_to(routes[i].path, request->path))
            continue;
        known = true;
        if (routes[i].method != method)
            continue;
        struct command command = {0};
        if (routes[i].answer) {
            routes[i].answer(admin, reply);
        } else if (routes[i].read(request, request->path + strlen(routes[i].path), &command,
                                  reply)) {
            admin->config.carry_out(admin->config.context, &command, ticket);
            return false;
        }
        return true;
    }
    if (known)
        refuse(reply, 405, "This method is not allowed here.");
    else
        refuse(reply, 404, "There is no such page.");
    return true;
}

static void on_request(void *context, const struct admin_request *request, uint64_t ticket)
{
    const struct admin *admin = context;
    struct admin_reply reply = ADMIN_REPLY;
    if (answer(admin, request, ticket, &reply))
        admin_server_answer(admin->server, ticket, &reply);
}

void admin_answer(struct admin *admin, uint64_t ticket, const struct command *command,
                  const struct command_result *result, const struct session_facts *page)
{
    struct admin_reply reply = ADMIN_REPLY;
    commands_answer(command, result, page, &reply);
    admin_server_answer(admin->server, ticket, &reply);
}

struct admin *admin_create(const struct admin_config *config)
{
    struct admin *admin = calloc(1, sizeof *admin);
    if (!admin) {
        log_error("no memory");
        return NULL;
    }
    admin->config = *config;
    admin->server =
        admin_server_create(&config->address, config->loop, config->inherited, on_request, admin);
    if (admin->server)
        return admin;
    free(admin);
    return NULL;
}

int admin_socket(const struct admin *admin)
{
    return admin_server_socket(admin->server);
}

void admin_announce(const struct admin *admin)
{
    if (admin)
        admin_server_announce(admin->server);
}

void admin_close(struct admin *admin)
{
    if (admin)
        admin_server_close(admin->server);
}

void admin_destroy(struct admin *admin)
{
    if (!admin)
        return;
    admin_server_destroy(admin->server);
    free(admin);
}
