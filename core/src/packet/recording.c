/* Recordings are read: the recorded calls are made to an endpoint of the same config. */
#include "packet/record_internal.h"

#include "base/memory.h"

#define MOST_MEMORY      (16u << 20)
#define LONGEST_DATAGRAM 65535

struct cw_recording {
    struct cw_allocator allocator;
    size_t memory;
    struct cw_endpoint *endpoint;
    const uint8_t *at, *end;
    uint64_t time;     /* the time of the latest event; a stranger's may wrap */
    uint32_t states;   /* the states that were read */
    bool damaged;      /* a part could not be read */
    uint8_t *datagram; /* bytes that the endpoint is given or writes */
    char text[CW_RECORD_NOTE_SIZE];
};

/* Reading */

static const uint8_t *take(struct cw_recording *recording, size_t size)
{
    const uint8_t *bytes = recording->at;
    if (recording->damaged || (size_t)(recording->end - bytes) < size) {
        recording->damaged = true;
        return NULL;
    }
    recording->at += size;
    return bytes;
}

/* Returns a number, and notes that the recording is damaged when there is none of at most most. */
static uint64_t take_varint(struct cw_recording *recording, uint64_t most)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = take(recording, 1);
        if (!byte)
            return 0;
        value |= (uint64_t)(*byte & 0x7F) << shift;
        if (*byte & 0x80)
            continue;
        recording->damaged = value > most;
        return recording->damaged ? 0 : value;
    }
    recording->damaged = true;
    return 0;
}

static double seconds_of(const struct cw_recording *recording)
{
    return (double)(int64_t)recording->time / CW_RECORD_SECOND;
}

/* Loads a field of the state; those of one byte are true or false. */
static const uint8_t *load(void *field, const uint8_t *at, size_t size)
{
    if (size == sizeof(bool))
        *(bool *)field = *at & 1;
    else
        cw_record_copy(field, at, size);
    return at + size;
}

static void load_state(struct cw_endpoint *e, const uint8_t *at)
{
#define LOAD(field) at = load(&e->field, at, sizeof e->field);
    CW_RECORD_STATE(LOAD)
}

/* Goes on with a state that was recorded. Where the numbers of packets jump, no packet in the
   windows is known any more. */
static bool take_state(struct cw_recording *recording, struct cw_recording_event *event)
{
    struct cw_endpoint *e = recording->endpoint;
    uint8_t replayed[CW_RECORD_STATE_SIZE];
    const uint16_t sent = e->sent.window.next, received = e->received.window.next;
    const uint8_t *time = take(recording, sizeof recording->time);
    const uint8_t *state = take(recording, CW_RECORD_STATE_SIZE);
    if (!state)
        return false;
    cw_record_copy(&recording->time, time, sizeof recording->time);
    event->now = seconds_of(recording);
    cw_record_save_state(e, replayed);
    event->type = CW_RECORDING_STATE;
    event->exact = memcmp(replayed, state, CW_RECORD_COMPARED_SIZE) == 0;
    load_state(e, state);
    if (recording->states++ == 0 || e->sent.window.next != sent ||
        e->received.window.next != received) {
        cw_endpoint_reset(e);
        load_state(e, state);
        e->sent.oldest_pending = e->sent.window.next;
    }
    return true;
}

static bool take_sent(struct cw_recording *recording, struct cw_recording_event *event, double now,
                      bool further)
{
    struct cw_endpoint *e = recording->endpoint;
    const size_t capacity = cw_endpoint_max_datagram_size(e);
    uint8_t *payload;
    event->type = CW_RECORDING_SENT;
    if (further) {
        event->sequence = (uint16_t)(e->sent.window.next - 1);
        event->size = (uint32_t)cw_endpoint_transmit(e, recording->datagram, capacity, now);
        return true;
    }
    event->sequence = e->sent.window.next;
    const size_t size = (size_t)take_varint(recording, e->config.max_send_size);
    if (cw_endpoint_begin(e, size, recording->datagram, capacity, &payload) == CW_OK) {
        if (size > 0)
            memset(payload, 0, size);
        event->size = (uint32_t)cw_endpoint_commit(e, size, now, NULL);
    }
    return true;
}

/* Writes the header of the packet that is next: it acks all 32 packets up to one. */
static void write_next(const struct cw_endpoint *e, uint8_t behind, uint8_t *out)
{
    const uint16_t sequence = e->received.window.next;
    cw_packet_header_write(out, &(struct cw_packet_header){.sequence = sequence,
                                                           .ack = (uint16_t)(sequence - behind),
                                                           .ack_bits = UINT32_MAX});
}

static bool take_received(struct cw_recording *recording, struct cw_recording_event *event,
                          double now, bool is_next)
{
    struct cw_endpoint *e = recording->endpoint;
    uint8_t *datagram = recording->datagram;
    const size_t size = (size_t)take_varint(recording, LONGEST_DATAGRAM);
    const uint8_t *first = size > 0 ? take(recording, 1) : NULL;
    if (recording->damaged || (is_next && size < CW_PACKET_HEADER_MIN_SIZE))
        return false;
    memset(datagram, 0, size);
    if (is_next) {
        write_next(e, *first, datagram);
    } else if (first) {
        const size_t headers = cw_record_headers(*first, size);
        if (!take(recording, headers - 1))
            return false;
        memcpy(datagram, first, headers);
    }
    event->type = CW_RECORDING_RECEIVED;
    event->size = (uint32_t)size;
    event->sequence = size > 2 ? (uint16_t)(datagram[1] | datagram[2] << 8) : 0;
    event->error = cw_endpoint_receive(e, datagram, size, now);
    (void)cw_endpoint_next_packet(e);
    return true;
}

static bool take_note(struct cw_recording *recording, struct cw_recording_event *event)
{
    const size_t size = (size_t)take_varint(recording, CW_RECORD_NOTE_SIZE - 1);
    const uint8_t *text = take(recording, size);
    if (!text)
        return false;
    for (size_t i = 0; i < size; i++) {
        const bool c1 = text[i] == 0xC2 && i + 1 < size && text[i + 1] < 0xA0; /* in UTF-8 */
        recording->text[i] = (char)(text[i] < ' ' || text[i] == 0x7F || c1 ? '?' : text[i]);
    }
    recording->text[size] = 0;
    event->type = CW_RECORDING_NOTE;
    event->text = recording->text;
    return true;
}

static bool take_congestion(struct cw_recording *recording, struct cw_recording_event *event)
{
    const uint8_t *limit = take(recording, 1);
    if (!limit || *limit >> 2 > CW_CONGESTION_GOOD)
        return false;
    event->type = CW_RECORDING_CONGESTION;
    event->limited = (enum cw_congestion_limit)(*limit & 3);
    event->state = (enum cw_congestion_state)(*limit >> 2);
    event->window = take_varint(recording, UINT64_MAX);
    event->in_flight = take_varint(recording, UINT64_MAX);
    return true;
}

static void take_silence(struct cw_recording *recording, bool due)
{
    struct cw_endpoint *e = recording->endpoint;
    const double seconds = (double)take_varint(recording, UINT64_MAX) / CW_RECORD_SECOND;
    if (due)
        cw_endpoint_expect_answer(
            e, (uint16_t)(e->sent.window.next - take_varint(recording, UINT16_MAX)), seconds);
    else
        cw_endpoint_expect_idle(e, seconds);
}

/* Replays a call that is no event by itself, or is one without contents. */
static bool replay(struct cw_recording *recording, uint64_t kind, struct cw_recording_event *event)
{
    struct cw_endpoint *e = recording->endpoint;
    if (kind == CW_ENDPOINT_ACCEPT) {
        cw_endpoint_accept(e, e->packet.sequence);
    } else if (kind == CW_ENDPOINT_PASS_BY) {
        cw_endpoint_pass_by(e);
    } else if (kind == CW_ENDPOINT_IDLE || kind == CW_ENDPOINT_ANSWER) {
        take_silence(recording, kind == CW_ENDPOINT_ANSWER);
    } else if (kind == CW_ENDPOINT_UPDATE) {
        event->type = CW_RECORDING_TICK;
        cw_endpoint_update(e, event->now);
    } else if (kind == CW_ENDPOINT_RESET) {
        event->type = CW_RECORDING_RESET;
        cw_endpoint_reset(e);
    } else {
        return false;
    }
    return true;
}

/* Reads the next event, whose type stays 0 when the program need not see it. */
static bool take_event(struct cw_recording *recording, struct cw_recording_event *event)
{
    const uint64_t head = take_varint(recording, UINT64_MAX);
    const uint64_t kind = head & ((1u << CW_RECORD_KIND_BITS) - 1);
    recording->time += head >> CW_RECORD_KIND_BITS;
    const double now = event->now = seconds_of(recording);
    if (recording->damaged || (recording->states == 0 && kind != CW_RECORD_KIND_STATE))
        return false;
    switch (kind) {
    case CW_RECORD_KIND_STATE:
        return take_state(recording, event);
    case CW_ENDPOINT_COMMIT:
    case CW_ENDPOINT_TRANSMIT:
        return take_sent(recording, event, now, kind == CW_ENDPOINT_TRANSMIT);
    case CW_ENDPOINT_RECEIVE:
    case CW_ENDPOINT_RECEIVE_NEXT:
        return take_received(recording, event, now, kind == CW_ENDPOINT_RECEIVE_NEXT);
    case CW_RECORD_KIND_CONGESTION:
        return take_congestion(recording, event);
    case CW_RECORD_KIND_NOTE:
        return take_note(recording, event);
    default:
        return replay(recording, kind, event);
    }
}

bool cw_recording_next(struct cw_recording *recording, struct cw_recording_event *event)
{
    bool acked;
    if (!recording || !event)
        return false;
    *event = (struct cw_recording_event){.now = seconds_of(recording)};
    if (cw_endpoint_next_fate(recording->endpoint, &event->sequence, &acked)) {
        event->type = acked ? CW_RECORDING_ACKED : CW_RECORDING_LOST;
        return true;
    }
    while (event->type == 0 && recording->at != recording->end) {
        if (take_event(recording, event) && !recording->damaged)
            continue;
        recording->at = recording->end;
        event->type = CW_RECORDING_DAMAGED;
    }
    return event->type != 0;
}

void cw_recording_get_stats(const struct cw_recording *recording, struct cw_endpoint_stats *stats)
{
    cw_endpoint_get_stats(recording ? recording->endpoint : NULL, stats);
}

/* Opening */

/* Reads the header. Returns false when it is none, or of an endpoint that is too large. */
static bool read_header(const uint8_t *data, size_t size, struct cw_endpoint_config *config)
{
    if (size < CW_RECORD_HEADER_SIZE || memcmp(data, CW_RECORD_MAGIC, CW_RECORD_IN_TURN) != 0)
        return false;
    *config = cw_endpoint_config_default();
    const uint8_t *at = data + CW_RECORD_IN_TURN + 2;
#define LOAD_CONFIG(field) at = load(&config->field, at, sizeof config->field);
    CW_RECORD_CONFIG(LOAD_CONFIG)
    const size_t memory = cw_endpoint_memory(config);
    return memory > 0 && memory <= MOST_MEMORY;
}

static struct cw_recording *lay_out(struct cw_arena *arena, const struct cw_endpoint_config *config)
{
    const size_t longest = cw_endpoint_config_max_datagram_size(config);
    struct cw_recording *recording = cw_arena_take(arena, sizeof *recording);
    uint8_t *datagram =
        cw_arena_take(arena, longest > LONGEST_DATAGRAM ? longest : LONGEST_DATAGRAM);
    struct cw_endpoint_config own = *config;
    if (!recording) {
        cw_arena_take(arena, cw_endpoint_memory(config));
        return NULL;
    }
    own.allocator = cw_arena_allocator(arena);
    recording->datagram = datagram;
    return cw_endpoint_create(&own, &recording->endpoint) == CW_OK ? recording : NULL;
}

enum cw_error cw_recording_create(const uint8_t *data, size_t size,
                                  const struct cw_allocator *allocator,
                                  struct cw_recording **recording)
{
    const struct cw_allocator none = {0}, *given = allocator ? allocator : &none;
    struct cw_endpoint_config config;
    if (!data || !recording)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!read_header(data, size, &config))
        return CW_ERROR_MALFORMED;
    struct cw_arena measure = {0};
    (void)lay_out(&measure, &config);
    struct cw_arena arena = cw_arena_create(given, measure.used);
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_recording *r = lay_out(&arena, &config);
    r->allocator = *given;
    r->memory = arena.size;
    r->at = data + CW_RECORD_HEADER_SIZE;
    r->end = data + size;
    if (data[CW_RECORD_IN_TURN] & 1)
        cw_endpoint_ack_in_turn(r->endpoint);
    *recording = r;
    return CW_OK;
}

void cw_recording_destroy(struct cw_recording *recording)
{
    if (!recording)
        return;
    const struct cw_allocator allocator = recording->allocator;
    cw_release(&allocator, recording, recording->memory);
}
