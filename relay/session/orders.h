/* What the operator has the sessions do. Orders are plain data, so that they reach the sessions of
   other processes too. */
#ifndef CAUSEWAY_RELAY_ORDERS_H
#define CAUSEWAY_RELAY_ORDERS_H

#include "session/blocks.h"
#include "session/session_look.h"

#include <stdbool.h>
#include <stdint.h>

/* Sessions in one list. */
#define ORDER_LIST_MAX 1000

enum order_kind { ORDER_LIST, ORDER_END, ORDER_BLOCK, ORDER_UNBLOCK };

struct order {
    enum order_kind kind;
    unsigned long id;    /* the session to end, or after which the list begins */
    unsigned long limit; /* of the list: 1 to ORDER_LIST_MAX */
    struct block block;  /* or the prefix of that to take back */
};

struct order_result {
    bool done;      /* false: there is no such session or block, or no room for the block or list */
    bool more;      /* the list goes on */
    unsigned count; /* sessions in the list, or ended */
    unsigned silent; /* processes that have not answered */
};

/* Carries out an order; `page` has room for the sessions of a list (order->limit). */
struct order_result order_carry_out(struct sessions *sessions, const struct order *order,
                                    struct session_facts *page);

#endif
