#include "packet/received_packets.h"

#include "packet/measure.h"

/* The most losses that one step adds to the share. After this many it is 1 in any case, so a number
   far ahead cannot cost more. */
#define LOSS_SAMPLES_AT_ONCE 1024

void cw_received_packets_reset(struct cw_received_packets *received)
{
    cw_sequence_buffer_reset(&received->window);
    received->history = 0;
    received->counted = 0;
    received->untold = 0;
    received->missed = 0;
    received->loss = 0;
}

void cw_received_packets_miss(struct cw_received_packets *received, uint32_t numbers)
{
    received->missed += numbers;
    for (uint32_t i = 0; i < numbers && i < LOSS_SAMPLES_AT_ONCE; i++)
        received->loss = cw_loss_sample(received->loss, true);
}

static void leap(struct cw_received_packets *received, uint32_t ahead)
{
    for (uint32_t i = 0; i < ahead && i < CW_ACKS_PER_HEADER; i++)
        cw_received_packets_step(received);
    /* These numbers were passed by so far that they never were in the history. */
    if (ahead > CW_ACKS_PER_HEADER)
        cw_received_packets_miss(received, ahead - CW_ACKS_PER_HEADER);
}

void cw_received_packets_leap(struct cw_received_packets *received, uint16_t sequence)
{
    const uint16_t next = (uint16_t)(sequence + 1);
    if (!cw_sequence_newer(next, received->window.next))
        return;
    leap(received, (uint16_t)(next - received->window.next));
    received->untold += (uint16_t)(next - received->window.next);
    cw_sequence_buffer_advance(&received->window, sequence);
}

uint16_t cw_received_packets_tell_oldest(struct cw_received_packets *received, uint32_t *bits)
{
    const struct cw_sequence_buffer *window = &received->window;
    uint32_t left = received->untold;
    if (left > window->mask + 1)
        left = window->mask + 1;
    while (left > CW_ACKS_PER_HEADER &&
           !cw_sequence_buffer_exists(window, (uint16_t)(window->next - left)))
        left--;
    received->untold = left - CW_ACKS_PER_HEADER;
    const uint16_t ack = (uint16_t)(window->next - left + CW_ACKS_PER_HEADER - 1);
    *bits = 0;
    for (unsigned i = 0; i < CW_ACKS_PER_HEADER; i++)
        *bits |= (uint32_t)cw_sequence_buffer_exists(window, (uint16_t)(ack - i)) << i;
    return ack;
}
