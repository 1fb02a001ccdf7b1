/* Measures what coded repair costs the receiver: 64 B messages at 60 Hz over a path of 100 ms that
   loses a fifth of all packets, each with one combination of the unacked messages before. The count
   is of all that the receiver does for a message that it repairs, including its share of what the
   receiver keeps of messages that arrive, and of combinations that were not needed.
     bench_path_repair [RECEIVERS]
   Without arguments the program says what tests/bench/run shall count. */
#include "message/repair_receiver.h"
#include "message/repair_sender.h"

#include "base/prng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE      64
#define TICKS     20000
#define LOSS      0.2 /* share of the packets */
#define ROUND     7   /* ticks until the sender knows what has arrived */
#define RECEIVERS 2

static void add_message(struct cw_repair_sender *sender, uint16_t id, struct cw_prng *random)
{
    struct cw_repair_symbol *symbol = cw_repair_sender_add(sender, id, false);
    for (uint32_t i = 0; i < SIZE; i++)
        symbol->bytes[i] = (uint8_t)cw_prng_bits(random);
    symbol->size = SIZE;
}

static bool knows(const struct cw_repair_receiver *receiver, uint16_t id)
{
    return (uint16_t)(receiver->end - 1 - id) < CW_REPAIR_WINDOW &&
           (receiver->known >> cw_repair_slot(id) & 1);
}

/* Gives the receiver a packet. Returns how many messages it has repaired. */
static uint32_t receive(struct cw_repair_receiver *receiver, const uint8_t *packet, size_t size,
                        uint16_t id, const uint8_t *message)
{
    struct cw_stream stream = cw_stream_reader(packet, size);
    uint32_t repaired = 0, work = CW_REPAIR_WORK;
    receiver->work = &work;
    cw_repair_receiver_add(receiver, id, message, SIZE * 8);
    if (!cw_repair_receiver_read(receiver, &stream, &id, (uint16_t)(id + 2)))
        exit(1);
    while (cw_repair_receiver_next(receiver, &id, &stream))
        repaired++;
    return repaired;
}

static uint32_t run(uint32_t count)
{
    static struct cw_repair_sender sender;
    static struct cw_repair_receiver receivers[RECEIVERS];
    struct cw_prng random = {.state = 1};
    uint16_t missing[ROUND] = {0};
    uint32_t repaired = 0;
    cw_repair_sender_reset(&sender);
    for (uint32_t i = 0; i < count; i++)
        cw_repair_receiver_reset(&receivers[i]);
    sender.share = 1;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        const uint16_t id = (uint16_t)tick, oldest = missing[tick % ROUND];
        uint8_t packet[1024];
        struct cw_stream stream = cw_stream_writer(packet, sizeof packet);
        cw_repair_sender_begin(&sender, true);
        add_message(&sender, id, &random);
        (void)cw_repair_sender_pick(&sender, oldest, (uint16_t)(id + 1), &id, 1, UINT32_MAX);
        if (!cw_repair_sender_write(&sender, &stream))
            exit(1);
        const size_t size = cw_stream_flush(&stream);
        for (uint32_t i = 0; i < count && !cw_prng_chance(&random, i == 0 ? LOSS : 0); i++)
            repaired +=
                receive(&receivers[i], packet, size, id, sender.symbols[cw_repair_slot(id)].bytes);
        uint16_t first = missing[(tick + ROUND - 1) % ROUND];
        while (first != (uint16_t)(id + 1) && knows(&receivers[0], first))
            first++;
        missing[tick % ROUND] = first;
    }
    return repaired / count;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        printf("count repair_decode_instructions %u: %d - %d\n", run(1), RECEIVERS, 1);
    else
        run((uint32_t)strtoul(argv[1], NULL, 10));
    return 0;
}
