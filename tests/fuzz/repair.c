/* Any combinations arrive at a connection with coded repair. It reads no byte too many, keeps
   within its pool, delivers only what its schema allows, and has nothing left after a reset.

   An input is a list of payloads. Each begins with a byte that says what is done with it, and a
   byte with its length. */
#include "rich_schema.h"

#include <string.h>

#define DRAIN 0x10 /* the application takes and releases all messages */
#define SEND  0x20 /* the application sends something, and a round of packets */

static uint32_t pool;

static struct cw_connection *connection(void)
{
    static struct cw_connection *made;
    if (made)
        return made;
    struct cw_connection_config config = rich_config(rich_schema());
    pool = config.max_messages + config.max_messages / 2;
    for (uint32_t i = 0; i < config.channel_count; i++) {
        if (config.channels[i].kind != CW_CHANNEL_RELIABLE_ORDERED)
            continue;
        config.channels[i].recovery = CW_RECOVERY_CODED;
        pool++;
    }
    if (cw_connection_create(&config, &made) != CW_OK)
        abort();
    return made;
}

static void send_something(struct cw_connection *c, uint8_t what, double now)
{
    uint8_t out[2048];
    struct cw_message *message;
    if (cw_connection_create_message(c, what % RICH_TYPES, &message) == CW_OK &&
        cw_connection_send(c, what % 4, message, now) != CW_OK)
        cw_message_release(message);
    cw_connection_update(c, now);
    while (cw_connection_transmit(c, out, sizeof out, now) > 0)
        ;
}

/* Receives a packet that acks all of our packets but every second one. */
static void receive(struct cw_connection *c, uint16_t sequence, const uint8_t *payload, size_t size,
                    double now)
{
    const uint8_t header[] = {0x1E,
                              (uint8_t)sequence,
                              (uint8_t)(sequence >> 8),
                              (uint8_t)sequence,
                              (uint8_t)(sequence >> 8),
                              0x55,
                              0x55,
                              0x55,
                              0x55};
    uint8_t *datagram = malloc(sizeof header + size);
    memcpy(datagram, header, sizeof header);
    if (size > 0)
        memcpy(datagram + sizeof header, payload, size);
    (void)cw_connection_receive(c, datagram, sizeof header + size, now);
    free(datagram);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cw_connection *c = connection();
    struct cw_connection_stats stats;
    double now = 0;
    for (uint16_t sequence = 0; size >= 2; sequence++) {
        const uint8_t what = data[0];
        const size_t length = data[1] > size - 2 ? size - 2 : data[1];
        receive(c, sequence, data + 2, length, now);
        cw_connection_get_stats(c, &stats);
        if (stats.messages_in_use > pool)
            abort();
        if (what & SEND)
            send_something(c, what, now);
        struct cw_connection_event event;
        while (what & DRAIN && cw_connection_next(c, &event)) {
            if (event.message && event.message->type >= RICH_TYPES)
                abort();
            cw_message_release(event.message);
        }
        data += 2 + length;
        size -= 2 + length;
        now += 1.0 / 60;
    }
    cw_connection_reset(c);
    cw_connection_get_stats(c, &stats);
    if (stats.messages_in_use > 0)
        abort();
    return 0;
}
