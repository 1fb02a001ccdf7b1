#include "lab/echo.h"

#include "base/little_endian.h"
#include "base/memory.h"
#include "lab/column.h"
#include "lab/game.h"
#include "lab/line_turn.h"

#include <math.h>
#include <string.h>

/* The messages that wait to be sent back. The client has no more under way. */
#define WAITING CW_LAB_GAME_REMEMBERED

struct cw_lab_echo {
    struct cw_allocator allocator;
    size_t size; /* bytes of the allocation */
    uint32_t protocol, key;
    const struct cw_lab_peer_type *type;
    void *peer;
    uint32_t sent; /* datagrams to the client */
    uint32_t left; /* datagrams that may still be sent in this turn */
    struct cw_lab_came came;
    enum cw_lab_waiting waiting;
    uint32_t waiting_for;

    /* Items that have come and wait to be sent back; size 0: there is none. */
    struct cw_lab_item state, block;
    struct cw_lab_item messages[WAITING];
    uint32_t messages_came, messages_sent;
};

bool cw_lab_echo_read(const uint8_t *data, size_t size, uint32_t *protocol, uint32_t *key)
{
    if (!data || size <= CW_LAB_LINE_CLIENT_HEADER || !protocol || !key ||
        data[0] != CW_LAB_LINE_VERSION)
        return false;
    const uint8_t *at = data + 2;
    *protocol = data[1];
    *key = (uint32_t)cw_little_endian_get(&at, 4);
    return true;
}

enum cw_error cw_lab_echo_create(uint32_t protocol, uint32_t key,
                                 const struct cw_allocator *allocator, struct cw_lab_echo **echo)
{
    const struct cw_lab_peer_type *type = cw_lab_protocol(protocol);
    if (!type || !allocator || !echo)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_arena measured = {0};
    cw_arena_take(&measured, sizeof **echo);
    cw_arena_take(&measured, cw_lab_peer_memory(type));
    struct cw_arena arena = cw_arena_create(allocator, measured.used);
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_lab_echo *e = cw_arena_take(&arena, sizeof *e);
    e->allocator = *allocator;
    e->size = arena.size;
    e->protocol = protocol;
    e->key = key;
    e->type = type;
    const struct cw_allocator rest = cw_arena_allocator(&arena);
    e->peer = cw_lab_peer_create(type, &rest);
    if (!e->peer) {
        cw_lab_echo_destroy(e);
        return CW_ERROR_NO_MEMORY;
    }
    *echo = e;
    return CW_OK;
}

void cw_lab_echo_destroy(struct cw_lab_echo *echo)
{
    if (!echo)
        return;
    cw_lab_peer_destroy(echo->peer);
    const struct cw_allocator allocator = echo->allocator;
    cw_release(&allocator, echo, echo->size);
}

static void keep(struct cw_lab_echo *echo, const struct cw_lab_item *item)
{
    if (item->traffic == CW_LAB_STATE)
        echo->state = *item;
    else if (item->traffic == CW_LAB_BLOCK)
        echo->block = *item;
    else if (echo->messages_came - echo->messages_sent < WAITING)
        echo->messages[echo->messages_came++ % WAITING] = *item;
}

/* Takes the items that have come. The client learns by the gap of those that will not. */
static void take_arrivals(struct cw_lab_echo *echo)
{
    struct cw_lab_arrival arrival;
    for (int i = 0; i < CW_LAB_LINE_ARRIVALS && echo->type->next(echo->peer, &arrival); i++)
        if (!arrival.lost)
            keep(echo, &arrival.item);
}

static void send_back(struct cw_lab_echo *echo, double now)
{
    const struct cw_lab_peer_type *type = echo->type;
    if (echo->state.size > 0)
        type->send(echo->peer, &echo->state, now); /* a newer one comes when there is no room */
    echo->state.size = 0;
    for (; echo->messages_sent != echo->messages_came; echo->messages_sent++)
        if (!type->send(echo->peer, &echo->messages[echo->messages_sent % WAITING], now))
            break;
    if (echo->block.size > 0 && type->send(echo->peer, &echo->block, now))
        echo->block.size = 0;
}

bool cw_lab_echo_receive(struct cw_lab_echo *echo, const uint8_t *data, size_t size, double now)
{
    uint32_t protocol, key;
    if (!echo || !isfinite(now) || !cw_lab_echo_read(data, size, &protocol, &key) ||
        protocol != echo->protocol || key != echo->key)
        return false;
    const uint8_t *at = data + 6;
    cw_lab_came_add(&echo->came, (uint32_t)cw_little_endian_get(&at, 4), now);
    echo->type->receive(echo->peer, data + CW_LAB_LINE_CLIENT_HEADER,
                        size - CW_LAB_LINE_CLIENT_HEADER, now);
    take_arrivals(echo);
    if (echo->type->answers_at_once)
        echo->left = CW_LAB_LINE_PER_TURN;
    return true;
}

void cw_lab_echo_step(struct cw_lab_echo *echo, double now)
{
    if (!echo || !isfinite(now))
        return;
    take_arrivals(echo);
    send_back(echo, now);
    echo->type->update(echo->peer, now);
    echo->waiting = echo->type->waiting(echo->peer, now, &echo->waiting_for);
    echo->left = CW_LAB_LINE_PER_TURN;
}

static void write_header(const struct cw_lab_echo *echo, uint8_t *out, double now)
{
    const double held = fmin(fmax(now - echo->came.at, 0) * 1e6, 4e9);
    *out++ = CW_LAB_LINE_VERSION;
    *out++ = CW_LAB_ANSWER_ECHO;
    cw_little_endian_put(&out, echo->key, 4);
    cw_little_endian_put(&out, echo->sent, 4);
    cw_little_endian_put(&out, echo->came.count, 4);
    cw_little_endian_put(&out, echo->came.newest, 4);
    cw_little_endian_put(&out, (uint64_t)held, 4);
    cw_little_endian_put(&out, echo->waiting, 1);
    cw_little_endian_put(&out, echo->waiting_for, 4);
}

size_t cw_lab_echo_transmit(struct cw_lab_echo *echo, uint8_t *out, size_t capacity, double now)
{
    if (!echo || !out || capacity < CW_LAB_LINE_MAX_DATAGRAM || !isfinite(now) || echo->left == 0)
        return 0;
    const size_t size =
        echo->type->transmit(echo->peer, out + CW_LAB_LINE_SERVER_HEADER, CW_LAB_MAX_DATAGRAM, now);
    echo->left = size > 0 ? echo->left - 1 : 0;
    if (size == 0)
        return 0;
    write_header(echo, out, now);
    echo->sent++;
    return CW_LAB_LINE_SERVER_HEADER + size;
}

size_t cw_lab_echo_refuse(uint32_t key, enum cw_lab_answer answer, uint8_t *out, size_t capacity)
{
    if (!out || capacity < CW_LAB_LINE_SERVER_HEADER)
        return 0;
    memset(out, 0, CW_LAB_LINE_SERVER_HEADER);
    *out++ = CW_LAB_LINE_VERSION;
    *out++ = (uint8_t)answer;
    cw_little_endian_put(&out, key, 4);
    return CW_LAB_LINE_SERVER_HEADER;
}
