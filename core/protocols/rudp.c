#include "causeway/protocols/rudp.h"

#include "base/bit_set.h"
#include "base/memory.h"
#include "protocols/rudp_wire.h"

#include <string.h>

#define MIN_WINDOW   32
#define MAX_WINDOW   16384
#define WIRE_IDS     65536 /* ids that differ on the wire */
#define REQUEST_SIZE 3     /* bytes */

/* A package of ours, from send to expiry. */
struct kept {
    uint64_t tick; /* when it went out */
    uint32_t size;
};

enum presence {
    ABSENT,
    MISSING, /* the other end says so */
    PRESENT
};

/* A package of the other end's, up to the application. */
struct held {
    enum presence presence;
    uint32_t size;
};

/* Where this end stands; all zero at first. Ids are 64-bit counters here. */
struct state {
    uint64_t tick;
    uint64_t round_tick; /* when the last round began */
    bool in_round;       /* transmit has not given all of it yet */
    bool silent;         /* nor anything of it */

    uint64_t oldest;                   /* from here on, our packages are kept */
    uint64_t sent;                     /* up to here, they have gone out */
    uint64_t queued;                   /* up to here, there are any */
    uint64_t requested[WIRE_IDS / 64]; /* by the other end: a bit for each id on the wire */
    uint32_t request_count;            /* bits that are set */

    uint64_t next;  /* the application gets it next */
    uint64_t end;   /* after the newest that it knows of, or next + MAX_WINDOW: ids near next must
                       be widened right whatever comes */
    uint64_t asked; /* up to here, this round has asked for what is absent */
    bool ask_next;  /* a heartbeat came: ask for end too */
    bool asked_end; /* this round has done so, and asked for nothing else */

    bool tell_corrupt; /* the other end */
    bool was_corrupt;  /* the other end says so */
};

struct cw_rudp {
    struct cw_rudp_config config;
    size_t memory;
    struct kept *kept; /* rings, by id */
    uint8_t *kept_data;
    struct held *held;
    uint8_t *held_data;
    struct state state;
    struct cw_rudp_stats stats;
};

struct cw_rudp_config cw_rudp_config_default(void)
{
    return (struct cw_rudp_config){
        .send_delay_ticks = 1,
        .expiry_ticks = 600,
        .send_window = 1024,
        .receive_window = 1024,
        .max_package_size = CW_RUDP_FITTING_SIZE,
    };
}

static bool is_window(uint32_t window)
{
    return window >= MIN_WINDOW && window <= MAX_WINDOW && (window & (window - 1)) == 0;
}

const char *cw_rudp_config_error_field(const struct cw_rudp_config *config)
{
    if (!config)
        return NULL;
    if (!config->expiry_ticks)
        return "expiry_ticks";
    if (!is_window(config->send_window))
        return "send_window";
    if (!is_window(config->receive_window))
        return "receive_window";
    return config->max_package_size > CW_RUDP_MAX_SIZE ? "max_package_size" : NULL;
}

static struct cw_rudp *lay_out(struct cw_arena *arena, const struct cw_rudp_config *config)
{
    struct cw_rudp *rudp = cw_arena_take(arena, sizeof *rudp);
    struct kept *kept = cw_arena_take(arena, config->send_window * sizeof *kept);
    uint8_t *kept_data =
        cw_arena_take(arena, (size_t)config->send_window * config->max_package_size);
    struct held *held = cw_arena_take(arena, config->receive_window * sizeof *held);
    uint8_t *held_data =
        cw_arena_take(arena, (size_t)config->receive_window * config->max_package_size);
    if (rudp)
        *rudp = (struct cw_rudp){
            .config = *config,
            .memory = arena->size,
            .kept = kept,
            .kept_data = kept_data,
            .held = held,
            .held_data = held_data,
        };
    return rudp;
}

size_t cw_rudp_memory(const struct cw_rudp_config *config)
{
    struct cw_arena arena = {0};
    if (!config || cw_rudp_config_error_field(config))
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_protocol_error cw_rudp_create(const struct cw_rudp_config *config, struct cw_rudp **rudp)
{
    if (!config || !rudp)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    if (cw_rudp_config_error_field(config))
        return CW_PROTOCOL_ERROR_CONFIG;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_rudp_memory(config));
    if (!arena.base)
        return CW_PROTOCOL_ERROR_NO_MEMORY;
    *rudp = lay_out(&arena, config);
    return CW_PROTOCOL_OK;
}

void cw_rudp_destroy(struct cw_rudp *rudp)
{
    if (!rudp)
        return;
    const struct cw_allocator allocator = rudp->config.allocator;
    cw_release(&allocator, rudp, rudp->memory);
}

void cw_rudp_reset(struct cw_rudp *rudp)
{
    if (!rudp)
        return;
    rudp->state = (struct state){0};
    rudp->stats = (struct cw_rudp_stats){0};
    memset(rudp->held, 0, rudp->config.receive_window * sizeof *rudp->held);
}

static struct kept *kept_of(const struct cw_rudp *rudp, uint64_t id)
{
    return &rudp->kept[id % rudp->config.send_window];
}

static uint8_t *kept_data_of(const struct cw_rudp *rudp, uint64_t id)
{
    return rudp->kept_data + id % rudp->config.send_window * rudp->config.max_package_size;
}

static struct held *held_of(const struct cw_rudp *rudp, uint64_t id)
{
    return &rudp->held[id % rudp->config.receive_window];
}

static uint8_t *held_data_of(const struct cw_rudp *rudp, uint64_t id)
{
    return rudp->held_data + id % rudp->config.receive_window * rudp->config.max_package_size;
}

enum cw_protocol_error cw_rudp_send(struct cw_rudp *rudp, const uint8_t *data, size_t size)
{
    if (!rudp || (!data && size))
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    struct state *state = &rudp->state;
    if (size > rudp->config.max_package_size)
        return CW_PROTOCOL_ERROR_TOO_LARGE;
    if (state->queued - state->oldest == rudp->config.send_window)
        return CW_PROTOCOL_ERROR_QUEUE_FULL;
    kept_of(rudp, state->queued)->size = (uint32_t)size;
    if (size)
        memcpy(kept_data_of(rudp, state->queued), data, size);
    state->queued++;
    return CW_PROTOCOL_OK;
}

void cw_rudp_update(struct cw_rudp *rudp, uint32_t ticks)
{
    if (!rudp)
        return;
    struct state *state = &rudp->state;
    state->tick += ticks;
    for (; state->oldest < state->sent; state->oldest++) {
        if (state->tick - kept_of(rudp, state->oldest)->tick < rudp->config.expiry_ticks)
            break;
        rudp->stats.packages_expired++;
    }
    if (state->tick - state->round_tick < rudp->config.send_delay_ticks)
        return;
    state->round_tick = state->tick;
    state->in_round = state->silent = true;
    state->asked_end = false;
    state->asked = state->next;
}

/* A datagram that is being filled. */
struct datagram {
    uint8_t *out;
    size_t size;
};

/* False when the item must wait for the next datagram. */
static bool put(struct datagram *datagram, const struct cw_rudp_item *item)
{
    if (datagram->size && datagram->size + cw_rudp_item_size(item) > CW_RUDP_DATAGRAM_SIZE)
        return false;
    datagram->size += cw_rudp_item_write(item, datagram->out + datagram->size);
    return true;
}

static bool put_tag(struct datagram *datagram, enum cw_rudp_tag tag, uint64_t id)
{
    return put(datagram, &(struct cw_rudp_item){.tag = tag, .id = (uint16_t)id});
}

static bool put_package(const struct cw_rudp *rudp, struct datagram *datagram, uint64_t id)
{
    const struct cw_rudp_item item = {.tag = CW_RUDP_PACKAGE,
                                      .id = (uint16_t)id,
                                      .data = kept_data_of(rudp, id),
                                      .size = kept_of(rudp, id)->size};
    return put(datagram, &item);
}

/* This and the next three put their part of the round, from where they stopped. False when the
   datagram is full. */
static bool put_requests(struct cw_rudp *rudp, struct datagram *datagram)
{
    struct state *state = &rudp->state;
    const uint64_t beyond = state->next + rudp->config.receive_window;
    if (state->asked < state->next) /* the application has taken some since */
        state->asked = state->next;
    for (; state->asked < state->end && state->asked < beyond; state->asked++) {
        if (held_of(rudp, state->asked)->presence != ABSENT)
            continue;
        if (!put_tag(datagram, CW_RUDP_REQUEST, state->asked))
            return false;
        rudp->stats.requests_sent++;
    }
    if (state->ask_next && state->end < beyond) {
        const bool first = datagram->size == 0 && state->silent;
        if (!put_tag(datagram, CW_RUDP_REQUEST, state->end))
            return false;
        state->asked_end = first;
        rudp->stats.requests_sent++;
    }
    state->ask_next = false;
    return true;
}

/* The first request for the package from, or one after it. There is one. */
static uint64_t next_request(const struct state *state, uint64_t from)
{
    uint32_t id = cw_bit_next(state->requested, (uint16_t)from, WIRE_IDS);
    if (id == CW_BIT_NONE)
        id = cw_bit_next(state->requested, 0, WIRE_IDS);
    return from + (uint16_t)(id - from);
}

static bool put_answers(struct cw_rudp *rudp, struct datagram *datagram)
{
    struct state *state = &rudp->state;
    uint64_t id = state->sent - WIRE_IDS / 2;
    for (; state->request_count > 0; state->request_count--) {
        id = next_request(state, id);
        const bool expired = id < state->oldest;
        if (!(expired ? put_tag(datagram, CW_RUDP_MISSING, id) : put_package(rudp, datagram, id)))
            return false;
        (*(expired ? &rudp->stats.missing_sent : &rudp->stats.packages_resent))++;
        cw_bit_clear(state->requested, (uint16_t)id);
    }
    return true;
}

static bool put_packages(struct cw_rudp *rudp, struct datagram *datagram)
{
    struct state *state = &rudp->state;
    for (; state->sent < state->queued; state->sent++) {
        if (!put_package(rudp, datagram, state->sent))
            return false;
        kept_of(rudp, state->sent)->tick = state->tick;
        rudp->stats.packages_sent++;
    }
    return true;
}

/* Goes last, because some peers read nothing behind it. */
static bool put_corrupt(struct cw_rudp *rudp, struct datagram *datagram)
{
    if (rudp->state.tell_corrupt && !put_tag(datagram, CW_RUDP_CORRUPT, 0))
        return false;
    rudp->state.tell_corrupt = false;
    return true;
}

size_t cw_rudp_transmit(struct cw_rudp *rudp, uint8_t *out, size_t capacity)
{
    if (!rudp || !out || !rudp->state.in_round || capacity < CW_RUDP_DATAGRAM_SIZE ||
        capacity < (size_t)rudp->config.max_package_size + CW_RUDP_HEAD_MAX)
        return 0;
    struct datagram datagram = {.out = out};
    rudp->state.in_round = !(put_requests(rudp, &datagram) && put_answers(rudp, &datagram) &&
                             put_packages(rudp, &datagram) && put_corrupt(rudp, &datagram));
    /* An answer to a heartbeat says nothing of ours: were it no heartbeat too, an end that hears
       one in each round would never send any, and what it sent last could be lost for ever. */
    const size_t nothing = rudp->state.asked_end ? REQUEST_SIZE : 0;
    if (datagram.size == nothing && rudp->state.silent) {
        put_tag(&datagram, CW_RUDP_HEARTBEAT, 0);
        rudp->stats.heartbeats_sent++;
    }
    rudp->state.silent = false;
    return datagram.size;
}

/* Of the numbers that end in these 16 bits, the one nearest to known. An id from before the first
   package becomes a huge number. */
static uint64_t widen(uint16_t id, uint64_t known)
{
    return known + (uint64_t)(int64_t)(int16_t)(uint16_t)(id - known);
}

/* Remembers a request, unless the package was never sent. The answers go out before anything new,
   so until then the id on the wire means the same package. */
static void add_request(struct cw_rudp *rudp, uint16_t id)
{
    struct state *state = &rudp->state;
    rudp->stats.requests_received++;
    const bool known = state->requested[id / 64] >> id % 64 & 1;
    if (known || widen(id, state->sent) >= state->sent ||
        state->request_count == rudp->config.send_window)
        return;
    cw_bit_set(state->requested, id);
    state->request_count++;
}

/* The place of a package of which the other end has just told. NULL when the package is old, or too
   far ahead. */
static struct held *find_place(struct cw_rudp *rudp, uint64_t id)
{
    struct state *state = &rudp->state;
    const uint64_t ahead = id - state->next;
    if (ahead > UINT64_MAX / 2)
        return NULL;
    if (id >= state->end)
        state->end = ahead < MAX_WINDOW ? id + 1 : state->next + MAX_WINDOW;
    return ahead < rudp->config.receive_window ? held_of(rudp, id) : NULL;
}

static void hold(struct cw_rudp *rudp, uint64_t id, const struct cw_rudp_item *item)
{
    struct held *held = find_place(rudp, id);
    if (!held || held->presence == PRESENT) {
        rudp->stats.packages_dropped++;
        return;
    }
    *held = (struct held){.presence = PRESENT, .size = item->size};
    if (item->size)
        memcpy(held_data_of(rudp, id), item->data, item->size);
    rudp->stats.packages_received++;
}

static void apply(struct cw_rudp *rudp, const struct cw_rudp_item *item)
{
    struct state *state = &rudp->state;
    struct held *held;
    switch (item->tag) {
    case CW_RUDP_HEARTBEAT:
        state->ask_next = true;
        break;
    case CW_RUDP_CORRUPT:
        state->was_corrupt = true;
        break;
    case CW_RUDP_REQUEST:
        add_request(rudp, item->id);
        break;
    case CW_RUDP_MISSING:
        held = find_place(rudp, widen(item->id, state->end));
        if (held && held->presence == ABSENT)
            held->presence = MISSING;
        break;
    case CW_RUDP_PACKAGE:
        hold(rudp, widen(item->id, state->end), item);
        break;
    }
}

enum cw_protocol_error cw_rudp_receive(struct cw_rudp *rudp, const uint8_t *data, size_t size)
{
    if (!rudp || !data)
        return CW_PROTOCOL_ERROR_INVALID_ARGUMENT;
    struct cw_rudp_item item;
    size_t used;
    for (size_t at = 0; at < size; at += used) {
        used = cw_rudp_item_read(data + at, size - at, &item);
        if (used == 0 || item.size > rudp->config.max_package_size) {
            rudp->state.tell_corrupt = true;
            rudp->stats.datagrams_malformed++;
            return CW_PROTOCOL_ERROR_MALFORMED;
        }
    }
    for (size_t at = 0; at < size; at += used) {
        used = cw_rudp_item_read(data + at, size - at, &item);
        apply(rudp, &item);
    }
    return CW_PROTOCOL_OK;
}

bool cw_rudp_next(struct cw_rudp *rudp, struct cw_rudp_event *event)
{
    if (!rudp || !event)
        return false;
    struct state *state = &rudp->state;
    if (state->was_corrupt) {
        state->was_corrupt = false;
        *event = (struct cw_rudp_event){.type = CW_RUDP_EVENT_CORRUPT};
        return true;
    }
    struct held *held = held_of(rudp, state->next);
    if (held->presence == ABSENT)
        return false;
    *event = (struct cw_rudp_event){.type = CW_RUDP_EVENT_MISSING, .id = state->next};
    if (held->presence == PRESENT) {
        event->type = CW_RUDP_EVENT_PACKAGE;
        event->data = held_data_of(rudp, state->next);
        event->size = held->size;
    } else {
        rudp->stats.packages_missing++;
    }
    held->presence = ABSENT;
    state->next++;
    return true;
}

bool cw_rudp_waiting(const struct cw_rudp *rudp, uint64_t *id)
{
    if (!rudp || !id || rudp->state.next == rudp->state.end ||
        held_of(rudp, rudp->state.next)->presence != ABSENT)
        return false;
    *id = rudp->state.next;
    return true;
}

void cw_rudp_stats(const struct cw_rudp *rudp, struct cw_rudp_stats *stats)
{
    if (!rudp || !stats)
        return;
    *stats = rudp->stats;
    stats->packages_kept = (uint32_t)(rudp->state.sent - rudp->state.oldest);
    stats->packages_queued = (uint32_t)(rudp->state.queued - rudp->state.sent);
}
