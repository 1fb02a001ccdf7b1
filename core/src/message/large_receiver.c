#include "message/large_receiver.h"

#include "base/bit_set.h"
#include "message/large.h"

#include <string.h>

static uint32_t place_of(const struct cw_large_receiver *receiver, uint16_t number)
{
    return number & (receiver->window - 1);
}

/* Returns the words of a set with a bit for each of these places. */
static size_t words_for(uint32_t places)
{
    return places / 64 + 1;
}

void cw_large_receiver_layout(struct cw_large_receiver *receiver, struct cw_arena *arena,
                              const struct cw_large_format *format, uint32_t window)
{
    const uint32_t places = window + cw_large_count(format, format->most) - 1;
    struct cw_large_span *spans = cw_arena_take(arena, sizeof *spans * window);
    uint64_t *here = cw_arena_take(arena, sizeof *here * words_for(window));
    uint64_t *delivered = cw_arena_take(arena, sizeof *delivered * words_for(places));
    uint8_t *bytes = cw_arena_take(arena, (size_t)places * format->fragment_size);
    if (receiver)
        *receiver = (struct cw_large_receiver){.window = window,
                                               .format = *format,
                                               .spans = spans,
                                               .here = here,
                                               .delivered = delivered,
                                               .bytes = bytes};
}

void cw_large_receiver_reset(struct cw_large_receiver *receiver)
{
    if (receiver->window > 0)
        cw_large_receiver_forget(receiver, 0, receiver->window);
}

/* Returns the place of the fragment, which is behind the ring where its message goes beyond. */
static uint32_t place_of_piece(const struct cw_large_receiver *receiver,
                               const struct cw_large_piece *piece)
{
    return place_of(receiver, piece->first) + piece->index;
}

enum cw_error cw_large_receiver_check(const struct cw_large_receiver *receiver,
                                      const struct cw_large_piece *piece)
{
    const struct cw_large_span *span = cw_large_span_of(receiver, piece->first);
    if (span->total > 0 && span->total != piece->total)
        return CW_ERROR_MALFORMED;
    return cw_bit_get(receiver->delivered, place_of_piece(receiver, piece)) ? CW_ERROR_RECEIVER_FULL
                                                                            : CW_OK;
}

bool cw_large_receiver_take(struct cw_large_receiver *receiver, const struct cw_large_piece *piece)
{
    const uint32_t number = place_of(receiver, (uint16_t)(piece->first + piece->index));
    const size_t at = (size_t)place_of_piece(receiver, piece) * receiver->format.fragment_size;
    struct cw_large_span *span = cw_large_span_of(receiver, piece->first);
    if (cw_bit_get(receiver->here, number))
        return false;
    cw_bit_set(receiver->here, number);
    memcpy(receiver->bytes + at, piece->bytes, piece->size);
    span->total = piece->total;
    return ++span->arrived == cw_large_count(&receiver->format, piece->total);
}

uint16_t cw_large_receiver_complete(const struct cw_large_receiver *receiver, uint16_t first)
{
    const struct cw_large_span *span = cw_large_span_of(receiver, first);
    const bool complete =
        span->total > 0 && span->arrived == cw_large_count(&receiver->format, span->total);
    return complete ? span->arrived : 0;
}

/* Notes that the application holds the bytes of these places, or holds them no longer. */
static void hold(struct cw_large_receiver *receiver, size_t from, size_t size, bool delivered)
{
    const size_t fragment_size = receiver->format.fragment_size;
    const uint32_t last = (uint32_t)((from + size - 1) / fragment_size);
    for (uint32_t place = (uint32_t)(from / fragment_size); place <= last; place++)
        delivered ? cw_bit_set(receiver->delivered, place)
                  : cw_bit_clear(receiver->delivered, place);
}

static void release(void *context, uint8_t *block, size_t size)
{
    struct cw_large_receiver *receiver = context;
    hold(receiver, (size_t)(block - receiver->bytes), size, false);
}

enum cw_error cw_large_receiver_build(struct cw_large_receiver *receiver,
                                      const struct cw_channel_common *common, uint16_t first,
                                      struct cw_message **message)
{
    const uint32_t total = cw_large_span_of(receiver, first)->total;
    const size_t at = (size_t)place_of(receiver, first) * receiver->format.fragment_size;
    uint32_t block = 0;
    const enum cw_error error =
        cw_large_build(common, receiver->bytes + at, total, message, &block);
    if (error == CW_OK && block > 0) {
        hold(receiver, at + block, total - block, true);
        cw_message_attach_owned(*message, receiver->bytes + at + block, total - block, release,
                                receiver);
    }
    return error;
}

void cw_large_receiver_forget(struct cw_large_receiver *receiver, uint16_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t number = (uint16_t)(first + i);
        *cw_large_span_of(receiver, number) = (struct cw_large_span){0};
        cw_bit_clear(receiver->here, place_of(receiver, number));
    }
}
