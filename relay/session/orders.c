#include "session/orders.h"

#include "os/loop.h"

struct order_result order_carry_out(struct sessions *sessions, const struct order *order,
                                    struct session_facts *page)
{
    struct blocks *blocks = sessions_blocks(sessions);
    const struct prefix *prefix = &order->block.prefix;
    struct order_result result = {.done = true};
    switch (order->kind) {
    case ORDER_LIST:
        result.count = sessions_list(sessions, order->id, order->limit, page, &result.more);
        break;
    case ORDER_END:
        result.done = sessions_end_one(sessions, order->id);
        result.count = result.done;
        break;
    case ORDER_BLOCK:
        result.done = blocks_add(blocks, prefix, order->block.until, loop_now());
        if (result.done)
            result.count = sessions_end_of(sessions, prefix);
        break;
    case ORDER_UNBLOCK:
        result.done = blocks_remove(blocks, prefix);
        break;
    }
    return result;
}
