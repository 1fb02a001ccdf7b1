#include "packet/received_packets.h"

#include "packet/measure.h"

/* By then the share is 1; a number far ahead cannot cost more than this. */
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

static void miss(struct cw_received_packets *received, uint32_t numbers)
{
    received->missed += numbers;
    for (uint32_t i = 0; i < numbers && i < LOSS_SAMPLES_AT_ONCE; i++)
        received->loss = cw_loss_sample(received->loss, true);
}

/* The step to the next number, as nearly every packet makes it. */
static void step(struct cw_received_packets *received)
{
    const uint32_t oldest = 1u << (CW_ACKS_PER_HEADER - 1);
    if (received->counted & received->history & oldest)
        received->loss = cw_loss_sample(received->loss, false);
    else if (received->counted & oldest)
        miss(received, 1);
    received->history <<= 1;
    received->counted = received->counted << 1 | 1;
}

static void leap(struct cw_received_packets *received, uint32_t ahead)
{
    for (uint32_t i = 0; i < ahead && i < CW_ACKS_PER_HEADER; i++)
        step(received);
    /* Numbers that were passed by so far that they never were in the history. */
    if (ahead > CW_ACKS_PER_HEADER)
        miss(received, ahead - CW_ACKS_PER_HEADER);
}

void cw_received_packets_advance(struct cw_received_packets *received, uint16_t sequence)
{
    const uint16_t next = (uint16_t)(sequence + 1);
    if (sequence == received->window.next) {
        step(received);
        received->untold++;
        received->window.sequences[sequence & received->window.mask] = CW_SEQUENCE_EMPTY;
        received->window.next++;
    } else if (cw_sequence_newer(next, received->window.next)) {
        leap(received, (uint16_t)(next - received->window.next));
        received->untold += (uint16_t)(next - received->window.next);
        cw_sequence_buffer_advance(&received->window, sequence);
    }
}

void cw_received_packets_accept(struct cw_received_packets *received, uint16_t sequence)
{
    received->window.sequences[sequence & received->window.mask] = sequence;
    const uint16_t behind = (uint16_t)(received->window.next - 1 - sequence);
    if (behind < CW_ACKS_PER_HEADER)
        received->history |= 1u << behind;
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
