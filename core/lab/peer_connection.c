#include "lab/peers.h"

#include "base/memory.h"
#include "causeway/connection.h"
#include "packet/packet_header.h"

#include <stdalign.h>
#include <string.h>

/* The messages that may be unacked: those of 17 seconds at 60 per second. */
#define QUEUE 1024

/* This message is a state or a message of the lab. A block of the lab is the block of a message
   without fields. */
#define ITEM_FIELDS(FIELD) FIELD(bytes, CW_BYTES(CW_LAB_MESSAGE_MAX))
CW_MESSAGE(lab_item, ITEM_FIELDS)

enum { TYPE_ITEM, TYPE_BLOCK, TYPE_COUNT };
enum { CHANNEL_MESSAGES, CHANNEL_STATES, CHANNEL_BLOCKS, CHANNEL_COUNT };

/* The changes that a peer type makes to the defaults. */
struct mode {
    enum cw_recovery_kind recovery; /* the recovery of messages */
    bool binary;                    /* congestion control in the mode CW_CONGESTION_BINARY */
};

struct connection_peer {
    struct mode mode;
    struct cw_schema *schema;
    struct cw_connection *connection;
    uint32_t messages_taken;         /* messages that the application has taken */
    struct cw_lab_packet packet;     /* the newest that was sent */
    uint8_t block[CW_LAB_BLOCK_MAX]; /* the block that is being sent */
};

static enum cw_error make_schema(struct cw_allocator allocator, struct cw_schema **schema)
{
    const struct cw_message_type types[TYPE_COUNT] = {
        [TYPE_ITEM] = lab_item_type, [TYPE_BLOCK] = {.name = "lab_block", .block = true}};
    const struct cw_schema_config config = {
        .types = types, .count = TYPE_COUNT, .allocator = allocator};
    return cw_schema_create(&config, schema);
}

static struct cw_connection_config connection_config(const struct mode *mode,
                                                     const struct cw_schema *schema)
{
    struct cw_connection_config config = cw_connection_config_default(schema);
    config.max_messages = 4 * QUEUE;
    config.max_receipts = 0;
    config.channel_count = CHANNEL_COUNT;
    config.channels[CHANNEL_BLOCKS] = cw_channel_config_default(CW_CHANNEL_RELIABLE_ORDERED);
    config.channels[CHANNEL_BLOCKS].blocks = true;
    config.channels[CHANNEL_BLOCKS].max_block_size = CW_LAB_BLOCK_MAX;
    config.channels[CHANNEL_MESSAGES].send_queue_size = QUEUE;
    config.channels[CHANNEL_MESSAGES].receive_queue_size = QUEUE;
    config.channels[CHANNEL_MESSAGES].recovery = mode->recovery;
    if (mode->binary)
        config.congestion.mode = CW_CONGESTION_BINARY;
    return config;
}

/* Returns the bytes that a connection takes. They depend on the schema, so one is made here for a
   moment. */
static size_t memory(const void *mode)
{
    alignas(max_align_t) uint8_t buffer[4096];
    struct cw_arena schema_arena = {.base = buffer, .size = sizeof buffer}, arena = {0};
    struct cw_schema *schema;
    if (make_schema(cw_arena_allocator(&schema_arena), &schema) != CW_OK)
        return 0;
    const struct cw_connection_config config = connection_config(mode, schema);
    cw_arena_take(&arena, schema_arena.used);
    cw_arena_take(&arena, cw_connection_memory(&config));
    return arena.used;
}

static bool begin(void *peer, const void *mode, const struct cw_allocator *allocator)
{
    struct connection_peer *p = peer;
    p->mode = *(const struct mode *)mode;
    if (make_schema(*allocator, &p->schema) != CW_OK)
        return false;
    struct cw_connection_config config = connection_config(mode, p->schema);
    config.allocator = *allocator;
    return cw_connection_create(&config, &p->connection) == CW_OK;
}

static enum cw_error fill_in(struct connection_peer *p, const struct cw_lab_item *item,
                             struct cw_message *message)
{
    if (item->traffic == CW_LAB_BLOCK) {
        cw_lab_item_write(item, 0, p->block, item->size);
        return cw_message_attach(message, p->block, item->size, NULL, NULL);
    }
    struct lab_item *body = message->data;
    body->bytes.size = item->size;
    cw_lab_item_write(item, 0, body->bytes.data, item->size);
    return CW_OK;
}

static bool send(void *peer, const struct cw_lab_item *item, double now)
{
    static const uint32_t channels[] = {[CW_LAB_STATE] = CHANNEL_STATES,
                                        [CW_LAB_MESSAGE] = CHANNEL_MESSAGES,
                                        [CW_LAB_BLOCK] = CHANNEL_BLOCKS};
    struct connection_peer *p = peer;
    struct cw_message *message;
    const uint32_t type = item->traffic == CW_LAB_BLOCK ? TYPE_BLOCK : TYPE_ITEM;
    if (cw_connection_create_message(p->connection, type, &message) != CW_OK)
        return false;
    if (fill_in(p, item, message) == CW_OK &&
        cw_connection_send(p->connection, channels[item->traffic], message, now) == CW_OK)
        return true;
    cw_message_release(message);
    return false;
}

static void receive(void *peer, const uint8_t *data, size_t size, double now)
{
    struct connection_peer *p = peer;
    cw_connection_receive(p->connection, data, size, now);
}

static void update(void *peer, double now)
{
    struct connection_peer *p = peer;
    cw_connection_update(p->connection, now);
}

/* Returns the messages that wait for their first packet, and counts those that were sent again. */
static uint32_t count_queued(const struct connection_peer *p, uint32_t *resent)
{
    uint32_t queued = 0;
    *resent = 0;
    for (uint32_t i = 0; i < CHANNEL_COUNT; i++) {
        struct cw_channel_stats stats;
        cw_connection_get_channel_stats(p->connection, i, &stats);
        queued += stats.queued;
        *resent += (uint32_t)stats.resent;
    }
    return queued;
}

static size_t transmit(void *peer, uint8_t *out, size_t capacity, double now)
{
    struct connection_peer *p = peer;
    uint32_t resent_before, resent;
    const uint32_t queued_before = count_queued(p, &resent_before);
    const size_t size = cw_connection_transmit(p->connection, out, capacity, now);
    struct cw_packet_header header;
    /* A fragment of an earlier packet has no such head, and first ones are no packets of their own.
     */
    if (size == 0 || cw_packet_header_read(&header, out, size) == 0)
        return size;
    const uint32_t queued = count_queued(p, &resent);
    p->packet = (struct cw_lab_packet){
        .size = (uint32_t)size,
        .sequence = header.sequence,
        .ack = header.ack,
        .ack_bits = header.ack_bits,
        .messages = queued_before - queued + resent - resent_before,
        .resent = resent - resent_before,
    };
    return size;
}

static bool read_item(const struct cw_message *message, struct cw_lab_item *item)
{
    const struct lab_item *body = message->data;
    const bool block = message->type == TYPE_BLOCK;
    const uint8_t *data = block ? message->block : body->bytes.data;
    const size_t size = block ? message->block_size : body->bytes.size;
    return cw_lab_item_read(data, size, item) && item->size == size &&
           cw_lab_item_check(item, 0, data, size);
}

/* Gives the next arrival. A message that is no item of the lab is ignored. */
static bool next(void *peer, struct cw_lab_arrival *arrival)
{
    struct connection_peer *p = peer;
    struct cw_connection_event event;
    while (cw_connection_next(p->connection, &event)) {
        const bool read = read_item(event.message, &arrival->item);
        p->messages_taken += event.channel == CHANNEL_MESSAGES;
        arrival->lost = false;
        cw_message_release(event.message);
        if (read)
            return true;
    }
    return false;
}

/* Returns the message for which others wait: those that arrived before an earlier one stay in the
   channel until that one has come. */
static enum cw_lab_waiting waiting(const void *peer, double now, uint32_t *number)
{
    const struct connection_peer *p = peer;
    struct cw_channel_stats stats;
    struct cw_connection_stats connection;
    (void)now;
    cw_connection_get_channel_stats(p->connection, CHANNEL_MESSAGES, &stats);
    cw_connection_get_stats(p->connection, &connection);
    if (stats.received > p->messages_taken) {
        *number = p->messages_taken;
        return CW_LAB_WAITING_MESSAGE;
    }
    if (stats.queued > 0 && p->mode.binary) {
        *number = (uint32_t)connection.packets_per_second;
        return CW_LAB_WAITING_RATE;
    }
    if (connection.limited == CW_CONGESTION_LIMIT_WINDOW) {
        *number = (uint32_t)connection.congestion_window_bytes;
        return CW_LAB_WAITING_WINDOW;
    }
    *number = 0;
    return CW_LAB_WAITING_NOTHING;
}

static void control(const void *peer, struct cw_lab_control *control)
{
    const struct connection_peer *p = peer;
    struct cw_connection_stats stats;
    cw_connection_get_stats(p->connection, &stats);
    *control = (struct cw_lab_control){
        .rtt = p->mode.binary ? stats.judged_rtt : stats.endpoint.rtt,
        .rtt_threshold_seconds = stats.rtt_threshold_seconds,
        .penalty_seconds = stats.penalty_seconds,
        .good_seconds = stats.good_seconds,
        .packets_per_second = stats.packets_per_second,
        .window_bytes = stats.congestion_window_bytes,
        .in_flight_bytes = stats.bytes_in_flight,
        .good = stats.congestion_state == CW_CONGESTION_GOOD,
    };
}

static void packet(const void *peer, struct cw_lab_packet *packet)
{
    *packet = ((const struct connection_peer *)peer)->packet;
}

#define CONNECTION_PEER(mode_name, ...)                                                            \
    CW_LAB_PEER(mode_name, connection_peer, .name = #mode_name, .control = control,                \
                .packet = packet, .mode = &(const struct mode){__VA_ARGS__})

CONNECTION_PEER(plain, .recovery = CW_RECOVERY_RESEND)
CONNECTION_PEER(copies, .recovery = CW_RECOVERY_COPIES)
CONNECTION_PEER(coded, .recovery = CW_RECOVERY_CODED)
CONNECTION_PEER(binary, .binary = true)
