#include "admin/admin.h"

#include "admin/server.h"
#include "admin/steering.h"
#include "net/log.h"

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

static void answer_metrics(struct admin *admin, const struct admin_request *request,
                           struct admin_reply *reply)
{
    struct metrics metrics = {.ready = !admin->config.unready(admin->config.context)};
    (void)request;
    admin->config.look(admin->config.context, &metrics);
    reply->type = METRICS_TYPE;
    metrics_write(&metrics, &reply->body);
}

static void answer_health(struct admin *admin, const struct admin_request *request,
                          struct admin_reply *reply)
{
    (void)admin;
    (void)request;
    text_add(&reply->body, "ok\n");
}

static void answer_ready(struct admin *admin, const struct admin_request *request,
                         struct admin_reply *reply)
{
    (void)request;
    const char *why = admin->config.unready(admin->config.context);
    if (why)
        refuse(reply, 503, why);
    else
        text_add(&reply->body, "ready\n");
}

/* What may be asked; GET stands for HEAD too. A path that ends with a slash has something behind
 * it.
 */
static const struct {
    const char *path;
    enum admin_method method;
    void (*answer)(struct admin *admin, const struct admin_request *request,
                   struct admin_reply *reply);
    /* Or this; see steering.h. */
    void (*steer)(struct sessions *sessions, const struct admin_request *request, const char *rest,
                  struct admin_reply *reply);
} routes[] = {
    {"/metrics", ADMIN_GET, answer_metrics, NULL},
    {"/healthz", ADMIN_GET, answer_health, NULL},
    {"/readyz", ADMIN_GET, answer_ready, NULL},
    {"/sessions", ADMIN_GET, NULL, steering_list_sessions},
    {"/sessions/", ADMIN_DELETE, NULL, steering_end_session},
    {"/blocks", ADMIN_GET, NULL, steering_list_blocks},
    {"/blocks", ADMIN_POST, NULL, steering_block},
    {"/blocks/", ADMIN_DELETE, NULL, steering_unblock},
};

static bool leads_to(const char *route, const char *path)
{
    const size_t size = strlen(route);
    return route[size - 1] == '/' ? strncmp(path, route, size) == 0 : strcmp(path, route) == 0;
}

static void on_request(void *context, const struct admin_request *request,
                       struct admin_reply *reply)
{
    struct admin *admin = context;
    const enum admin_method method = request->method == ADMIN_HEAD ? ADMIN_GET : request->method;
    bool known = false;
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (!leads_to(routes[i].path, request->path))
            continue;
        known = true;
        if (routes[i].method != method)
            continue;
        if (routes[i].answer)
            routes[i].answer(admin, request, reply);
        else if (!admin->config.sessions)
            refuse(reply, 501, "This does not work with --workers.");
        else
            routes[i].steer(admin->config.sessions, request, request->path + strlen(routes[i].path),
                            reply);
        return;
    }
    if (known)
        refuse(reply, 405, "This method is not allowed here.");
    else
        refuse(reply, 404, "There is no such page.");
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
        admin_server_create(&config->address, config->loop, config->heritage, on_request, admin);
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
