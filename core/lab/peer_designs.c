/* A packet has the newest state unless that was sent before, and messages that are due, oldest
   first. All numbers are little-endian.

       2 bytes  the size of the state, 0 for none; the state follows
       4 bytes  the id of the first message that may come again
       for each message: 2 bytes, its id less that one; 2 bytes, its size; its bytes

   A message is an item, or the first CW_LAB_ITEM_MIN bytes of a block, 4 bytes with the place of a
   piece in it, and the piece. */
#include "lab/peers.h"

#include "base/little_endian.h"
#include "causeway/endpoint.h"

#include <string.h>

#define WINDOW         1024 /* messages that may be under way */
#define MOST           64   /* messages of a packet */
#define SENT           256  /* packets whose messages are remembered */
#define PAYLOAD        (CW_LAB_MAX_DATAGRAM - 16)
#define MESSAGE_HEADER 4
#define PIECE_HEADER   (CW_LAB_ITEM_MIN + 4)
#define PIECE          240

/* These designs have no way for big data. So that messages do not wait behind a whole block, only
   so many pieces of it are among them at a time. */
#define PIECES    4
#define END_EVERY 60 /* ticks between repeated ends of a block, where nothing is acked */

/* The rule that says which messages a packet has. */
struct mode {
    double resend_seconds; /* unacked messages come again after this time */
    uint32_t times; /* each message is sent so often, without a look at acks; 0: until acked */
};

struct outgoing {
    struct cw_lab_item item;
    uint32_t offset; /* the place of a piece in its block */
    uint32_t size;   /* bytes of the item or of the piece */
    uint32_t times;  /* the packets that it was in */
    double sent;     /* the time of the last one */
    bool done;       /* it is acked, or has been sent often enough */
};

struct incoming {
    bool here;
    uint32_t size;
    uint8_t data[CW_LAB_MESSAGE_MAX];
};

struct packet {
    uint32_t count;
    uint32_t ids[MOST];
};

struct designs_peer {
    struct mode mode;
    struct cw_endpoint *endpoint;
    bool due; /* this tick's packet is to be sent */

    struct cw_lab_item state; /* the newest; size 0 when it was sent */
    struct outgoing out[WINDOW];
    uint32_t oldest, next_id; /* messages from oldest on, up to next_id, are under way */
    struct packet sent[SENT];
    struct cw_lab_item block; /* the block that is being sent */
    uint32_t block_done;
    uint32_t pieces; /* pieces under way */
    uint32_t idle_ticks;

    struct incoming in[WINDOW];
    uint32_t expected; /* the next message in order */
    uint32_t newest;   /* the one after the newest that has come */
    uint32_t gone;     /* messages before this one that are missing do not come any more */
    bool state_came;
    struct cw_lab_item came; /* the state that came last */
    uint32_t block_came;     /* bytes of the block that comes, without a gap */

    uint32_t items[CW_LAB_BLOCK + 1]; /* the id of the next item of each kind */
    bool to_tell;                     /* the application is to learn of item, and of those before */
    bool whole;                       /* item is whole; otherwise it is lost too */
    struct cw_lab_item item;
};

static struct cw_endpoint_config endpoint_config(void)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.max_packet_size = config.fragment_above = PAYLOAD;
    config.sent_window = SENT;
    return config;
}

static size_t memory(const void *mode)
{
    const struct cw_endpoint_config config = endpoint_config();
    (void)mode;
    return cw_endpoint_memory(&config);
}

static bool begin(void *peer, const void *mode, const struct cw_allocator *allocator)
{
    struct designs_peer *p = peer;
    struct cw_endpoint_config config = endpoint_config();
    config.allocator = *allocator;
    p->mode = *(const struct mode *)mode;
    return cw_endpoint_create(&config, &p->endpoint) == CW_OK;
}

/* Returns how far id a is ahead of b; negative when it is behind. */
static int32_t ahead(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

static bool add(struct designs_peer *p, const struct cw_lab_item *item, uint32_t offset,
                uint32_t size)
{
    if (p->next_id - p->oldest == WINDOW)
        return false;
    p->out[p->next_id++ % WINDOW] =
        (struct outgoing){.item = *item, .offset = offset, .size = size};
    p->pieces += item->traffic == CW_LAB_BLOCK;
    return true;
}

static bool send(void *peer, const struct cw_lab_item *item, double now)
{
    struct designs_peer *p = peer;
    (void)now;
    if (item->traffic == CW_LAB_MESSAGE)
        return add(p, item, 0, item->size);
    if (item->traffic == CW_LAB_STATE) {
        p->state = *item;
        return true;
    }
    if (p->block_done < p->block.size)
        return false;
    p->block = *item;
    p->block_done = 0;
    return true;
}

/* Makes pieces of the block messages. Where nothing is acked, its end may be lost, and so comes
   again from time to time. */
static void send_pieces(struct designs_peer *p)
{
    while (p->block_done < p->block.size && p->pieces < PIECES) {
        const uint32_t left = p->block.size - p->block_done;
        const uint32_t size = left < PIECE ? left : PIECE;
        if (!add(p, &p->block, p->block_done, size))
            return;
        p->block_done += size;
        p->idle_ticks = 0;
    }
    if (p->mode.times && p->block_done && ++p->idle_ticks % END_EVERY == 0)
        add(p, &p->block, p->block.size, 0);
}

static void settle(struct designs_peer *p, struct outgoing *out)
{
    if (out->done)
        return;
    out->done = true;
    p->pieces -= out->item.traffic == CW_LAB_BLOCK;
    while (p->oldest != p->next_id && p->out[p->oldest % WINDOW].done)
        p->oldest++;
}

static void take_ack(struct designs_peer *p, uint16_t sequence)
{
    const struct packet *packet = &p->sent[sequence % SENT];
    for (uint32_t i = 0; i < packet->count && !p->mode.times; i++)
        if (ahead(packet->ids[i], p->oldest) >= 0)
            settle(p, &p->out[packet->ids[i] % WINDOW]);
}

/* Notes which messages will not come any more. One end must not make the other count far. */
static void take_gone(struct designs_peer *p, uint32_t first)
{
    if (!p->mode.times || ahead(first, p->gone) <= 0)
        return;
    p->gone = first;
    if (ahead(first, p->expected) <= WINDOW)
        return;
    memset(p->in, 0, sizeof p->in);
    p->expected = p->newest = first;
}

static void take_message(struct designs_peer *p, uint32_t id, const uint8_t *data, uint32_t size)
{
    struct incoming *in = &p->in[id % WINDOW];
    const int32_t place = ahead(id, p->expected);
    if (place < 0 || place >= WINDOW || in->here)
        return;
    in->here = true;
    in->size = size;
    memcpy(in->data, data, size);
    if (ahead(id + 1, p->newest) > 0)
        p->newest = id + 1;
}

static void take_state(struct designs_peer *p, const uint8_t *data, uint32_t size)
{
    struct cw_lab_item item;
    if (!cw_lab_item_read(data, size, &item) || item.traffic != CW_LAB_STATE || item.size != size ||
        !cw_lab_item_check(&item, 0, data, size) || item.id < p->items[CW_LAB_STATE])
        return;
    p->came = item;
    p->items[CW_LAB_STATE] = item.id + 1;
    p->state_came = true;
}

static void take_packet(struct designs_peer *p, const uint8_t *at, size_t size)
{
    const uint8_t *end = at + size;
    if (size < 6)
        return;
    const uint32_t state_size = (uint32_t)cw_little_endian_get(&at, 2);
    if (state_size + 4 > (size_t)(end - at))
        return;
    if (state_size > 0)
        take_state(p, at, state_size);
    at += state_size;
    const uint32_t first = (uint32_t)cw_little_endian_get(&at, 4);
    take_gone(p, first);
    while (end - at >= MESSAGE_HEADER) {
        const uint32_t id = first + (uint32_t)cw_little_endian_get(&at, 2);
        const uint32_t message_size = (uint32_t)cw_little_endian_get(&at, 2);
        if (message_size > CW_LAB_MESSAGE_MAX || message_size > (size_t)(end - at))
            return;
        take_message(p, id, at, message_size);
        at += message_size;
    }
}

static void take_events(struct designs_peer *p)
{
    struct cw_endpoint_event event;
    while (cw_endpoint_next(p->endpoint, &event)) {
        if (event.type == CW_ENDPOINT_EVENT_ACKED)
            take_ack(p, event.sequence);
        if (event.type != CW_ENDPOINT_EVENT_PACKET)
            continue;
        take_packet(p, event.payload, event.size);
        cw_endpoint_accept(p->endpoint, event.sequence);
    }
}

static void receive(void *peer, const uint8_t *data, size_t size, double now)
{
    struct designs_peer *p = peer;
    cw_endpoint_receive(p->endpoint, data, size, now);
    take_events(p);
}

static void update(void *peer, double now)
{
    struct designs_peer *p = peer;
    cw_endpoint_update(p->endpoint, now);
    take_events(p);
    send_pieces(p);
    p->due = true;
}

static bool is_due(const struct designs_peer *p, const struct outgoing *out, double now)
{
    const double rounding = 1e-9; /* six ticks of 1/60 s are 0.1 s */
    return !out->done && (out->times == 0 || now - out->sent + rounding >= p->mode.resend_seconds);
}

static uint32_t size_of(const struct outgoing *out)
{
    return MESSAGE_HEADER + out->size + (out->item.traffic == CW_LAB_BLOCK ? PIECE_HEADER : 0);
}

static uint8_t *write_message(const struct outgoing *out, uint32_t id, uint8_t *at)
{
    cw_little_endian_put(&at, id, 2);
    cw_little_endian_put(&at, size_of(out) - MESSAGE_HEADER, 2);
    if (out->item.traffic == CW_LAB_BLOCK) {
        cw_lab_item_write(&out->item, 0, at, CW_LAB_ITEM_MIN);
        at += CW_LAB_ITEM_MIN;
        cw_little_endian_put(&at, out->offset, 4);
    }
    cw_lab_item_write(&out->item, out->offset, at, out->size);
    return at + out->size;
}

/* Writes the messages that are due and fit, and notes which they are. */
static uint8_t *write_messages(struct designs_peer *p, struct packet *packet, uint8_t *at,
                               const uint8_t *end, double now)
{
    const uint32_t first = p->oldest;
    packet->count = 0;
    for (uint32_t id = first; id != p->next_id && packet->count < MOST; id++) {
        struct outgoing *out = &p->out[id % WINDOW];
        if (!is_due(p, out, now))
            continue;
        if (size_of(out) > (size_t)(end - at))
            break;
        at = write_message(out, id - first, at);
        packet->ids[packet->count++] = id;
        out->sent = now;
        if (++out->times == p->mode.times)
            settle(p, out);
    }
    return at;
}

static size_t transmit(void *peer, uint8_t *out, size_t capacity, double now)
{
    struct designs_peer *p = peer;
    uint8_t *payload, *at;
    uint16_t sequence;
    if (!p->due || cw_endpoint_begin(p->endpoint, PAYLOAD, out, capacity, &payload) != CW_OK)
        return 0;
    p->due = false;
    at = payload;
    cw_little_endian_put(&at, p->state.size, 2);
    cw_lab_item_write(&p->state, 0, at, p->state.size);
    at += p->state.size;
    p->state.size = 0;
    cw_little_endian_put(&at, p->oldest, 4);
    struct packet *packet = &p->sent[cw_endpoint_next_sequence(p->endpoint) % SENT];
    at = write_messages(p, packet, at, payload + PAYLOAD, now);
    return cw_endpoint_commit(p->endpoint, (size_t)(at - payload), now, &sequence);
}

/* Takes a piece of p->item. Returns true at the end of the block, whole or not. */
static bool take_piece(struct designs_peer *p, const uint8_t *at, uint32_t size)
{
    if (size < PIECE_HEADER || p->item.id < p->items[CW_LAB_BLOCK])
        return false;
    at += CW_LAB_ITEM_MIN;
    const uint32_t offset = (uint32_t)cw_little_endian_get(&at, 4);
    size -= PIECE_HEADER;
    if (offset == 0)
        p->block_came = 0;
    if (offset == p->block_came && cw_lab_item_check(&p->item, offset, at, size))
        p->block_came += size;
    p->whole = p->block_came == p->item.size;
    return (uint64_t)offset + size >= p->item.size;
}

/* Takes a message in order. Returns true when the application must learn of p->item. */
static bool take(struct designs_peer *p, struct incoming *in)
{
    in->here = false;
    if (!cw_lab_item_read(in->data, in->size, &p->item))
        return false;
    if (p->item.traffic == CW_LAB_BLOCK)
        return take_piece(p, in->data, in->size);
    p->whole = p->item.traffic == CW_LAB_MESSAGE && in->size == p->item.size &&
               cw_lab_item_check(&p->item, 0, in->data, in->size);
    return p->whole && p->item.id >= p->items[CW_LAB_MESSAGE];
}

/* Goes on to the next message that has come, beyond those that will not. */
static bool next_in_order(struct designs_peer *p)
{
    for (;;) {
        struct incoming *in = &p->in[p->expected % WINDOW];
        if (!in->here && ahead(p->gone, p->expected) <= 0)
            return false;
        p->expected++;
        if (in->here && take(p, in))
            return true;
    }
}

static bool next(void *peer, struct cw_lab_arrival *arrival)
{
    struct designs_peer *p = peer;
    if (p->state_came) {
        p->state_came = false;
        *arrival = (struct cw_lab_arrival){.item = p->came};
        return true;
    }
    if (!p->to_tell && !next_in_order(p))
        return false;
    const enum cw_lab_traffic traffic = p->item.traffic;
    const uint32_t id = p->items[traffic]++;
    *arrival = (struct cw_lab_arrival){.item = p->item};
    if (id < p->item.id || !p->whole)
        *arrival = (struct cw_lab_arrival){.item = {.traffic = traffic, .id = id}, .lost = true};
    p->to_tell = id < p->item.id;
    return true;
}

static enum cw_lab_waiting waiting(const void *peer, double now, uint32_t *number)
{
    const struct designs_peer *p = peer;
    (void)now;
    const bool gap = ahead(p->newest, p->expected) > 0;
    *number = gap ? p->items[CW_LAB_MESSAGE] : 0;
    return gap ? CW_LAB_WAITING_MESSAGE : CW_LAB_WAITING_NOTHING;
}

#define DESIGNS_PEER(mode_name, ...)                                                               \
    CW_LAB_PEER(mode_name, designs_peer, .name = #mode_name,                                       \
                .mode = &(const struct mode){__VA_ARGS__})

DESIGNS_PEER(unacked, .resend_seconds = 0)
DESIGNS_PEER(thrice, .times = 3)
DESIGNS_PEER(tenth, .resend_seconds = 0.1)
