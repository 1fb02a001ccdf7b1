#include "causeway/stream.h"

#include "base/utf8.h"
#include "message/compressed_float.h"

bool cw_stream_outlined_uint(struct cw_stream *stream, uint32_t *value, uint32_t min, uint32_t max)
{
    return cw_stream_uint(stream, value, min, max);
}

/* The value goes out in two groups, as in cw_stream_uint_64. */
bool cw_stream_outlined_uint_64(struct cw_stream *stream, uint64_t *value, uint64_t min,
                                uint64_t max)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    const uint64_t range = max - min;
    const uint64_t offset = reading ? 0 : *value - min;
    uint32_t low = (uint32_t)offset, high = (uint32_t)(offset >> 32);
    if (min > max || (!reading && offset > range))
        return cw_stream_fail(stream);
    const uint32_t low_most = range > UINT32_MAX ? UINT32_MAX : (uint32_t)range;
    if (!cw_stream_outlined_uint(stream, &low, 0, low_most) ||
        !cw_stream_outlined_uint(stream, &high, 0, (uint32_t)(range >> 32)))
        return false;
    const uint64_t read = (uint64_t)high << 32 | low;
    if (read > range)
        return cw_stream_fail(stream);
    if (reading)
        *value = read + min;
    return true;
}

bool cw_stream_outlined_bytes(struct cw_stream *stream, uint8_t *bytes, size_t count)
{
    return cw_stream_bytes(stream, bytes, count);
}

bool cw_text_valid(const char *text, size_t length)
{
    return cw_utf8_valid(text, length);
}

bool cw_stream_outlined_string(struct cw_stream *stream, char *string, size_t size)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t length = 0;
    if (size == 0 || size > UINT32_MAX)
        return cw_stream_fail(stream);
    if (!reading) {
        const char *const end = memchr(string, 0, size);
        if (!end || !cw_utf8_valid(string, (size_t)(end - string)))
            return cw_stream_fail(stream);
        length = (uint32_t)(end - string);
    }
    if (!cw_stream_outlined_uint(stream, &length, 0, (uint32_t)(size - 1)) ||
        !cw_stream_outlined_bytes(stream, (uint8_t *)string, length))
        return false;
    if (!reading)
        return true;
    string[length] = 0;
    return cw_utf8_valid(string, length) || cw_stream_fail(stream);
}

bool cw_stream_outlined_compressed_float(struct cw_stream *stream, float *value, float min,
                                         float max, float resolution)
{
    const bool usable = max > min && resolution > 0 && isfinite(max - min);
    assert(usable);
    if (!usable)
        return cw_stream_fail(stream);
    const float steps = cw_compressed_float_steps(min, max, resolution);
    uint32_t step = 0;
    if (stream->mode != CW_STREAM_READ)
        step = cw_compressed_float_step(*value, min, max, steps);
    if (!cw_stream_outlined_uint(stream, &step, 0, (uint32_t)steps))
        return false;
    if (stream->mode == CW_STREAM_READ)
        *value = cw_compressed_float_value(step, min, max, steps);
    return true;
}

/* The differences from low to high go as difference - low. A tier is announced by a 1 after as many
   zeros as there are tiers before it; six zeros announce the number itself. */
static const struct {
    uint32_t low, high;
} tiers[] = {{1, 1}, {2, 6}, {7, 23}, {24, 280}, {281, 4377}, {4378, 69914}};

/* Serializes a number from a tier on. tier is the first that is possible. */
static bool relative_from(struct cw_stream *stream, size_t tier, uint32_t previous,
                          uint32_t *current)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t difference = reading ? 0 : *current - previous;
    if (!reading && *current <= previous)
        return cw_stream_fail(stream);
    for (size_t i = tier; i < sizeof tiers / sizeof tiers[0]; ++i) {
        uint32_t here = difference <= tiers[i].high;
        if (!cw_stream_bits(stream, &here, 1))
            return false;
        if (here == 0)
            continue;
        if (!cw_stream_outlined_uint(stream, &difference, tiers[i].low, tiers[i].high))
            return false;
        if (!reading)
            return true;
        if (difference > UINT32_MAX - previous)
            return cw_stream_fail(stream);
        *current = previous + difference;
        return true;
    }
    uint32_t absolute = reading ? 0 : *current;
    if (!cw_stream_outlined_uint(stream, &absolute, 0, UINT32_MAX))
        return false;
    if (absolute <= previous)
        return cw_stream_fail(stream);
    *current = absolute;
    return true;
}

bool cw_stream_outlined_relative(struct cw_stream *stream, uint32_t previous, uint32_t *current)
{
    return relative_from(stream, 0, previous, current);
}

bool cw_stream_outlined_relative_sequence(struct cw_stream *stream, uint16_t previous,
                                          uint16_t *current)
{
    const bool reading = stream->mode == CW_STREAM_READ;
    uint32_t lifted = 0;
    if (!reading)
        lifted = *current < previous ? *current + 65536u : *current;
    if (!relative_from(stream, 1, previous, &lifted))
        return false;
    /* no writer sends a number a whole lap or more ahead */
    if (lifted - previous > 65535)
        return cw_stream_fail(stream);
    if (reading)
        *current = (uint16_t)lifted;
    return true;
}
