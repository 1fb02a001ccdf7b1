#include "packet/record_internal.h"

#include "base/config_fields.h"
#include "base/memory.h"
#include "packet/congestion.h"

#define CHUNKS             8
#define LONGEST_EVENTS     128  /* bytes of a call, and of what is told before it */
#define LATEST             1e11 /* seconds */
#define LONGEST_DATAGRAM   65535
#define MOST_BYTES         1e15
#define LONGEST_IDLE       1e6 /* seconds */
#define CONGESTION_SECONDS 1   /* between two events that tell of the same limit */

/* The recording is written into chunks in turn, each of which begins with a state. */
struct cw_record {
    struct cw_record_config config;
    struct cw_endpoint *endpoint; /* NULL: it records nothing */
    uint8_t header[CW_RECORD_HEADER_SIZE];
    bool begun;
    int64_t time;                           /* the time of the latest event */
    const struct cw_congestion *congestion; /* NULL: none */
    int64_t limit_time; /* the time and the first byte of the latest event about it */
    uint8_t limit;
    bool arrived; /* a datagram was received, and it is not known whether its packet was accepted */
    double idle;  /* the silence as it was told last; below 0: not since the latest datagram */
    bool due;
    uint16_t asked;
    uint32_t chunk, chunk_size; /* the chunk being written, and the bytes in each */
    uint32_t used[CHUNKS];
    uint8_t *bytes;
};

#define FIELDS(OTHER, RANGE, ...) RANGE(__VA_ARGS__, UINT, size, 8192, 1048576)
CW_CONFIG_FIELDS(cw_record_config, 0x1060, FIELDS, cw_record_config_errors)

struct cw_record_config cw_record_config_default(void)
{
    return (struct cw_record_config){.size = 65536};
}

static struct cw_record *lay_out(struct cw_arena *arena, const struct cw_record_config *config)
{
    struct cw_record *record = cw_arena_take(arena, sizeof *record);
    uint8_t *bytes = cw_arena_take(arena, config->size);
    if (record) {
        record->config = *config;
        record->chunk_size = (config->size - CW_RECORD_HEADER_SIZE) / CHUNKS;
        record->bytes = bytes;
    }
    return record;
}

size_t cw_record_memory(const struct cw_record_config *config)
{
    struct cw_arena arena = {0};
    if (!config || CW_CHECK_FIELDS(config) != CW_OK)
        return 0;
    lay_out(&arena, config);
    return arena.used;
}

enum cw_error cw_record_create(const struct cw_record_config *config, struct cw_record **record)
{
    const enum cw_error error =
        config && record ? CW_CHECK_FIELDS(config) : CW_ERROR_INVALID_ARGUMENT;
    if (error != CW_OK)
        return error;
    struct cw_arena arena = cw_arena_create(&config->allocator, cw_record_memory(config));
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    *record = lay_out(&arena, config);
    return CW_OK;
}

static void detach(struct cw_record *record)
{
    if (record->endpoint)
        record->endpoint->record = NULL;
    record->endpoint = NULL;
}

void cw_record_destroy(struct cw_record *record)
{
    if (!record)
        return;
    detach(record);
    const struct cw_allocator allocator = record->config.allocator;
    cw_release(&allocator, record, cw_record_memory(&record->config));
}

/* Writing */

/* Returns the place for size more bytes. */
static uint8_t *place(struct cw_record *record, size_t size)
{
    uint32_t *used = &record->used[record->chunk];
    uint8_t *at = record->bytes + (size_t)record->chunk * record->chunk_size + *used;
    *used += (uint32_t)size;
    return at;
}

static void put(struct cw_record *record, const void *bytes, size_t size)
{
    memcpy(place(record, size), bytes, size);
}

static void put_varint(struct cw_record *record, uint64_t value)
{
    for (; value > 0x7F; value >>= 7)
        *place(record, 1) = (uint8_t)(value | 0x80);
    *place(record, 1) = (uint8_t)value;
}

static void begin_chunk(struct cw_record *record)
{
    uint8_t state[1 + sizeof record->time + CW_RECORD_STATE_SIZE] = {CW_RECORD_KIND_STATE};
    if (record->begun)
        record->chunk = (record->chunk + 1) % CHUNKS;
    record->begun = true;
    record->used[record->chunk] = 0;
    cw_record_copy(state + 1, &record->time, sizeof record->time);
    cw_record_save_state(record->endpoint, state + 1 + sizeof record->time);
    put(record, state, sizeof state);
}

/* Returns the time of the next event. A clock does not go back, nor beyond all bounds. */
static int64_t time_of(const struct cw_record *record, double now)
{
    const int64_t time = fabs(now) < LATEST ? (int64_t)floor(now * CW_RECORD_SECOND) : record->time;
    return record->begun && time < record->time ? record->time : time;
}

/* Makes room for the events of a call, and for more bytes. The state that begins a chunk is that of
   the replay too, because all that happened until now was told. */
static void make_room(struct cw_record *record, int64_t time, size_t more)
{
    if (!record->begun)
        record->time = time;
    if (!record->begun || record->used[record->chunk] + LONGEST_EVENTS + more > record->chunk_size)
        begin_chunk(record);
}

static void put_event(struct cw_record *record, unsigned kind, int64_t time)
{
    put_varint(record, (uint64_t)(time - record->time) << CW_RECORD_KIND_BITS | kind);
    record->time = time;
}

static void put_received(struct cw_record *record, const uint8_t *data, size_t size, int64_t time)
{
    const uint16_t next = record->endpoint->received.window.next;
    const size_t headers = size > 0 ? cw_record_headers(data[0], size) : 0;
    const bool is_next = headers == CW_PACKET_HEADER_MIN_SIZE &&
                         data[0] == CW_PACKET_PREFIX_SHORT_ACK && (data[1] | data[2] << 8) == next;
    put_event(record, is_next ? CW_ENDPOINT_RECEIVE_NEXT : CW_ENDPOINT_RECEIVE, time);
    put_varint(record, size < LONGEST_DATAGRAM ? size : LONGEST_DATAGRAM);
    if (is_next)
        put(record, data + headers - 1, 1);
    else
        put(record, data, headers);
}

static void put_bytes(struct cw_record *record, double bytes)
{
    put_varint(record, bytes > 0 && bytes < MOST_BYTES ? (uint64_t)bytes : 0);
}

/* Tells the state of congestion control when it is another one, and once a second. */
static void put_congestion(struct cw_record *record, int64_t time)
{
    const struct cw_congestion *congestion = record->congestion;
    const uint8_t limit =
        (uint8_t)((unsigned)congestion->limited | (unsigned)congestion->binary.state << 2);
    if (limit == record->limit && time - record->limit_time < CONGESTION_SECONDS * CW_RECORD_SECOND)
        return;
    record->limit = limit;
    record->limit_time = time;
    put_event(record, CW_RECORD_KIND_CONGESTION, time);
    put(record, &limit, 1);
    put_bytes(record, cw_congestion_window(congestion));
    put_bytes(record, cw_congestion_in_flight(congestion));
}

/* Tells what the endpoint's owner has done since the latest call: it may have accepted the packet
   that arrived, and set for how long the other end may be silent, which is rounded here before it
   is used. A packet that arrives may have changed the latter too, so it is told anew. */
static void settle(struct cw_record *record)
{
    struct cw_endpoint *e = record->endpoint;
    struct cw_silence *silence = &e->sent.silence;
    if (!record->begun)
        return;
    if (record->arrived && !e->packet_offered) {
        put_event(record, CW_ENDPOINT_ACCEPT, record->time);
        record->arrived = false;
    }
    if (!(silence->idle < LONGEST_IDLE) ||
        (silence->idle == record->idle && silence->due == record->due &&
         (!silence->due || silence->asked == record->asked)))
        return;
    const uint64_t units = (uint64_t)(silence->idle * CW_RECORD_SECOND);
    put_event(record, silence->due ? CW_ENDPOINT_ANSWER : CW_ENDPOINT_IDLE, record->time);
    put_varint(record, units);
    if (silence->due)
        put_varint(record, (uint16_t)(e->sent.window.next - silence->asked));
    record->idle = silence->idle = (double)units / CW_RECORD_SECOND;
    record->due = silence->due;
    record->asked = silence->asked;
}

double cw_endpoint_record(struct cw_endpoint *e, enum cw_endpoint_call call, const uint8_t *data,
                          size_t size, double now)
{
    struct cw_record *record = e->record;
    const int64_t time = time_of(record, now);
    settle(record);
    make_room(record, time, 0);
    if (call == CW_ENDPOINT_RECEIVE) {
        put_received(record, data, size, time);
        record->arrived = true;
        record->idle = -1; /* unknown */
    } else {
        put_event(record, call, time);
    }
    if (call == CW_ENDPOINT_COMMIT)
        put_varint(record, size);
    if (call == CW_ENDPOINT_UPDATE && record->congestion)
        put_congestion(record, time);
    return (double)time / CW_RECORD_SECOND;
}

void cw_record_set_congestion(struct cw_record *record, const struct cw_congestion *congestion)
{
    record->congestion = congestion;
    record->limit = UINT8_MAX;
}

void cw_endpoint_set_record(struct cw_endpoint *e, struct cw_record *record)
{
    CW_ONE_THREAD(e);
    if (!e)
        return;
    if (e->record) {
        settle(e->record);
        detach(e->record);
    }
    if (!record)
        return;
    detach(record);
    e->record = record;
    record->endpoint = e;
    record->begun = false;
    record->time = 0;
    record->congestion = NULL;
    record->arrived = false;
    record->idle = -1;
    record->chunk = 0;
    memset(record->used, 0, sizeof record->used);
    memset(record->header, 0, sizeof record->header);
    memcpy(record->header, CW_RECORD_MAGIC, CW_RECORD_IN_TURN);
    record->header[CW_RECORD_IN_TURN] = e->acks_in_turn;
    uint8_t *at = record->header + CW_RECORD_IN_TURN + 2;
#define SAVE_CONFIG(field)                                                                         \
    cw_record_copy(at, &e->config.field, sizeof e->config.field);                                  \
    at += sizeof e->config.field;
    CW_RECORD_CONFIG(SAVE_CONFIG)
}

void cw_record_note(struct cw_record *record, const char *text, double now)
{
    if (!record || !record->endpoint || !text || !isfinite(now))
        return;
    size_t size = 0;
    while (size < CW_RECORD_NOTE_SIZE - 1 && text[size])
        size++;
    const int64_t time = time_of(record, now);
    settle(record);
    make_room(record, time, size);
    put_event(record, CW_RECORD_KIND_NOTE, time);
    put_varint(record, size);
    put(record, text, size);
}

size_t cw_record_write(struct cw_record *record, uint8_t *out, size_t capacity)
{
    if (!record || !out || !record->begun)
        return 0;
    if (record->endpoint)
        settle(record);
    size_t size = sizeof record->header;
    for (uint32_t i = 0; i < CHUNKS; i++)
        size += record->used[i];
    if (capacity < size)
        return 0;
    memcpy(out, record->header, sizeof record->header);
    out += sizeof record->header;
    for (uint32_t i = 1; i <= CHUNKS; i++) {
        const uint32_t chunk = (record->chunk + i) % CHUNKS;
        memcpy(out, record->bytes + (size_t)chunk * record->chunk_size, record->used[chunk]);
        out += record->used[chunk];
    }
    return size;
}
