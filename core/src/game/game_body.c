#include "game/game_body.h"

#include "base/little_endian.h"
#include "game/game_events.h"

#include <string.h>

enum { ECHO = 1, REPORT = 2, RATE = 4, EVENTS = 8, DOWN_FLAGS = ECHO | REPORT | RATE | EVENTS };
enum { SNAPSHOT = 1, UP_FLAGS = SNAPSHOT };

static void put_bytes(uint8_t **out, const uint8_t *bytes, size_t size)
{
    memcpy(*out, bytes, size);
    *out += size;
}

size_t cw_game_write_down(const struct cw_game_down *head, uint8_t *out)
{
    uint8_t *at = out;
    const bool slow = head->rate < CW_GAME_FULL_RATE;
    cw_little_endian_put(&at,
                         (head->echo ? ECHO : 0u) | (head->report ? REPORT : 0u) |
                             (slow ? RATE : 0u) | (head->has_events ? EVENTS : 0u),
                         1);
    cw_little_endian_put(&at, head->entity, 2);
    cw_little_endian_put(&at, head->starved, 1);
    if (head->echo)
        put_bytes(&at, head->echo, CW_CLOCK_ECHO_SIZE);
    if (head->report)
        put_bytes(&at, head->report, CW_INPUT_REPORT_SIZE);
    if (slow)
        cw_little_endian_put(&at, head->rate, 2);
    return (size_t)(at - out);
}

size_t cw_game_write_up(const struct cw_game_up *head, uint8_t *out)
{
    uint8_t *at = out;
    cw_little_endian_put(&at, head->has_snapshot ? SNAPSHOT : 0u, 1);
    put_bytes(&at, head->stamp, CW_CLOCK_STAMP_SIZE);
    if (head->has_snapshot)
        cw_little_endian_put(&at, head->snapshot, 2);
    return (size_t)(at - out);
}

/* Takes the next bytes of a head that is long enough. */
static const uint8_t *take(const uint8_t **at, size_t size)
{
    const uint8_t *const part = *at;
    *at += size;
    return part;
}

/* Returns the size of the events of a body, 0 when they are none. */
static size_t events_size(const uint8_t *data, size_t size)
{
    const uint32_t count = size < CW_GAME_EVENTS_HEAD ? 0 : data[2] & CW_GAME_EVENTS_COUNT;
    const size_t needed = CW_GAME_EVENTS_HEAD + count * CW_GAME_EVENT_SIZE;
    return count > 0 && needed <= size ? needed : 0;
}

size_t cw_game_read_down(const uint8_t *data, size_t size, struct cw_game_down *head)
{
    const uint8_t *at = data;
    const uint32_t flags = size > 0 ? data[0] : UINT32_MAX;
    size_t length = 4;
    length += flags & ECHO ? CW_CLOCK_ECHO_SIZE : 0;
    length += flags & REPORT ? CW_INPUT_REPORT_SIZE : 0;
    length += flags & RATE ? 2 : 0;
    if (flags > DOWN_FLAGS || size < length)
        return 0;
    at++;
    head->entity = (uint16_t)cw_little_endian_get(&at, 2);
    head->starved = (uint8_t)cw_little_endian_get(&at, 1);
    head->echo = flags & ECHO ? take(&at, CW_CLOCK_ECHO_SIZE) : NULL;
    head->report = flags & REPORT ? take(&at, CW_INPUT_REPORT_SIZE) : NULL;
    head->rate = flags & RATE ? (uint16_t)cw_little_endian_get(&at, 2) : CW_GAME_FULL_RATE;
    head->has_events = (flags & EVENTS) != 0;
    head->events = head->has_events ? at : NULL;
    const size_t events = head->has_events ? events_size(at, size - length) : 0;
    if ((head->has_events && events == 0) || head->rate == 0 || head->rate > CW_GAME_FULL_RATE)
        return 0;
    return length + events;
}

size_t cw_game_read_up(const uint8_t *data, size_t size, struct cw_game_up *head)
{
    const uint8_t *at = data;
    const uint32_t flags = size > 0 ? data[0] : UINT32_MAX;
    const size_t length = flags & SNAPSHOT ? CW_GAME_UP_HEAD : CW_GAME_UP_HEAD - 2;
    if (flags > UP_FLAGS || size < length)
        return 0;
    at++;
    head->stamp = take(&at, CW_CLOCK_STAMP_SIZE);
    head->has_snapshot = (flags & SNAPSHOT) != 0;
    head->snapshot = head->has_snapshot ? (uint16_t)cw_little_endian_get(&at, 2) : 0;
    return length;
}
