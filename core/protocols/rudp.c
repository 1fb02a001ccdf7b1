#include "causeway/protocols/rudp.h"

#include "base/bit_set.h"
#include "base/memory.h"
#include "protocols/rudp_wire.h"

#include <string.h>

#define MIN_WINDOW   32
#define MAX_WINDOW   16384
#define WIRE_IDS     65536 /* ids that differ on the wire */
#define REQUEST_SIZE 3     /* bytes */

/* One of our packages, which is kept from send to expiry. */
struct outgoing {
    uint64_t tick; /* the tick in which it went out */
    uint32_t size;
};

enum presence {
    ABSENT,
    MISSING, /* the other end says so */
    PRESENT
};

/* A package of the other end, which is kept until the application takes it. */
struct incoming {
    enum presence presence;
    uint32_t size;
};

/* The state of this end; all zero at first. Ids are 64-bit counters here. */
struct state {
    uint64_t tick;
    uint64_t round_tick; /* the tick in which the last round began */
    bool in_round;       /* transmit has not given all of it yet */
    bool silent;         /* transmit has given nothing of it yet */

    uint64_t oldest;                   /* our packages are kept from here on */
    uint64_t sent;                     /* our packages have gone out up to here */
    uint64_t queued;                   /* our packages exist up to here */
    uint64_t requested[WIRE_IDS / 64]; /* the other end's requests: a bit for each id on the wire */
    uint32_t request_count;            /* the number of bits that are set */

    uint64_t next; /* the application gets it next */
    uint64_t end; /* the id after the newest that is known, or next + MAX_WINDOW: ids near next must
                     be widened correctly in any case */
    uint64_t next_request_id; /* this round has asked for all that is absent before it */
    bool request_end;         /* a heartbeat came, so this end asks for end too */
    bool only_end_requested;  /* this round has asked for end and for nothing else */

    bool report_corrupt;   /* the other end must be told */
    bool peer_saw_corrupt; /* the application must be told */
};

struct cw_rudp {
    struct cw_rudp_config config;
    size_t memory;
    struct outgoing *outgoing; /* outgoing and incoming are rings with a place for each id */
    uint8_t *outgoing_data;
    struct incoming *incoming;
    uint8_t *incoming_data;
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
        .datagram_size = CW_RUDP_DATAGRAM_SIZE,
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
    if (config->max_package_size > CW_RUDP_MAX_SIZE)
        return "max_package_size";
    if (config->datagram_size < CW_RUDP_MIN_DATAGRAM_SIZE ||
        config->datagram_size > CW_RUDP_MAX_DATAGRAM_SIZE)
        return "datagram_size";
    return NULL;
}

static struct cw_rudp *lay_out(struct cw_arena *arena, const struct cw_rudp_config *config)
{
    struct cw_rudp *rudp = cw_arena_take(arena, sizeof *rudp);
    struct outgoing *outgoing = cw_arena_take(arena, config->send_window * sizeof *outgoing);
    uint8_t *outgoing_data =
        cw_arena_take(arena, (size_t)config->send_window * config->max_package_size);
    struct incoming *incoming = cw_arena_take(arena, config->receive_window * sizeof *incoming);
    uint8_t *incoming_data =
        cw_arena_take(arena, (size_t)config->receive_window * config->max_package_size);
    if (rudp)
        *rudp = (struct cw_rudp){
            .config = *config,
            .memory = arena->size,
            .outgoing = outgoing,
            .outgoing_data = outgoing_data,
            .incoming = incoming,
            .incoming_data = incoming_data,
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
    memset(rudp->incoming, 0, rudp->config.receive_window * sizeof *rudp->incoming);
}

static struct outgoing *outgoing_of(const struct cw_rudp *rudp, uint64_t id)
{
    return &rudp->outgoing[id % rudp->config.send_window];
}

static uint8_t *outgoing_data_of(const struct cw_rudp *rudp, uint64_t id)
{
    return rudp->outgoing_data + id % rudp->config.send_window * rudp->config.max_package_size;
}

static struct incoming *incoming_of(const struct cw_rudp *rudp, uint64_t id)
{
    return &rudp->incoming[id % rudp->config.receive_window];
}

static uint8_t *incoming_data_of(const struct cw_rudp *rudp, uint64_t id)
{
    return rudp->incoming_data + id % rudp->config.receive_window * rudp->config.max_package_size;
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
    outgoing_of(rudp, state->queued)->size = (uint32_t)size;
    if (size)
        memcpy(outgoing_data_of(rudp, state->queued), data, size);
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
        if (state->tick - outgoing_of(rudp, state->oldest)->tick < rudp->config.expiry_ticks)
            break;
        rudp->stats.packages_expired++;
    }
    if (state->tick - state->round_tick < rudp->config.send_delay_ticks)
        return;
    state->round_tick = state->tick;
    state->in_round = state->silent = true;
    state->only_end_requested = false;
    state->next_request_id = state->next;
}

/* transmit fills this datagram. */
struct datagram {
    uint8_t *out;
    size_t size;
    size_t limit; /* items share the datagram up to this size */
};

/* Returns false when the item must wait for the next datagram. */
static bool put(struct datagram *datagram, const struct cw_rudp_item *item)
{
    if (datagram->size && datagram->size + cw_rudp_item_size(item) > datagram->limit)
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
                                      .data = outgoing_data_of(rudp, id),
                                      .size = outgoing_of(rudp, id)->size};
    return put(datagram, &item);
}

/* This function and the next three put their part of the round, from where they stopped. They
   return false when the datagram is full. */
static bool put_requests(struct cw_rudp *rudp, struct datagram *datagram)
{
    struct state *state = &rudp->state;
    const uint64_t beyond = state->next + rudp->config.receive_window;
    if (state->next_request_id < state->next) /* the application has taken some since */
        state->next_request_id = state->next;
    for (; state->next_request_id < state->end && state->next_request_id < beyond;
         state->next_request_id++) {
        if (incoming_of(rudp, state->next_request_id)->presence != ABSENT)
            continue;
        if (!put_tag(datagram, CW_RUDP_REQUEST, state->next_request_id))
            return false;
        rudp->stats.requests_sent++;
    }
    if (state->request_end && state->end < beyond) {
        const bool first = datagram->size == 0 && state->silent;
        if (!put_tag(datagram, CW_RUDP_REQUEST, state->end))
            return false;
        state->only_end_requested = first;
        rudp->stats.requests_sent++;
    }
    state->request_end = false;
    return true;
}

/* Returns the first id from `from` on that is requested. There must be one. */
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
        outgoing_of(rudp, state->sent)->tick = state->tick;
        rudp->stats.packages_sent++;
    }
    return true;
}

/* Puts the item that reports a corrupt datagram. It goes last, because some peers read nothing
   behind it. */
static bool put_corrupt(struct cw_rudp *rudp, struct datagram *datagram)
{
    if (rudp->state.report_corrupt && !put_tag(datagram, CW_RUDP_CORRUPT, 0))
        return false;
    rudp->state.report_corrupt = false;
    return true;
}

size_t cw_rudp_transmit(struct cw_rudp *rudp, uint8_t *out, size_t capacity)
{
    if (!rudp || !out || !rudp->state.in_round || capacity < rudp->config.datagram_size ||
        capacity < (size_t)rudp->config.max_package_size + CW_RUDP_HEAD_MAX)
        return 0;
    struct datagram datagram = {.out = out, .limit = rudp->config.datagram_size};
    rudp->state.in_round = !(put_requests(rudp, &datagram) && put_answers(rudp, &datagram) &&
                             put_packages(rudp, &datagram) && put_corrupt(rudp, &datagram));
    /* An answer to a heartbeat is no news of ours. Otherwise an end that hears a heartbeat in each
       round would never send one, and its last packages could be lost forever. */
    const size_t nothing = rudp->state.only_end_requested ? REQUEST_SIZE : 0;
    if (datagram.size == nothing && rudp->state.silent) {
        put_tag(&datagram, CW_RUDP_HEARTBEAT, 0);
        rudp->stats.heartbeats_sent++;
    }
    rudp->state.silent = false;
    return datagram.size;
}

/* Returns the number nearest to known of those that end in these 16 bits. An id from before the
   first package becomes a huge number. */
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

/* Returns the place of a package that the other end has sent or called missing; NULL when the
   package is old, or too far ahead. */
static struct incoming *find_place(struct cw_rudp *rudp, uint64_t id)
{
    struct state *state = &rudp->state;
    const uint64_t ahead = id - state->next;
    if (ahead > UINT64_MAX / 2)
        return NULL;
    if (id >= state->end)
        state->end = ahead < MAX_WINDOW ? id + 1 : state->next + MAX_WINDOW;
    return ahead < rudp->config.receive_window ? incoming_of(rudp, id) : NULL;
}

static void store(struct cw_rudp *rudp, uint64_t id, const struct cw_rudp_item *item)
{
    struct incoming *incoming = find_place(rudp, id);
    if (!incoming || incoming->presence == PRESENT) {
        rudp->stats.packages_dropped++;
        return;
    }
    *incoming = (struct incoming){.presence = PRESENT, .size = item->size};
    if (item->size)
        memcpy(incoming_data_of(rudp, id), item->data, item->size);
    rudp->stats.packages_received++;
}

static void apply(struct cw_rudp *rudp, const struct cw_rudp_item *item)
{
    struct state *state = &rudp->state;
    struct incoming *incoming;
    switch (item->tag) {
    case CW_RUDP_HEARTBEAT:
        state->request_end = true;
        break;
    case CW_RUDP_CORRUPT:
        state->peer_saw_corrupt = true;
        break;
    case CW_RUDP_REQUEST:
        add_request(rudp, item->id);
        break;
    case CW_RUDP_MISSING:
        incoming = find_place(rudp, widen(item->id, state->end));
        if (incoming && incoming->presence == ABSENT)
            incoming->presence = MISSING;
        break;
    case CW_RUDP_PACKAGE:
        store(rudp, widen(item->id, state->end), item);
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
            rudp->state.report_corrupt = true;
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
    if (state->peer_saw_corrupt) {
        state->peer_saw_corrupt = false;
        *event = (struct cw_rudp_event){.type = CW_RUDP_EVENT_CORRUPT};
        return true;
    }
    struct incoming *incoming = incoming_of(rudp, state->next);
    if (incoming->presence == ABSENT)
        return false;
    *event = (struct cw_rudp_event){.type = CW_RUDP_EVENT_MISSING, .id = state->next};
    if (incoming->presence == PRESENT) {
        event->type = CW_RUDP_EVENT_PACKAGE;
        event->data = incoming_data_of(rudp, state->next);
        event->size = incoming->size;
    } else {
        rudp->stats.packages_missing++;
    }
    incoming->presence = ABSENT;
    state->next++;
    return true;
}

bool cw_rudp_waiting(const struct cw_rudp *rudp, uint64_t *id)
{
    if (!rudp || !id || rudp->state.next == rudp->state.end ||
        incoming_of(rudp, rudp->state.next)->presence != ABSENT)
        return false;
    *id = rudp->state.next;
    return true;
}

void cw_rudp_get_stats(const struct cw_rudp *rudp, struct cw_rudp_stats *stats)
{
    if (!rudp || !stats)
        return;
    *stats = rudp->stats;
    stats->packages_kept = (uint32_t)(rudp->state.sent - rudp->state.oldest);
    stats->packages_queued = (uint32_t)(rudp->state.queued - rudp->state.sent);
}
