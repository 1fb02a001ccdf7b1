#include "webtransport/blocks.h"

/* Takes bytes of the head until it is complete. Returns whether it is. */
static bool read_head(struct block_reader *reader, const uint8_t **data, size_t *size)
{
    while (*size > 0) {
        reader->head[reader->head_size++] = *(*data)++;
        (*size)--;
        const size_t type = varint_read(reader->head, reader->head_size, &reader->type);
        if (type > 0 &&
            varint_read(reader->head + type, reader->head_size - type, &reader->left) > 0) {
            reader->head_size = 0;
            reader->inside = true;
            return true;
        }
    }
    return false;
}

bool block_read(struct block_reader *reader, const uint8_t **data, size_t *size,
                struct block_part *out)
{
    if (!reader->inside && !read_head(reader, data, size))
        return false;
    if (reader->left > 0 && *size == 0)
        return false;
    *out = (struct block_part){.type = reader->type, .data = *data, .size = *size};
    if (out->size >= reader->left) {
        out->size = (size_t)reader->left;
        out->last = true;
        reader->inside = false;
    }
    reader->left -= out->size;
    *data += out->size;
    *size -= out->size;
    return true;
}
