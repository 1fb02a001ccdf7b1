/* What the operator sees of single sessions, and does to them: /sessions and /blocks. */
#ifndef CAUSEWAY_RELAY_STEERING_H
#define CAUSEWAY_RELAY_STEERING_H

#include "admin/request.h"
#include "admin/server.h"
#include "session/blocks.h"
#include "session/orders.h"

#include <stdbool.h>

/* Reads the order of a request; `rest` is what follows the path of its route. False after refusing
   it in the reply. */
typedef bool steering_read(const struct admin_request *request, const char *rest,
                           struct order *order, struct admin_reply *reply);

steering_read steering_read_list;
steering_read steering_read_end;
steering_read steering_read_block;
steering_read steering_read_unblock;

/* Tells what has come of an order; `page` has the sessions of a list. */
void steering_answer(const struct order *order, const struct order_result *result,
                     const struct session_facts *page, struct admin_reply *reply);

/* Tells the blocks. */
void steering_list_blocks(struct blocks *blocks, struct admin_reply *reply);

#endif
