/* A rolling buffer of entries indexed by sequence number. */
#ifndef CAUSEWAY_SEQUENCE_BUFFER_H
#define CAUSEWAY_SEQUENCE_BUFFER_H

#include "base/sequence.h"
#include "base/shared.h"
#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks an empty slot. No 16-bit sequence number equals it. */
#define CW_SEQUENCE_EMPTY 0xFFFFFFFFu

/* Only half of all numbers count as newer or older than another. The numbers that a buffer covers
   and those it can advance to share that half. */
#define CW_SEQUENCE_BUFFER_MAX_SIZE 16384u

/* Entry s lives in slot s % size. The buffer covers the size numbers before next. An insert further
   ahead moves next and clears every slot that it passes, so that no entry of an earlier lap is ever
   found. You may read the fields, but change them only through the functions. */
struct cw_sequence_buffer {
    uint32_t *sequences; /* for each slot the number stored, or CW_SEQUENCE_EMPTY */
    uint8_t *entries;    /* stride bytes for each slot */
    uint32_t mask;       /* size - 1 */
    uint32_t stride;     /* bytes of an entry; may be 0 where only presence matters */
    uint16_t next;       /* one after the newest number inserted or advanced to; 0 at first */
    struct cw_allocator allocator;
};

/* Bytes that create asks the allocator for; 0 for a size that create refuses. */
size_t cw_sequence_buffer_memory(uint32_t size, uint32_t stride);

/* size: number of slots, a power of two up to CW_SEQUENCE_BUFFER_MAX_SIZE. (It must divide 65536,
   or slots would not line up across the wrap.) stride: bytes of an entry. allocator: copied; its
   context must outlive the buffer. Errors: CW_ERROR_INVALID_ARGUMENT for any other size,
   CW_ERROR_NO_MEMORY. */
enum cw_error cw_sequence_buffer_create(uint32_t size, uint32_t stride,
                                        const struct cw_allocator *allocator,
                                        struct cw_sequence_buffer *buffer);
void cw_sequence_buffer_destroy(struct cw_sequence_buffer *buffer);

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

/* The entry of sequence, or NULL when it is not stored. It stays valid until it is removed or
   passed. */
CW_SHARED void *cw_sequence_buffer_find(const struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    const uint32_t slot = sequence & buffer->mask;
    return buffer->sequences[slot] == sequence ? buffer->entries + (size_t)slot * buffer->stride
                                               : NULL;
}

/* Moves next to one after sequence and clears the slots passed. Does nothing when sequence is older
   than next. The caller must have refused stale numbers. */
void cw_sequence_buffer_advance(struct cw_sequence_buffer *buffer, uint16_t sequence);

/* Stores an entry for the number next, and returns it. Its bytes are not cleared. */
CW_SHARED void *cw_sequence_buffer_append(struct cw_sequence_buffer *buffer)
{
    const uint16_t sequence = buffer->next++;
    const uint32_t slot = sequence & buffer->mask;
    buffer->sequences[slot] = sequence;
    return buffer->entries + (size_t)slot * buffer->stride;
}

/* Stores an entry for sequence and returns it; NULL when sequence is stale. Its bytes are not
   cleared. If the number is stored already, returns that entry. */
CW_SHARED void *cw_sequence_buffer_insert(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    if (cw_sequence_buffer_stale(buffer, sequence))
        return NULL;
    if (sequence == buffer->next)
        buffer->next++;
    else
        cw_sequence_buffer_advance(buffer, sequence);
    const uint32_t slot = sequence & buffer->mask;
    buffer->sequences[slot] = sequence;
    return buffer->entries + (size_t)slot * buffer->stride;
}

/* Removes sequence. Does nothing when it is not stored. */
CW_SHARED void cw_sequence_buffer_remove(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    if (cw_sequence_buffer_exists(buffer, sequence))
        buffer->sequences[sequence & buffer->mask] = CW_SEQUENCE_EMPTY;
}

#endif
