#include "session/upstreams.h"

#include "net/log.h"
#include "net/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between two lookups of a name, whatever the DNS says; the least is also for one that failed. */
#define LOOKUP_SECONDS_MIN 5.0
#define LOOKUP_SECONDS_MAX 300.0

/* The same when the DNS does not know the name: what most services that move their names around
   use. */
#define LOOKUP_SECONDS 30.0

/* "7000", "7000-7999". */
static bool read_ports(const char *text, struct upstream_rule *rule)
{
    unsigned *const ports[] = {&rule->first_port, &rule->last_port};
    for (int i = 0; i < 2; i++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 5)
            return false;
        *ports[i] = (unsigned)strtoul(text, NULL, 10);
        text += digits;
        if (i == 0 && *text == '\0') {
            rule->last_port = rule->first_port;
            break;
        }
        if (*text++ != (i == 0 ? '-' : '\0'))
            return false;
    }
    return rule->first_port > 0 && rule->first_port <= rule->last_port && rule->last_port <= 65535;
}

/* "" or ",client-address=spp". */
static bool read_setting(const char *text, struct upstream_rule *rule)
{
    static const char name[] = ",client-address=";
    const size_t size = strlen(name);
    return text[0] == '\0' || (strncmp(text, name, size) == 0 &&
                               client_header_parse(text + size, &rule->client_header));
}

bool upstream_list_add(struct upstream_list *list, const char *text)
{
    struct upstream_rule rule = {.name = ""};
    char address[UPSTREAM_NAME_MAX + 12]; /* and ports */
    const size_t length = strcspn(text, ",");
    if (length >= sizeof address || !read_setting(text + length, &rule))
        return false;
    memcpy(address, text, length);
    address[length] = '\0';
    const char *colon = strrchr(address, ':');
    const size_t size = colon ? (size_t)(colon - address) : 0;
    if (list->count == UPSTREAM_LIST_MAX || size == 0 || size >= sizeof rule.name ||
        !read_ports(colon + 1, &rule))
        return false;
    memcpy(rule.name, address, size);
    if (strchr(rule.name, ':') && !strchr(rule.name, '['))
        return false; /* the port of an IPv6 address without brackets cannot be told */
    if (prefix_parse(rule.name, &rule.prefix))
        rule.name[0] = '\0';
    else if (strpbrk(rule.name, "[]/:* "))
        return false;
    list->rules[list->count++] = rule;
    return true;
}

struct upstreams {
    struct loop *loop;
    struct upstream_list list;
    /* Of the rules that have names. */
    struct lookup_answer known[UPSTREAM_LIST_MAX];
    double due[UPSTREAM_LIST_MAX]; /* the next lookup */
    struct lookup lookup;
    unsigned looked_up; /* the rule whose name it is */
    struct loop_timer timer;
    struct log_limit failed_limit;
};

bool upstream_list_is_single(const struct upstream_list *list)
{
    const struct upstream_rule *rule = &list->rules[0];
    return list->count == 1 && rule->first_port == rule->last_port &&
           (rule->name[0] || rule->prefix.bits == 128);
}

/* The rule whose name is to be looked up next; the length of the list when none has a name. */
static unsigned next_due(const struct upstreams *upstreams)
{
    unsigned next = upstreams->list.count;
    for (unsigned i = 0; i < upstreams->list.count; i++) {
        if (upstreams->list.rules[i].name[0] &&
            (next == upstreams->list.count || upstreams->due[i] < upstreams->due[next]))
            next = i;
    }
    return next;
}

/* One name at a time; comes back when the next is due. */
static void look_up_next(struct upstreams *upstreams)
{
    const unsigned i = next_due(upstreams);
    if (i == upstreams->list.count)
        return;
    if (upstreams->due[i] <= loop_now()) {
        upstreams->due[i] = loop_now() + LOOKUP_SECONDS_MIN;
        upstreams->looked_up = i;
        if (lookup_begin(&upstreams->lookup, upstreams->loop, upstreams->list.rules[i].name))
            return;
    }
    loop_timer_start(upstreams->loop, &upstreams->timer, upstreams->due[i] - loop_now());
}

static void on_answer(void *context, const struct lookup_answer *answer)
{
    struct upstreams *upstreams = context;
    const unsigned i = upstreams->looked_up;
    double seconds = LOOKUP_SECONDS_MIN;
    unsigned held;
    if (!answer->error) {
        upstreams->known[i] = *answer;
        seconds = answer->seconds == LOOKUP_SECONDS_UNTOLD
                      ? LOOKUP_SECONDS
                      : fmin(fmax(answer->seconds, LOOKUP_SECONDS_MIN), LOOKUP_SECONDS_MAX);
    } else if (log_limit_pass(&upstreams->failed_limit, loop_now(), &held)) {
        log_warn("cannot resolve the upstream %s: %s; what was known of it stays%s",
                 upstreams->list.rules[i].name, answer->error, log_held(held).text);
    }
    upstreams->due[i] = loop_now() + seconds;
    look_up_next(upstreams);
}

static void on_timer(void *context)
{
    look_up_next(context);
}

/* Waits for the answers. False when they leave nothing to send to. */
static bool look_all_up(struct upstreams *upstreams)
{
    bool any = false;
    for (unsigned i = 0; i < upstreams->list.count; i++) {
        const char *name = upstreams->list.rules[i].name;
        if (name[0])
            lookup_now(name, &upstreams->known[i]);
        any = any || !upstreams->known[i].error;
    }
    return any;
}

/* Those that nothing is known of are asked for again after a while, like others that failed. */
static void put_off_unknown(struct upstreams *upstreams)
{
    for (unsigned i = 0; i < upstreams->list.count; i++) {
        if (!upstreams->known[i].error)
            continue;
        log_warn("cannot resolve the upstream %s: %s; it is looked up again",
                 upstreams->list.rules[i].name, upstreams->known[i].error);
        upstreams->due[i] = loop_now() + LOOKUP_SECONDS_MIN;
    }
}

struct upstreams *upstreams_create(const struct upstream_list *list, struct loop *loop,
                                   const struct upstream_rule **unknown, const char **error)
{
    struct upstreams *upstreams = calloc(1, sizeof *upstreams);
    *unknown = NULL;
    if (!upstreams)
        return NULL;
    upstreams->loop = loop;
    upstreams->list = *list;
    upstreams->lookup =
        (struct lookup){.watch.fd = -1, .answered = on_answer, .context = upstreams};
    upstreams->timer.expired = on_timer;
    upstreams->timer.context = upstreams;
    if (!look_all_up(upstreams)) {
        *unknown = &list->rules[0];
        *error = upstreams->known[0].error;
        free(upstreams);
        return NULL;
    }
    put_off_unknown(upstreams);
    /* Once more, without anybody waiting: for how long the answers are good. */
    loop_timer_start(loop, &upstreams->timer, 0);
    return upstreams;
}

/* What is known of a name; nothing when it is new. */
static struct lookup_answer known_of(const struct upstreams *upstreams, const char *name)
{
    for (unsigned i = 0; name[0] && i < upstreams->list.count; i++) {
        if (strcmp(upstreams->list.rules[i].name, name) == 0)
            return upstreams->known[i];
    }
    return (struct lookup_answer){0};
}

void upstreams_set(struct upstreams *upstreams, const struct upstream_list *list)
{
    const struct upstreams old = *upstreams;
    lookup_cancel(&upstreams->lookup);
    loop_timer_stop(&upstreams->timer);
    upstreams->list = *list;
    for (unsigned i = 0; i < list->count; i++) {
        upstreams->known[i] = known_of(&old, list->rules[i].name);
        upstreams->due[i] = 0;
    }
    look_up_next(upstreams);
}

void upstreams_destroy(struct upstreams *upstreams)
{
    if (!upstreams)
        return;
    lookup_cancel(&upstreams->lookup);
    loop_timer_stop(&upstreams->timer);
    free(upstreams);
}

/* Networks whose addresses mean this machine, this link, or many machines. */
static bool is_local(const struct prefix *network, const struct socket_address *address)
{
    static const char *const locals[] = {
        "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255",
        "::",        "::1",         "fe80::/10",      "ff00::/8",
    };
    for (size_t i = 0; i < sizeof locals / sizeof locals[0]; i++) {
        struct prefix local;
        if (prefix_parse(locals[i], &local) && prefix_holds(&local, address))
            return !prefix_within(network, &local);
    }
    return false;
}

static bool holds(const struct upstream_rule *rule, const struct lookup_answer *known,
                  const struct socket_address *address)
{
    const unsigned port = socket_address_port(address);
    if (port < rule->first_port || port > rule->last_port)
        return false;
    if (!rule->name[0])
        return prefix_holds(&rule->prefix, address) &&
               prefix_is_v4(&rule->prefix) == (address->address.any.sa_family == AF_INET) &&
               !is_local(&rule->prefix, address);
    for (unsigned i = 0; i < known->count; i++) {
        struct socket_address server = known->addresses[i];
        socket_address_set_port(&server, port);
        if (socket_address_same(&server, address))
            return true;
    }
    return false;
}

static bool choose_single(const struct upstreams *upstreams, struct socket_address *out)
{
    const struct upstream_rule *rule = &upstreams->list.rules[0];
    if (!rule->name[0])
        socket_address_of_bytes(rule->prefix.address, out);
    else if (upstreams->known[0].count > 0)
        *out = upstreams->known[0].addresses[0];
    else
        return false;
    socket_address_set_port(out, rule->first_port);
    return true;
}

const struct upstream_rule *upstreams_choose(const struct upstreams *upstreams,
                                             const struct socket_address *asked,
                                             struct socket_address *out)
{
    if (upstream_list_is_single(&upstreams->list))
        return choose_single(upstreams, out) ? &upstreams->list.rules[0] : NULL;
    for (unsigned i = 0; asked->size > 0 && i < upstreams->list.count; i++) {
        if (holds(&upstreams->list.rules[i], &upstreams->known[i], asked)) {
            *out = *asked;
            return &upstreams->list.rules[i];
        }
    }
    return NULL;
}
