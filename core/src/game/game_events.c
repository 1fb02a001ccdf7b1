#include "game/game_events.h"

#include "base/little_endian.h"

/* The age of an event that is older than this cannot be written; nobody needs it then. */
#define MAX_AGE 255u

static bool same(const struct cw_game_happened *a, const struct cw_game_happened *b)
{
    return a->tick == b->tick && a->entity == b->entity && a->kind == b->kind;
}

void cw_game_log_add(struct cw_game_log *log, uint32_t tick, uint32_t entity, uint8_t kind)
{
    const struct cw_game_happened what = {tick, (uint16_t)entity, kind};
    for (uint32_t i = log->count; i > 0 && log->count - i < CW_GAME_LOG_EVENTS; i--) {
        const struct cw_game_happened *const event = &log->events[(i - 1) % CW_GAME_LOG_EVENTS];
        if (event->tick != tick)
            break;
        if (same(event, &what))
            return;
    }
    log->events[log->count++ % CW_GAME_LOG_EVENTS] = what;
}

static uint32_t age(const struct cw_game_log *log, uint32_t number, uint32_t tick)
{
    return tick - log->events[number % CW_GAME_LOG_EVENTS].tick;
}

size_t cw_game_log_write(const struct cw_game_log *log, const struct cw_game_log_reader *reader,
                         uint32_t tick, uint8_t *out, size_t capacity, uint32_t *end)
{
    uint8_t *at = out;
    uint32_t first = log->count - reader->acked > CW_GAME_LOG_EVENTS
                         ? log->count - CW_GAME_LOG_EVENTS
                         : reader->acked;
    uint32_t last = log->count;
    while (last != first && (int32_t)age(log, last - 1, tick) < 0)
        last--;
    while (first != last && age(log, first, tick) > MAX_AGE)
        first++;
    const size_t room = (capacity - CW_GAME_EVENTS_HEAD) / CW_GAME_EVENT_SIZE;
    uint32_t count = room < CW_GAME_MOST_EVENTS ? (uint32_t)room : CW_GAME_MOST_EVENTS;
    count = last - first < count ? last - first : count;
    *end = first + count;
    if (count == 0)
        return 0;
    cw_little_endian_put(&at, (uint16_t)first, 2);
    cw_little_endian_put(&at, count | (*end == last ? CW_GAME_EVENTS_ALL : 0), 1);
    for (uint32_t i = first; i != *end; i++) {
        const struct cw_game_happened *const event = &log->events[i % CW_GAME_LOG_EVENTS];
        cw_little_endian_put(&at, age(log, i, tick), 1);
        cw_little_endian_put(&at, event->entity, 2);
        cw_little_endian_put(&at, event->kind, 1);
    }
    return (size_t)(at - out);
}

void cw_game_log_sent(struct cw_game_log_reader *reader, uint32_t number, uint32_t end)
{
    reader->sent[number % CW_GAME_LOG_SENT].number = (uint16_t)number;
    reader->sent[number % CW_GAME_LOG_SENT].end = end;
}

void cw_game_log_acked(struct cw_game_log_reader *reader, uint16_t number)
{
    const uint32_t end = reader->sent[number % CW_GAME_LOG_SENT].end;
    if (reader->sent[number % CW_GAME_LOG_SENT].number == number &&
        (int32_t)(end - reader->acked) > 0)
        reader->acked = end;
}

void cw_game_events_reset(struct cw_game_events *events)
{
    events->known = false;
    events->next = 0;
    events->predicted_count = events->first = events->count = 0;
}

/* Adds an event for the application. The oldest one goes where it has not taken any. */
static void tell(struct cw_game_events *events, enum cw_game_event_type type,
                 const struct cw_game_happened *what)
{
    events->queue[(events->first + events->count) % CW_GAME_QUEUED_EVENTS] = (struct cw_game_event){
        .type = type, .tick = what->tick, .entity = what->entity, .kind = what->kind};
    if (events->count == CW_GAME_QUEUED_EVENTS)
        events->first++;
    else
        events->count++;
}

/* Takes an event off those that were predicted. Returns false when it was not. */
static bool match(struct cw_game_events *events, const struct cw_game_happened *what)
{
    for (uint32_t i = 0; i < events->predicted_count; i++) {
        if (!same(&events->predicted[i], what))
            continue;
        events->predicted[i] = events->predicted[--events->predicted_count];
        return true;
    }
    return false;
}

void cw_game_events_predict(struct cw_game_events *events, uint32_t tick, uint32_t entity,
                            uint8_t kind)
{
    const struct cw_game_happened what = {tick, (uint16_t)entity, kind};
    const bool again = match(events, &what);
    if (!again && events->predicted_count < CW_GAME_PREDICTED_EVENTS)
        tell(events, CW_GAME_EVENT_HAPPENED, &what);
    if (again || events->predicted_count < CW_GAME_PREDICTED_EVENTS)
        events->predicted[events->predicted_count++] = what;
}

/* Takes back what did not happen up to a tick. */
static void take_back(struct cw_game_events *events, uint32_t tick)
{
    for (uint32_t i = events->predicted_count; i-- > 0;) {
        const struct cw_game_happened guess = events->predicted[i];
        if ((int32_t)(guess.tick - tick) > 0)
            continue;
        events->predicted[i] = events->predicted[--events->predicted_count];
        tell(events, CW_GAME_EVENT_TAKEN_BACK, &guess);
    }
}

/* Takes the events of a body. Returns whether it has all. */
static bool take_events(struct cw_game_events *events, const uint8_t *data, uint32_t tick,
                        uint32_t max_entities)
{
    const uint8_t *at = data;
    uint16_t number = (uint16_t)cw_little_endian_get(&at, 2);
    const uint32_t flags = (uint32_t)cw_little_endian_get(&at, 1);
    if (!events->known)
        events->next = number;
    events->known = true;
    for (uint32_t left = flags & CW_GAME_EVENTS_COUNT; left > 0; left--, number++) {
        struct cw_game_happened what;
        what.tick = tick - (uint32_t)cw_little_endian_get(&at, 1);
        what.entity = (uint16_t)cw_little_endian_get(&at, 2);
        what.kind = (uint8_t)cw_little_endian_get(&at, 1);
        if ((int16_t)(uint16_t)(number - events->next) < 0)
            continue;
        events->next = (uint16_t)(number + 1);
        if (what.entity < max_entities)
            tell(events, match(events, &what) ? CW_GAME_EVENT_CONFIRMED : CW_GAME_EVENT_HAPPENED,
                 &what);
    }
    return (flags & CW_GAME_EVENTS_ALL) != 0;
}

void cw_game_events_receive(struct cw_game_events *events, const uint8_t *data, uint32_t tick,
                            uint32_t max_entities)
{
    if (!data || take_events(events, data, tick, max_entities))
        take_back(events, tick);
}

bool cw_game_events_next(struct cw_game_events *events, struct cw_game_event *event)
{
    if (events->count == 0)
        return false;
    *event = events->queue[events->first++ % CW_GAME_QUEUED_EVENTS];
    events->count--;
    return true;
}
