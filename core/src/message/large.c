#include "message/large.h"

#define ALIGNMENT_BITS 7                 /* the most bits that an alignment takes */
#define NUMBER_BITS    16                /* the width of the first fragment's number */
#define HEAD_BITS      (3 + NUMBER_BITS) /* no block, no messages and, with repair, a fragment */

uint32_t cw_large_bits(const struct cw_channel_common *common, uint32_t size)
{
    const struct cw_large_format *format = &common->large;
    return common->index_bits + HEAD_BITS + format->size_bits + format->index_bits +
           ALIGNMENT_BITS + size * 8;
}

uint32_t cw_large_prepare(const struct cw_channel_common *common, struct cw_message *message,
                          uint16_t first)
{
    struct cw_large_writer *writer = common->writer;
    struct cw_stream stream = cw_stream_writer(writer->bytes, writer->capacity);
    writer->channel = NULL;
    if (!cw_channel_write_message(&stream, common, message))
        return 0;
    writer->size = (uint32_t)cw_stream_flush(&stream);
    writer->channel = common;
    writer->first = first;
    return writer->size + message->block_size;
}

/* Writes a part of some bytes. The stream is a writer, so it only reads from them. */
static bool write_part(struct cw_stream *stream, const uint8_t *bytes, uint32_t from, uint32_t to)
{
    return from >= to || cw_stream_bytes(stream, (uint8_t *)(uintptr_t)(bytes + from), to - from);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool serialize_head(struct cw_stream *stream, const struct cw_large_format *format,
                           struct cw_large_piece *piece)
{
    uint32_t first = piece->first, size = piece->total - 1, index = piece->index;
    if (!cw_stream_bits(stream, &first, NUMBER_BITS) ||
        !cw_stream_uint(stream, &size, 0, format->most - 1) ||
        !cw_stream_uint(stream, &index, 0, size / format->fragment_size))
        return false;
    *piece = (struct cw_large_piece){
        .first = (uint16_t)first,
        .index = index,
        .total = size + 1,
        .size = cw_large_size(format, size + 1, index),
    };
    return true;
}

bool cw_large_write(struct cw_stream *stream, const struct cw_channel_common *common,
                    uint32_t channel, struct cw_message *message,
                    const struct cw_large_piece *piece)
{
    const struct cw_large_format *format = &common->large;
    const struct cw_large_writer *writer = common->writer;
    if ((writer->channel != common || writer->first != piece->first) &&
        cw_large_prepare(common, message, piece->first) != piece->total)
        return false;
    struct cw_large_piece head = *piece;
    bool is_fragment = true;
    const uint32_t before = piece->total - message->block_size; /* bytes before the block */
    const uint32_t from = piece->index * format->fragment_size;
    const uint32_t to = from + cw_large_size(format, piece->total, piece->index);
    return cw_stream_bits(stream, &channel, common->index_bits + 2) &&
           (common->config.recovery != CW_RECOVERY_CODED || cw_stream_bool(stream, &is_fragment)) &&
           serialize_head(stream, format, &head) && cw_stream_align(stream) &&
           write_part(stream, writer->bytes, from, least(to, before)) &&
           write_part(stream, message->block, from > before ? from - before : 0,
                      to > before ? to - before : 0);
}

bool cw_large_read(struct cw_stream *stream, const struct cw_channel_common *common,
                   struct cw_large_piece *piece)
{
    *piece = (struct cw_large_piece){0};
    return serialize_head(stream, &common->large, piece) &&
           cw_bit_reader_borrow(&stream->reader, piece->size, &piece->bytes);
}

enum cw_error cw_large_build(const struct cw_channel_common *common, const uint8_t *bytes,
                             uint32_t total, struct cw_message **message, uint32_t *block)
{
    struct cw_stream stream = cw_stream_reader(bytes, total);
    uint32_t type;
    if (!cw_channel_read_type(&stream, common, &type))
        return CW_ERROR_MALFORMED;
    struct cw_message *made;
    const enum cw_error error = cw_message_create_owned(common->pool, type, &made);
    if (error != CW_OK)
        return error;
    const bool has_block = cw_schema_type_unchecked(common->schema, type)->block;
    if (cw_schema_serialize_unchecked(common->schema, type, &stream, made->data) &&
        cw_stream_align(&stream)) {
        const uint32_t end = (uint32_t)(cw_stream_position(&stream) / 8);
        if (has_block == (end < total)) {
            *message = made;
            *block = has_block ? end : 0;
            return CW_OK;
        }
    }
    cw_message_drop(made);
    return CW_ERROR_MALFORMED;
}
