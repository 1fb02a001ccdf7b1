#include "session/upstreams.h"

#include "os/log.h"
#include "os/lookup.h"
#include "os/own_addresses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seconds between two lookups of a name, at least and at most, whatever the DNS says. A lookup that
   failed is repeated after the least of these times. */
#define LOOKUP_SECONDS_MIN 5.0
#define LOOKUP_SECONDS_MAX 300.0

/* Seconds between two lookups of a name that the DNS does not know. Most services that move their
   names around give them this TTL. */
#define LOOKUP_SECONDS 30.0

/* Reads "7000" or "7000-7999". */
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

/* Reads "" or ",client-address=spp". */
static bool read_setting(const char *text, struct upstream_rule *rule)
{
    static const char name[] = ",client-address=";
    const size_t size = strlen(name);
    return text[0] == '\0' || (strncmp(text, name, size) == 0 &&
                               client_header_parse(text + size, &rule->client_header));
}

bool upstream_list_add(struct upstream_list *list, const char *text)
{
    struct upstream_rule rule = {.text = text};
    char address[UPSTREAM_NAME_MAX + 12]; /* the longest name, and ports */
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
        return false; /* without brackets, the port of an IPv6 address cannot be told */
    if (prefix_parse(rule.name, &rule.prefix))
        rule.name[0] = '\0';
    else if (strpbrk(rule.name, "[]/:* \"\\"))
        return false;
    list->rules[list->count++] = rule;
    return true;
}

struct upstreams {
    struct loop *loop;
    struct upstream_list list;
    struct lookup_answer answers[UPSTREAM_LIST_MAX]; /* the answers for the rules that have names */
    double due[UPSTREAM_LIST_MAX];                   /* when the next lookup of each is due */
    struct lookup lookup;
    unsigned lookup_rule; /* the rule whose name is being looked up */
    struct loop_timer timer;
    struct log_limit failed_limit;
    struct own_addresses *own;
};

bool upstream_rule_is_single(const struct upstream_rule *rule)
{
    return rule->first_port == rule->last_port && (rule->name[0] || rule->prefix.bits == 128);
}

/* Returns the rule whose name is to be looked up next; the length of the list when none has a name.
 */
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

/* Looks up one name at a time, and comes back when the next is due. */
static void look_up_next(struct upstreams *upstreams)
{
    const unsigned i = next_due(upstreams);
    if (i == upstreams->list.count)
        return;
    if (upstreams->due[i] <= loop_now()) {
        upstreams->due[i] = loop_now() + LOOKUP_SECONDS_MIN;
        upstreams->lookup_rule = i;
        if (lookup_begin(&upstreams->lookup, upstreams->loop, upstreams->list.rules[i].name))
            return;
    }
    loop_timer_start(upstreams->loop, &upstreams->timer, upstreams->due[i] - loop_now());
}

static void on_answer(void *context, const struct lookup_answer *answer)
{
    struct upstreams *upstreams = context;
    const unsigned i = upstreams->lookup_rule;
    double seconds = LOOKUP_SECONDS_MIN;
    unsigned suppressed;
    if (!answer->error) {
        upstreams->answers[i] = *answer;
        seconds = answer->seconds == LOOKUP_SECONDS_UNTOLD
                      ? LOOKUP_SECONDS
                      : fmin(fmax(answer->seconds, LOOKUP_SECONDS_MIN), LOOKUP_SECONDS_MAX);
    } else if (log_limit_pass(&upstreams->failed_limit, loop_now(), &suppressed)) {
        log_warn("cannot resolve the upstream %s: %s; what was known of it stays%s",
                 upstreams->list.rules[i].name, answer->error, log_suppressed(suppressed).text);
    }
    upstreams->due[i] = loop_now() + seconds;
    look_up_next(upstreams);
}

static void on_timer(void *context)
{
    look_up_next(context);
}

/* Waits for the answers. Returns false when they leave no server to send to. */
static bool look_all_up(struct upstreams *upstreams)
{
    bool any = false;
    for (unsigned i = 0; i < upstreams->list.count; i++) {
        const char *name = upstreams->list.rules[i].name;
        if (name[0])
            lookup_now(name, &upstreams->answers[i]);
        any = any || !upstreams->answers[i].error;
    }
    return any;
}

/* Puts off the next lookup of names of which nothing is known, as of others that failed. */
static void put_off_unknown(struct upstreams *upstreams)
{
    for (unsigned i = 0; i < upstreams->list.count; i++) {
        if (!upstreams->answers[i].error)
            continue;
        log_warn("cannot resolve the upstream %s: %s; it is looked up again",
                 upstreams->list.rules[i].name, upstreams->answers[i].error);
        upstreams->due[i] = loop_now() + LOOKUP_SECONDS_MIN;
    }
}

struct upstreams *upstreams_create(const struct upstream_list *list, struct loop *loop,
                                   const struct upstream_rule **unknown, const char **error)
{
    struct upstreams *upstreams = calloc(1, sizeof *upstreams);
    struct own_addresses *own = calloc(1, sizeof *own);
    *unknown = NULL;
    if (!upstreams || !own) {
        free(upstreams);
        free(own);
        return NULL;
    }
    upstreams->own = own;
    upstreams->loop = loop;
    upstreams->list = *list;
    upstreams->lookup =
        (struct lookup){.watch.fd = -1, .answered = on_answer, .context = upstreams};
    upstreams->timer.expired = on_timer;
    upstreams->timer.context = upstreams;
    if (!look_all_up(upstreams)) {
        *unknown = &list->rules[0];
        *error = upstreams->answers[0].error;
        upstreams_destroy(upstreams);
        return NULL;
    }
    put_off_unknown(upstreams);
    /* The names are looked up once more, while nobody waits, to learn how long the answers are
       good. */
    loop_timer_start(loop, &upstreams->timer, 0);
    return upstreams;
}

/* Returns what is known of a name: nothing when it is new. */
static struct lookup_answer answer_for(const struct upstreams *upstreams, const char *name)
{
    for (unsigned i = 0; name[0] && i < upstreams->list.count; i++) {
        if (strcmp(upstreams->list.rules[i].name, name) == 0)
            return upstreams->answers[i];
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
        upstreams->answers[i] = answer_for(&old, list->rules[i].name);
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
    own_addresses_free(upstreams->own);
    free(upstreams->own);
    free(upstreams);
}

/* Networks whose addresses mean this machine, this link, or many machines. */
static const char *const local_networks[] = {
    "0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "255.255.255.255",
    "::",        "::1",         "fe80::/10",      "ff00::/8",
};

static bool find_local_network(const struct socket_address *address, struct prefix *out)
{
    for (size_t i = 0; i < sizeof local_networks / sizeof local_networks[0]; i++) {
        if (prefix_parse(local_networks[i], out) && prefix_holds(out, address))
            return true;
    }
    return false;
}

/* Networks of IPv6 whose addresses contain an IPv4 address, to which a tunnel or a translator takes
   the datagrams: compatible, translated, NAT64 (RFC 6052), 6to4 (RFC 3056), server and client of
   Teredo (RFC 4380), and NAT64 of local use (RFC 8215), whose prefix may have four lengths. */
static const struct {
    const char *network;
    unsigned char at[4]; /* the places of the four bytes of the IPv4 address */
    bool inverted;
    /* the length of the prefix is guessed: zeros then tell that it is another */
    bool guessed;
} embeddings[] = {
    {"::/96", {12, 13, 14, 15}, false, false},
    {"::ffff:0:0:0/96", {12, 13, 14, 15}, false, false},
    {"64:ff9b::/96", {12, 13, 14, 15}, false, false},
    {"2002::/16", {2, 3, 4, 5}, false, false},
    {"2001::/32", {4, 5, 6, 7}, false, false},
    {"2001::/32", {12, 13, 14, 15}, true, false},
    {"64:ff9b:1::/48", {6, 7, 9, 10}, false, true},
    {"64:ff9b:1::/48", {7, 9, 10, 11}, false, true},
    {"64:ff9b:1::/48", {9, 10, 11, 12}, false, true},
    {"64:ff9b:1::/48", {12, 13, 14, 15}, false, true},
};

/* Fills in the IPv4 address that the embedding `index` has in an address. */
static bool embedded(size_t index, const struct socket_address *address, struct socket_address *out)
{
    struct prefix network;
    unsigned char bytes[16];
    unsigned char v4[16] = {[10] = 0xff, [11] = 0xff};
    if (!prefix_parse(embeddings[index].network, &network) || !prefix_holds(&network, address) ||
        !socket_address_bytes(address, bytes))
        return false;
    for (size_t i = 0; i < 4; i++)
        v4[12 + i] = bytes[embeddings[index].at[i]] ^ (embeddings[index].inverted ? 0xff : 0);
    socket_address_of_bytes(v4, out);
    return v4[12] != 0 || !embeddings[index].guessed;
}

/* Returns whether a network may stand for this address, which lies in it. An address that means
   this machine or this link is meant only by a network of nothing else, and one of the relay's own
   addresses only by itself. */
static bool is_meant(const struct prefix *network, const struct socket_address *address,
                     struct own_addresses *own)
{
    struct prefix local;
    struct socket_address v4;
    const double now = loop_now();
    if (network->bits == 128)
        return true;
    if (find_local_network(address, &local))
        return prefix_within(network, &local);
    if (own_addresses_hold(own, address, now))
        return false;
    for (size_t i = 0; i < sizeof embeddings / sizeof embeddings[0]; i++) {
        if (embedded(i, address, &v4) &&
            (find_local_network(&v4, &local) || own_addresses_hold(own, &v4, now)))
            return false;
    }
    return true;
}

static bool holds(const struct upstreams *upstreams, unsigned index,
                  const struct socket_address *address)
{
    const struct upstream_rule *rule = &upstreams->list.rules[index];
    const struct lookup_answer *answer = &upstreams->answers[index];
    const unsigned port = socket_address_port(address);
    if (port < rule->first_port || port > rule->last_port)
        return false;
    if (!rule->name[0])
        return prefix_holds(&rule->prefix, address) &&
               prefix_is_v4(&rule->prefix) == (address->address.any.sa_family == AF_INET) &&
               is_meant(&rule->prefix, address, upstreams->own);
    for (unsigned i = 0; i < answer->count; i++) {
        struct socket_address server = answer->addresses[i];
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
    else if (upstreams->answers[0].count > 0)
        *out = upstreams->answers[0].addresses[0];
    else
        return false;
    socket_address_set_port(out, rule->first_port);
    return true;
}

unsigned upstreams_find(const struct upstreams *upstreams, const struct socket_address *server)
{
    unsigned i = 0;
    while (i < upstreams->list.count && !holds(upstreams, i, server))
        i++;
    return i;
}

const struct upstream_rule *upstreams_choose(const struct upstreams *upstreams,
                                             const struct socket_address *asked,
                                             struct socket_address *out)
{
    if (upstreams->list.count == 1 && upstream_rule_is_single(&upstreams->list.rules[0]))
        return choose_single(upstreams, out) ? &upstreams->list.rules[0] : NULL;
    const unsigned i = asked->size > 0 ? upstreams_find(upstreams, asked) : upstreams->list.count;
    if (i == upstreams->list.count)
        return NULL;
    *out = *asked;
    return &upstreams->list.rules[i];
}
