/* Any payload arrives on channels of every kind, without and with large messages. The connection
   reads no byte too many, keeps within its pool, takes nothing of what it refuses, and is as new
   after a reset.

   An input is a list of datagrams. Each begins with a byte that says what is done with it, and the
   length of its payload as a byte and three bits of the first. */
#include "rich_schema.h"

#include <string.h>

#define RAW    0x08 /* the bytes are a datagram; else they get a header that is taken */
#define DRAIN  0x10 /* the application takes and releases all messages */
#define SEND   0x20 /* the application sends something, and a round of packets */
#define HOLD   0x40 /* the application keeps the next message */
#define AGAIN  0x80 /* the packet comes in with the number of the one before */
#define HEADER 9

struct fuzz {
    struct cw_connection *connection;
    struct cw_message *kept;
    uint16_t sequence;
    uint16_t acked;
    double now;
    uint32_t pool;
};

static void send_something(struct fuzz *fuzz, uint8_t what)
{
    static uint8_t block[950];
    struct cw_message *message;
    if (cw_connection_create_message(fuzz->connection, what % RICH_TYPES, &message) == CW_OK) {
        if (message->type == RICH_FILE)
            cw_message_attach(message, block, 1 + what * 3u, NULL, NULL);
        message->receipt = what & 3; /* 0 asks for no receipt */
        if (cw_connection_send(fuzz->connection, what % 4, message, fuzz->now) != CW_OK)
            cw_message_release(message);
    }
    uint8_t out[2048];
    cw_connection_update(fuzz->connection, fuzz->now);
    while (cw_connection_transmit(fuzz->connection, out, sizeof out, fuzz->now) > 0)
        ;
}

static void receive(struct fuzz *fuzz, uint8_t what, const uint8_t *payload, size_t size)
{
    const size_t header_size = what & RAW ? 0 : HEADER;
    uint8_t *datagram = malloc(header_size + size);
    if (header_size > 0) {
        const uint16_t sequence = fuzz->sequence;
        const uint8_t header[HEADER] = {0x1E,
                                        (uint8_t)sequence,
                                        (uint8_t)(sequence >> 8),
                                        (uint8_t)fuzz->acked,
                                        (uint8_t)(fuzz->acked >> 8),
                                        0xF7,
                                        0xFF,
                                        0xFF,
                                        0xFF};
        memcpy(datagram, header, HEADER);
        fuzz->sequence = (uint16_t)(sequence + !(what & AGAIN));
        fuzz->acked++;
    }
    if (size > 0)
        memcpy(datagram + header_size, payload, size);
    struct cw_connection_stats before, after;
    struct cw_channel_stats channels[4];
    cw_connection_get_stats(fuzz->connection, &before);
    for (uint32_t i = 0; i < 4; i++)
        (void)cw_connection_get_channel_stats(fuzz->connection, i, &channels[i]);
    const enum cw_error error =
        cw_connection_receive(fuzz->connection, datagram, header_size + size, fuzz->now);
    cw_connection_get_stats(fuzz->connection, &after);
    if (after.messages_in_use > fuzz->pool)
        abort();
    for (uint32_t i = 0; i < 4 && error == CW_ERROR_MALFORMED; i++) {
        struct cw_channel_stats now;
        (void)cw_connection_get_channel_stats(fuzz->connection, i, &now);
        if (now.received != channels[i].received || now.dropped != channels[i].dropped ||
            after.endpoint.packets_received != before.endpoint.packets_received)
            abort();
    }
    free(datagram);
}

static void look_at(const struct cw_connection_event *event)
{
    const struct cw_message *message = event->message;
    const bool is_message = event->type == CW_CONNECTION_EVENT_MESSAGE;
    if ((message != NULL) != is_message ||
        (!is_message && (event->receipt < 1 || event->receipt > 3)))
        abort();
    if (message &&
        ((message->block != NULL) != (message->type == RICH_FILE) || message->block_size > 950))
        abort();
}

static void use(struct fuzz *fuzz, uint8_t what)
{
    struct cw_connection_event event;
    if (what & SEND)
        send_something(fuzz, what);
    if (what & HOLD) {
        cw_message_release(fuzz->kept);
        fuzz->kept = cw_connection_next(fuzz->connection, &event) ? event.message : NULL;
    }
    while (what & DRAIN && cw_connection_next(fuzz->connection, &event)) {
        look_at(&event);
        cw_message_release(event.message);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opens a connection with the channel kinds of yojimbo, or with our own that come from them. */
static void open_connection(struct fuzz *fuzz, bool ours)
{
    struct cw_connection_config config = rich_config(rich_schema());
    for (uint32_t i = 0; i < config.channel_count && ours; i++) {
        config.channels[i].max_message_size = 950;
        config.channels[i].block_fragment_size = 50 + 50 * i;
    }
    for (uint32_t i = 0; i < config.channel_count && ours; i++)
        config.channels[i].kind = config.channels[i].kind == CW_CHANNEL_UNRELIABLE
                                      ? CW_CHANNEL_UNRELIABLE_SEQUENCED
                                      : CW_CHANNEL_RELIABLE_UNORDERED;
    fuzz->pool = config.max_messages + config.max_messages / 2;
    for (uint32_t i = 0; i < config.channel_count; i++)
        fuzz->pool += config.channels[i].kind == CW_CHANNEL_RELIABLE_ORDERED ||
                              config.channels[i].kind == CW_CHANNEL_RELIABLE_UNORDERED
                          ? 1 + (config.channels[i].max_message_size != CW_AUTO)
                          : 0;
    if (cw_connection_create(&config, &fuzz->connection) != CW_OK)
        abort();
}

static void run(struct fuzz *fuzz, const uint8_t *data, size_t size)
{
    fuzz->sequence = fuzz->acked = 0;
    fuzz->now = 0;
    while (size >= 2) {
        const uint8_t what = data[0];
        size_t length = data[1] | (size_t)(what & 7) << 8;
        length = length > size - 2 ? size - 2 : length;
        receive(fuzz, what, data + 2, length);
        use(fuzz, what);
        data += 2 + length;
        size -= 2 + length;
        fuzz->now += 1.0 / 60;
    }
    cw_message_release(fuzz->kept);
    fuzz->kept = NULL;
    cw_connection_reset(fuzz->connection);
    struct cw_connection_stats stats;
    cw_connection_get_stats(fuzz->connection, &stats);
    if (stats.messages_in_use > 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz[2];
    for (int ours = 0; ours < 2; ours++) {
        if (!fuzz[ours].connection)
            open_connection(&fuzz[ours], ours);
        run(&fuzz[ours], data, size);
    }
    return 0;
}
