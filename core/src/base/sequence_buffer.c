#include "base/sequence_buffer.h"

#include "base/memory.h"

#include <string.h>

/* The entries come first: they may need any alignment, the numbers need four bytes. */
static size_t entries_size(uint32_t size, uint32_t stride)
{
    return ((size_t)size * stride + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
}

static bool size_is_valid(uint32_t size)
{
    return size > 0 && size <= CW_SEQUENCE_BUFFER_MAX_SIZE && (size & (size - 1)) == 0;
}

size_t cw_sequence_buffer_memory(uint32_t size, uint32_t stride)
{
    return size_is_valid(size) ? entries_size(size, stride) + size * sizeof(uint32_t) : 0;
}

enum cw_error cw_sequence_buffer_create(uint32_t size, uint32_t stride,
                                        const struct cw_allocator *allocator,
                                        struct cw_sequence_buffer *buffer)
{
    if (!size_is_valid(size))
        return CW_ERROR_INVALID_ARGUMENT;
    uint8_t *memory = cw_allocate(allocator, cw_sequence_buffer_memory(size, stride));
    if (!memory)
        return CW_ERROR_NO_MEMORY;
    buffer->entries = memory;
    buffer->sequences = (uint32_t *)(void *)(memory + entries_size(size, stride));
    buffer->mask = size - 1;
    buffer->stride = stride;
    buffer->allocator = *allocator;
    cw_sequence_buffer_reset(buffer);
    return CW_OK;
}

void cw_sequence_buffer_destroy(struct cw_sequence_buffer *buffer)
{
    cw_release(&buffer->allocator, buffer->entries,
               cw_sequence_buffer_memory(buffer->mask + 1, buffer->stride));
    buffer->entries = NULL;
    buffer->sequences = NULL;
}

void cw_sequence_buffer_reset(struct cw_sequence_buffer *buffer)
{
    buffer->next = 0;
    memset(buffer->sequences, 0xFF, ((size_t)buffer->mask + 1) * sizeof(uint32_t));
}

void cw_sequence_buffer_advance(struct cw_sequence_buffer *buffer, uint16_t sequence)
{
    const uint16_t next = (uint16_t)(sequence + 1);
    if (!cw_sequence_newer(next, buffer->next))
        return;
    const uint32_t passed = (uint16_t)(next - buffer->next);
    if (passed > buffer->mask) {
        memset(buffer->sequences, 0xFF, ((size_t)buffer->mask + 1) * sizeof(uint32_t));
    } else {
        for (uint32_t i = 0; i < passed; i++)
            buffer->sequences[(buffer->next + i) & buffer->mask] = CW_SEQUENCE_EMPTY;
    }
    buffer->next = next;
}
