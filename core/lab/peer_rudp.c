#include "lab/peers.h"

#include "causeway/protocols/rudp.h"

#include <string.h>

/* Packages are kept for long enough that none expires at 90 % loss. In each tick of this time an
   end sends a state, a message and the pieces of a block; all of them fit into the window. */
#define EXPIRY_TICKS   1800
#define SEND_WINDOW    8192
#define RECEIVE_WINDOW 2048

/* A block goes out about as fast as that of a connection, because nothing else limits it here. Each
   piece begins with the first CW_LAB_ITEM_MIN bytes of its block. After the last one, an empty
   piece follows from time to time, so that the other end notices when pieces have expired. */
#define PIECES_PER_TICK 2
#define PIECE_SIZE      (CW_RUDP_FITTING_SIZE - CW_LAB_ITEM_MIN)
#define END_EVERY       60 /* ticks from one such piece to the next */

/* A block on its way: the part of it that was sent, or has come. */
struct progress {
    struct cw_lab_item block;
    uint32_t done;
};

struct rudp_peer {
    struct cw_rudp *rudp;
    struct progress sends;
    uint32_t idle_ticks; /* ticks with no piece to send */
    struct progress receives;
    uint32_t expected[CW_LAB_BLOCK + 1]; /* the id of the next item of each kind */
    bool to_tell; /* the application is to learn of item, and of the items lost before it */
    bool whole;   /* item is whole; otherwise it is lost too */
    struct cw_lab_item item;
};

static struct cw_rudp_config rudp_config(void)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.expiry_ticks = EXPIRY_TICKS;
    config.send_window = SEND_WINDOW;
    config.receive_window = RECEIVE_WINDOW;
    return config;
}

static size_t memory(const void *mode)
{
    const struct cw_rudp_config config = rudp_config();
    (void)mode;
    return cw_rudp_memory(&config);
}

static bool begin(void *peer, const void *mode, const struct cw_allocator *allocator)
{
    struct rudp_peer *p = peer;
    struct cw_rudp_config config = rudp_config();
    (void)mode;
    config.allocator = *allocator;
    return cw_rudp_create(&config, &p->rudp) == CW_PROTOCOL_OK;
}

static bool send(void *peer, const struct cw_lab_item *item, double now)
{
    struct rudp_peer *p = peer;
    uint8_t data[CW_LAB_MESSAGE_MAX];
    (void)now;
    if (item->traffic == CW_LAB_BLOCK) {
        if (p->sends.done < p->sends.block.size)
            return false;
        p->sends = (struct progress){.block = *item};
        return true;
    }
    cw_lab_item_write(item, 0, data, item->size);
    return cw_rudp_send(p->rudp, data, item->size) == CW_PROTOCOL_OK;
}

static bool send_piece(struct rudp_peer *p)
{
    struct progress *sends = &p->sends;
    uint8_t data[CW_RUDP_FITTING_SIZE];
    const uint32_t left = sends->block.size - sends->done;
    const uint32_t size = left < PIECE_SIZE ? left : PIECE_SIZE;
    cw_lab_item_write(&sends->block, 0, data, CW_LAB_ITEM_MIN);
    cw_lab_item_write(&sends->block, sends->done, data + CW_LAB_ITEM_MIN, size);
    if (cw_rudp_send(p->rudp, data, CW_LAB_ITEM_MIN + size) != CW_PROTOCOL_OK)
        return false;
    sends->done += size;
    return true;
}

static void send_pieces(struct rudp_peer *p)
{
    const struct progress *sends = &p->sends;
    if (sends->done < sends->block.size) {
        for (int i = 0; i < PIECES_PER_TICK && sends->done < sends->block.size; i++)
            if (!send_piece(p))
                return;
    } else if (sends->done && ++p->idle_ticks % END_EVERY == 0) {
        send_piece(p);
    }
}

static void receive(void *peer, const uint8_t *data, size_t size, double now)
{
    struct rudp_peer *p = peer;
    (void)now;
    cw_rudp_receive(p->rudp, data, size);
}

static void update(void *peer, double now)
{
    struct rudp_peer *p = peer;
    (void)now;
    send_pieces(p);
    cw_rudp_update(p->rudp, 1);
}

static size_t transmit(void *peer, uint8_t *out, size_t capacity, double now)
{
    struct rudp_peer *p = peer;
    (void)now;
    return cw_rudp_transmit(p->rudp, out, capacity);
}

/* Takes a piece of p->item. Returns true when the application must learn of it: the block is whole,
   or at its end and not whole. Pieces come in order, so one that does not fit follows one that is
   missing. */
static bool receive_piece(struct rudp_peer *p, const uint8_t *data, size_t size)
{
    struct progress *receives = &p->receives;
    if (receives->block.id != p->item.id || receives->block.size != p->item.size)
        *receives = (struct progress){.block = p->item};
    if (size == 0)
        return p->item.id >= p->expected[CW_LAB_BLOCK];
    if (cw_lab_item_check(&p->item, receives->done, data, size))
        receives->done += (uint32_t)size;
    return p->whole = receives->done == p->item.size;
}

/* Takes a package. Returns true when the application must learn of p->item. */
static bool receive_package(struct rudp_peer *p, const uint8_t *data, size_t size)
{
    p->whole = false;
    if (!cw_lab_item_read(data, size, &p->item))
        return false;
    if (p->item.traffic == CW_LAB_BLOCK)
        return receive_piece(p, data + CW_LAB_ITEM_MIN, size - CW_LAB_ITEM_MIN);
    return p->whole = size == p->item.size && cw_lab_item_check(&p->item, 0, data, size);
}

/* Tells the application of p->item, or of one lost before it: the content of a missing package is
   unknown until the next item of its kind comes. States are not reported lost, because only the
   newest counts. */
static void tell(struct rudp_peer *p, struct cw_lab_arrival *arrival)
{
    uint32_t *expected = &p->expected[p->item.traffic];
    *arrival = (struct cw_lab_arrival){.item = p->item};
    if (p->item.traffic == CW_LAB_STATE) {
        p->to_tell = false;
        return;
    }
    if (*expected < p->item.id || !p->whole)
        *arrival = (struct cw_lab_arrival){.item = {.traffic = p->item.traffic, .id = *expected},
                                           .lost = true};
    p->to_tell = ++*expected <= p->item.id;
}

static bool next(void *peer, struct cw_lab_arrival *arrival)
{
    struct rudp_peer *p = peer;
    struct cw_rudp_event event;
    while (!p->to_tell && cw_rudp_next(p->rudp, &event)) /* only packages have data */
        p->to_tell = receive_package(p, event.data, event.size);
    if (!p->to_tell)
        return false;
    tell(p, arrival);
    return true;
}

static enum cw_lab_waiting waiting(const void *peer, double now, uint32_t *number)
{
    const struct rudp_peer *p = peer;
    uint64_t id = 0;
    (void)now;
    const bool asks = cw_rudp_waiting(p->rudp, &id);
    *number = (uint32_t)id;
    return asks ? CW_LAB_WAITING_ANSWER : CW_LAB_WAITING_NOTHING;
}

CW_LAB_PEER(rudp, rudp_peer, .name = "rudp")
