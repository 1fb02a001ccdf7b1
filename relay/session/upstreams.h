/* The game servers that sessions may reach, and no others: single ones, prefixes of addresses with
   ranges of ports, and names, which are looked up again and again. */
#ifndef CAUSEWAY_RELAY_UPSTREAMS_H
#define CAUSEWAY_RELAY_UPSTREAMS_H

#include "os/loop.h"
#include "os/prefix.h"
#include "os/socket_address.h"
#include "session/client_header.h"
#include "stats/gauges.h"

#include <stdbool.h>

#define UPSTREAM_LIST_MAX GAUGES_UPSTREAMS

/* Bytes of the longest name, with its terminator. */
#define UPSTREAM_NAME_MAX 254

struct upstream_rule {
    const char *text;             /* the rule as it was given, and as long as that text lives */
    char name[UPSTREAM_NAME_MAX]; /* "" = the prefix counts */
    struct prefix prefix;
    unsigned first_port;
    unsigned last_port;
    enum client_header_format client_header;
};

/* The list that the operator gives. */
struct upstream_list {
    struct upstream_rule rules[UPSTREAM_LIST_MAX];
    unsigned count;
};

/* Adds "10.0.0.5:7000", "[2001:db8::5]:7000", "game.example:7000", or, with a prefix or a range of
   ports, "10.0.0.0/16:7000-7999"; ",client-address=spp" may follow. Returns false when the text has
   another form, or the list is full. */
bool upstream_list_add(struct upstream_list *list, const char *text);

/* Returns whether a rule is one server: an address or a name, with one port. */
bool upstream_rule_is_single(const struct upstream_rule *rule);

struct upstreams;

/* Creates the set of a list, and looks the names up before it returns. A name that is not found is
   logged, and looked up again while the loop runs. loop must outlive the set. Returns NULL when
   there is no memory, or when all rules have names and none is found: then *unknown is the first of
   them and *error the reason. */
struct upstreams *upstreams_create(const struct upstream_list *list, struct loop *loop,
                                   const struct upstream_rule **unknown, const char **error);

/* Takes another list. The answers for names that were in the old list stay; other names are looked
   up while the loop runs, and until then they reach nothing. */
void upstreams_set(struct upstreams *upstreams, const struct upstream_list *list);

/* Frees the set. NULL is allowed. */
void upstreams_destroy(struct upstreams *upstreams);

/* Returns the index of the first rule that holds a server; the number of rules when none does. */
unsigned upstreams_find(const struct upstreams *upstreams, const struct socket_address *server);

/* Chooses where a session goes that has asked for a server (all zero: for none). Returns the rule
   that allows it, which is valid until the next upstreams_set. When the list is a single server, it
   goes there, whatever it has asked for, since connect tokens often know the server by another
   address. Returns NULL when the list does not hold what it has asked for.

   A prefix holds addresses of its own family only, and holds loopback, link-local, multicast and
   other addresses that belong to no other machine only when all of it is such a network. It never
   holds this machine's own addresses: they are listed one by one, or by name. IPv6 addresses that
   contain one of IPv4, which a tunnel or a translator sends to, are judged by that too. */
const struct upstream_rule *upstreams_choose(const struct upstreams *upstreams,
                                             const struct socket_address *asked,
                                             struct socket_address *out);

#endif
