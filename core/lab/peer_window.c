#include "lab/peers.h"

#include "lab/window.h"

/* A frame is a byte with its type, its length in 1, 3 or 9 bytes, and an item. */
#define FRAME_BINARY 0x82
#define FRAME_16     126 /* the length follows in 2 bytes */
#define FRAME_64     127 /* the length follows in 8 bytes */
#define FRAME_MAX    10
#define MAX_SIZE_16  65535
#define PIECE        1024
#define SEGMENT_SIZE (CW_LAB_MAX_DATAGRAM - CW_WINDOW_OVERHEAD)

struct window_peer {
    struct cw_window *window;
    uint8_t head[FRAME_MAX + CW_LAB_ITEM_MIN]; /* the beginning of the frame that is being read */
    uint32_t head_size;
    struct cw_lab_item item; /* its item once the head is complete */
    uint32_t item_size;      /* the bytes of the item that have been read */
};

/* The changes that a peer type makes to the defaults. */
struct mode {
    bool nagle;
};

static struct cw_window_config window_config(const struct mode *mode)
{
    struct cw_window_config config = cw_window_config_default();
    config.max_segment_size = SEGMENT_SIZE;
    config.nagle = mode->nagle;
    return config;
}

static size_t memory(const void *mode)
{
    const struct cw_window_config config = window_config(mode);
    return cw_window_memory(&config);
}

static bool begin(void *peer, const void *mode, const struct cw_allocator *allocator)
{
    struct window_peer *p = peer;
    struct cw_window_config config = window_config(mode);
    config.allocator = *allocator;
    return cw_window_create(&config, &p->window) == CW_PROTOCOL_OK;
}

/* Writes the head of a frame for an item of this size and returns the head's size. */
static uint32_t write_frame(uint32_t size, uint8_t *out)
{
    const uint32_t length_size = size < FRAME_16 ? 0 : size <= MAX_SIZE_16 ? 2 : 8;
    out[0] = FRAME_BINARY;
    out[1] = (uint8_t)(length_size == 0 ? size : length_size == 2 ? FRAME_16 : FRAME_64);
    for (uint32_t i = 0; i < length_size; i++)
        out[2 + i] = (uint8_t)((uint64_t)size >> 8 * (length_size - 1 - i));
    return 2 + length_size;
}

static uint32_t frame_size(const uint8_t *head)
{
    return head[1] == FRAME_64 ? 10 : head[1] == FRAME_16 ? 4 : 2;
}

static bool send(void *peer, const struct cw_lab_item *item, double now)
{
    struct window_peer *p = peer;
    uint8_t bytes[PIECE];
    size_t taken;
    const uint32_t frame = write_frame(item->size, bytes);
    if (cw_window_room(p->window) < frame + item->size)
        return false;
    cw_window_send(p->window, bytes, frame, now, &taken);
    for (uint32_t done = 0; done < item->size; done += PIECE) {
        const uint32_t left = item->size - done;
        const uint32_t size = left < PIECE ? left : PIECE;
        cw_lab_item_write(item, done, bytes, size);
        cw_window_send(p->window, bytes, size, now, &taken);
    }
    return true;
}

static void receive(void *peer, const uint8_t *data, size_t size, double now)
{
    struct window_peer *p = peer;
    cw_window_receive(p->window, data, size, now);
}

static void update(void *peer, double now)
{
    struct window_peer *p = peer;
    cw_window_update(p->window, now);
}

static size_t transmit(void *peer, uint8_t *out, size_t capacity, double now)
{
    struct window_peer *p = peer;
    return cw_window_transmit(p->window, out, capacity, now);
}

/* Reads on until the head holds this many bytes. Returns false when there are no more. */
static bool read_head(struct window_peer *p, uint32_t wanted)
{
    if (p->head_size < wanted)
        p->head_size +=
            (uint32_t)cw_window_read(p->window, p->head + p->head_size, wanted - p->head_size);
    return p->head_size >= wanted;
}

/* Reads the beginning of a frame and of its item. */
static bool read_item_head(struct window_peer *p)
{
    if (p->item_size > 0)
        return true;
    if (!read_head(p, 2) || !read_head(p, frame_size(p->head) + CW_LAB_ITEM_MIN) ||
        !cw_lab_item_read(p->head + frame_size(p->head), CW_LAB_ITEM_MIN, &p->item))
        return false;
    p->item_size = CW_LAB_ITEM_MIN;
    return true;
}

/* Gives the next item. A stream that differs from the one that was sent stops here, so that no
   wrong item is delivered. */
static bool next(void *peer, struct cw_lab_arrival *arrival)
{
    struct window_peer *p = peer;
    uint8_t bytes[PIECE];
    if (!read_item_head(p))
        return false;
    while (p->item_size < p->item.size) {
        const uint32_t left = p->item.size - p->item_size;
        const size_t size = cw_window_read(p->window, bytes, left < PIECE ? left : PIECE);
        if (size == 0 || !cw_lab_item_check(&p->item, p->item_size, bytes, size))
            return false;
        p->item_size += (uint32_t)size;
    }
    *arrival = (struct cw_lab_arrival){.item = p->item};
    p->head_size = p->item_size = 0;
    return true;
}

static enum cw_lab_waiting waiting(const void *peer, double now, uint32_t *number)
{
    const struct window_peer *p = peer;
    struct cw_window_stats stats;
    cw_window_get_stats(p->window, &stats);
    if (stats.ranges_early > 0) {
        *number = stats.bytes_missing_at;
        return CW_LAB_WAITING_BYTE;
    }
    if (stats.timed_out && stats.timer_due > now) {
        *number = (uint32_t)((stats.timer_due - now) * 1000);
        return CW_LAB_WAITING_TIMER;
    }
    if (stats.window_full) {
        *number = stats.send_window_bytes > 0 ? (uint32_t)stats.cwnd * SEGMENT_SIZE : 0;
        return CW_LAB_WAITING_WINDOW;
    }
    *number = 0;
    return CW_LAB_WAITING_NOTHING;
}

#define WINDOW_PEER(variable, peer_name, ...)                                                      \
    CW_LAB_PEER(variable, window_peer, .name = (peer_name), .answers_at_once = true,               \
                .mode = &(const struct mode){__VA_ARGS__})

WINDOW_PEER(window, "tcp", .nagle = false)
WINDOW_PEER(nagle, "nagle", .nagle = true)
