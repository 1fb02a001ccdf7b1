#include "base/sequence_buffer.h"

#include <string.h>

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
