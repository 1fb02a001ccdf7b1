/* A rolling buffer of sequence numbers. */
#ifndef CAUSEWAY_SEQUENCE_BUFFER_H
#define CAUSEWAY_SEQUENCE_BUFFER_H

#include "base/sequence.h"
#include "base/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* Marks an empty slot. No 16-bit sequence number equals it. */
#define CW_SEQUENCE_EMPTY 0xFFFFFFFFu

/* Only half of all numbers count as newer or older than another. The numbers that a buffer covers
   and those it can advance to share that half. */
#define CW_SEQUENCE_BUFFER_MAX_SIZE 16384u

/* Number s lives in slot s % size, where its owner stores it. The buffer covers the size numbers
   before next. An advance further ahead clears every slot that it passes, so that no number of an
   earlier lap is ever found. Set up sequences and mask, then reset. */
struct cw_sequence_buffer {
    uint32_t *sequences; /* for each slot the number stored, or CW_SEQUENCE_EMPTY */
    uint32_t mask;       /* size - 1. The size must divide 65536, or slots would not line up across
                            the wrap */
    uint16_t next;       /* one after the newest number advanced to; 0 at first */
};

/* Empties the buffer and starts again at next = 0. */
void cw_sequence_buffer_reset(struct cw_sequence_buffer *buffer);

/* Returns true when sequence is older than every number that the buffer covers. */
CW_SHARED bool cw_sequence_buffer_stale(const struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    return cw_sequence_newer((uint16_t)(buffer->next - (buffer->mask + 1)), sequence);
}

CW_SHARED bool cw_sequence_buffer_exists(const struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    return buffer->sequences[sequence & buffer->mask] == sequence;
}

/* Moves next to one after sequence and clears the slots passed. Does nothing when sequence is older
   than next. The caller must have refused stale numbers. */
void cw_sequence_buffer_advance(struct cw_sequence_buffer *buffer, uint16_t sequence);

#endif
