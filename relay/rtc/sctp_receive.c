#include "rtc/crc32c.h"
#include "rtc/sctp_internal.h"

#include <math.h>

enum { RESET_DONE = 1, RESET_DENIED = 2, RESET_BAD_NUMBER = 5, RESET_LATER = 6 };

static bool checksum_is_right(const uint8_t *packet, size_t size)
{
    static const uint8_t zeros[4];
    uint32_t crc = crc32c(0, packet, 8);
    crc = crc32c(crc, zeros, 4);
    crc = crc32c(crc, packet + SCTP_HEADER_SIZE, size - SCTP_HEADER_SIZE);
    return packet[8] == (uint8_t)crc && packet[9] == (uint8_t)(crc >> 8) &&
           packet[10] == (uint8_t)(crc >> 16) && packet[11] == (uint8_t)(crc >> 24);
}

/* Returns whether a packet is well formed. The whole packet is looked over before any of it is
   acted on. */
static bool is_well_formed(const struct sctp *sctp, const uint8_t *packet, size_t size)
{
    if (size < SCTP_HEADER_SIZE + SCTP_CHUNK_HEADER || load16(packet) != sctp->remote_port ||
        load16(packet + 2) != sctp->local_port || !checksum_is_right(packet, size))
        return false;

    const uint8_t *at = packet + SCTP_HEADER_SIZE;
    const uint8_t *end = packet + size;
    struct sctp_piece first;
    struct sctp_piece chunk;
    if (!sctp_next_chunk(&at, end, &first))
        return false;
    const bool alone = at == end;
    while (sctp_next_chunk(&at, end, &chunk))
        if (chunk.type == CHUNK_INIT)
            return false;
    if (at != end)
        return false;

    const uint32_t tag = load32(packet + 4);
    if (first.type == CHUNK_INIT)
        return tag == 0 && alone;
    if (sctp->state == CLOSED && !sctp->asked)
        return false;
    /* Flag 1 of an ABORT says that it echoes the tag which we send. */
    return tag == sctp->local_tag || (first.type == CHUNK_ABORT && (first.flags & 1) != 0 &&
                                      tag != 0 && tag == sctp->remote_tag);
}

void sctp_receive(struct sctp *sctp, const uint8_t *packet, size_t size, double now)
{
    (void)now;
    sctp->at = sctp->end = NULL;
    sctp->packet_has_data = false;
    sctp->packet_has_sack = false;
    if (sctp->state == ENDED)
        return;
    if (!is_well_formed(sctp, packet, size)) {
        sctp->stats.packets_refused++;
        return;
    }
    sctp->at = packet + SCTP_HEADER_SIZE;
    sctp->end = packet + size;
}

static bool goes_down(struct sctp *sctp, struct sctp_event *event, const char *reason)
{
    sctp->state = ENDED;
    sctp->at = sctp->end;
    *event = (struct sctp_event){.type = SCTP_ENDED, .reason = reason};
    return true;
}

static bool violated(struct sctp *sctp, struct sctp_event *event, uint16_t cause,
                     const char *reason)
{
    sctp_abort_with(sctp, cause, reason);
    return goes_down(sctp, event, reason);
}

/* The contents of an INIT or an INIT ACK. */
struct init {
    struct sctp_init said;
    uint16_t streams_out;
    struct sctp_piece cookie; /* size 0 = there is none */
    bool supports_forward;
};

static bool read_init(const struct sctp_piece *chunk, struct init *init)
{
    const size_t fixed = SCTP_INIT_SIZE - SCTP_CHUNK_HEADER;
    if (chunk->size < fixed || load32(chunk->value) == 0)
        return false;
    *init = (struct init){.said = {.tag = load32(chunk->value),
                                   .window = load32(chunk->value + 4),
                                   .streams = load16(chunk->value + 10),
                                   .tsn = load32(chunk->value + 12)},
                          .streams_out = load16(chunk->value + 8)};
    const uint8_t *at = chunk->value + fixed;
    struct sctp_piece parameter;
    while (sctp_next_parameter(&at, chunk->value + chunk->size, &parameter)) {
        if (parameter.type == PARAMETER_STATE_COOKIE)
            init->cookie = parameter;
        else if (parameter.type == PARAMETER_FORWARD_TSN)
            init->supports_forward = true;
        else if (parameter.type == PARAMETER_EXTENSIONS && parameter.size > 0 &&
                 memchr(parameter.value, CHUNK_FORWARD_TSN, parameter.size) != NULL)
            init->supports_forward = true;
    }
    return true;
}

static bool has_streams(const struct init *init)
{
    return init->said.streams > 0 && init->streams_out > 0;
}

bool sctp_read_init(struct sctp_init *out, const uint8_t *data, size_t size)
{
    struct sctp_piece chunk;
    struct init init;
    if (!sctp_next_chunk(&data, data + size, &chunk) || chunk.type != CHUNK_INIT ||
        !read_init(&chunk, &init) || !has_streams(&init) || !init.supports_forward)
        return false;
    *out = init.said;
    return true;
}

static bool is_known(const struct sctp *sctp, const struct init *init)
{
    return sctp->remote_tag == init->said.tag && sctp->remote_tsn == init->said.tsn;
}

void sctp_learn(struct sctp *sctp, const struct sctp_init *init)
{
    sctp->remote_tag = init->tag;
    sctp->remote_window = init->window;
    sctp->remote_tsn = init->tsn;
    sctp->remote_streams = init->streams;
}

static bool take_init(struct sctp *sctp, const struct sctp_piece *chunk, struct sctp_event *event)
{
    struct init init;
    /* Inside one DTLS connection there is no reason to begin anew. */
    if (sctp->state == ESTABLISHED)
        return false;
    if (!read_init(chunk, &init)) {
        sctp->stats.packets_refused++;
        return false;
    }
    const bool echoed = sctp->state == ECHOED && is_known(sctp, &init);
    sctp_learn(sctp, &init.said);
    if (!has_streams(&init))
        return violated(sctp, event, CAUSE_PROTOCOL_VIOLATION, "an INIT without streams");
    if (!init.supports_forward)
        return violated(sctp, event, CAUSE_PROTOCOL_VIOLATION, "no support of FORWARD-TSN");
    sctp->state = echoed ? ECHOED : ANSWERED;
    sctp->init_ack_due = true;
    return false;
}

/* Takes the answer to our INIT. An answer that does not fit is ignored, because the other side asks
   too. */
static void take_init_ack(struct sctp *sctp, const struct sctp_piece *chunk)
{
    struct init init;
    if (!sctp->asked || (sctp->state != CLOSED && sctp->state != ANSWERED) ||
        !read_init(chunk, &init) || init.cookie.size == 0 || !has_streams(&init) ||
        !init.supports_forward || (sctp->state == ANSWERED && !is_known(sctp, &init)))
        return;
    uint8_t *out = sctp_put_chunk(&sctp->control, CHUNK_COOKIE_ECHO, 0, init.cookie.size);
    if (!out)
        return;
    memcpy(out, init.cookie.value, init.cookie.size);
    sctp_learn(sctp, &init.said);
    sctp->state = ECHOED;
}

void sctp_establish(struct sctp *sctp)
{
    sctp->state = ESTABLISHED;
    sctp->init_ack_due = false;
    sctp->next_request = sctp->remote_tsn;
    tsn_map_reset(&sctp->arrived, sctp->remote_tsn);
}

static bool establish(struct sctp *sctp, struct sctp_event *event)
{
    sctp_establish(sctp);
    *event = (struct sctp_event){.type = SCTP_ESTABLISHED};
    return true;
}

static bool take_cookie(struct sctp *sctp, const struct sctp_piece *chunk, struct sctp_event *event)
{
    uint8_t cookie[COOKIE_SIZE];
    sctp_make_cookie(sctp, cookie);
    if (chunk->size != COOKIE_SIZE || memcmp(chunk->value, cookie, COOKIE_SIZE) != 0)
        return false;
    sctp_put_chunk(&sctp->control, CHUNK_COOKIE_ACK, 0, 0);
    /* When the association is established already, our COOKIE ACK was lost. */
    return sctp->state != ESTABLISHED && establish(sctp, event);
}

static bool take_data(struct sctp *sctp, const struct sctp_piece *chunk, struct sctp_event *event)
{
    const size_t header = SCTP_DATA_HEADER - SCTP_CHUNK_HEADER;
    if (chunk->size <= header)
        return violated(sctp, event, CAUSE_NO_USER_DATA, "DATA without data");

    const uint32_t tsn = load32(chunk->value);
    const enum tsn_arrival arrival = tsn_map_add(&sctp->arrived, tsn);
    sctp->packet_has_data = true;
    if (arrival != TSN_NEW) {
        sctp->stats.duplicates++;
        sctp->acknowledge_now = true;
        return false;
    }
    if ((chunk->flags & DATA_IMMEDIATE) != 0 || sctp->arrived.highest != sctp->arrived.cumulative)
        sctp->acknowledge_now = true;

    *event = (struct sctp_event){
        .type = SCTP_MESSAGE,
        .data = chunk->value + header,
        .size = chunk->size - header,
        .stream = load16(chunk->value + 4),
        .order = load16(chunk->value + 6),
        .ppid = load32(chunk->value + 8),
        .unordered = (chunk->flags & DATA_UNORDERED) != 0,
    };
    bool too_long = event->size > SCTP_MESSAGE_MAX;
    if ((chunk->flags & (DATA_BEGIN | DATA_END)) != (DATA_BEGIN | DATA_END)) {
        const struct fragment fragment = {
            .tsn = tsn,
            .ppid = event->ppid,
            .stream = event->stream,
            .size = (uint16_t)event->size,
            .begins = (chunk->flags & DATA_BEGIN) != 0,
            .ends = (chunk->flags & DATA_END) != 0,
            .unordered = event->unordered,
            .data = (uint8_t *)event->data,
        };
        event->data = sctp->message;
        event->size = reassembly_add(&sctp->reassembly, &fragment, sctp->message, SCTP_MESSAGE_MAX,
                                     &too_long);
    }
    if (too_long)
        sctp->stats.messages_too_long++;
    return !too_long && event->size > 0;
}

/* Returns whether an acknowledgement says that this TSN has arrived, or is not needed any more. */
static bool covers(uint32_t cumulative, const struct tsn_gap *gaps, size_t count, uint32_t tsn)
{
    const uint32_t beyond = tsn - cumulative;
    for (size_t i = 0; i < count; i++)
        if (beyond >= gaps[i].first && beyond <= gaps[i].last)
            return true;
    return (int32_t)beyond <= 0;
}

/* Measures a round trip. One chunk at a time is timed, and nothing is learned from one that was
   given up. */
static void take_time(struct sctp *sctp, uint32_t cumulative, const struct tsn_gap *gaps,
                      size_t count, double now)
{
    if (sctp->timed_at == INFINITY || outstanding_in_flight(&sctp->outstanding, sctp->timed))
        return;
    const double sample = now - sctp->timed_at;
    if (covers(cumulative, gaps, count, sctp->timed))
        sctp->stats.rtt =
            isnan(sctp->stats.rtt) ? sample : sctp->stats.rtt + (sample - sctp->stats.rtt) / 8;
    sctp->timed_at = INFINITY;
}

static void take_sack(struct sctp *sctp, const struct sctp_piece *chunk, double now)
{
    const size_t header = SCTP_SACK_HEADER - SCTP_CHUNK_HEADER;
    struct tsn_gap gaps[OUTSTANDING_MAX / 2];
    if (chunk->size < header)
        return;
    size_t count = load16(chunk->value + 8);
    if (count * 4 > chunk->size - header)
        return;
    if (count > sizeof gaps / sizeof gaps[0])
        count = sizeof gaps / sizeof gaps[0];
    for (size_t i = 0; i < count; i++) {
        gaps[i].first = load16(chunk->value + header + i * 4);
        gaps[i].last = load16(chunk->value + header + i * 4 + 2);
    }

    struct outstanding *out = &sctp->outstanding;
    const uint32_t before = out->acknowledged;
    const uint32_t cumulative = load32(chunk->value);
    if (!outstanding_acknowledge(out, cumulative, gaps, count, sctp_keep(sctp)) ||
        out->acknowledged != cumulative)
        return;
    take_time(sctp, cumulative, gaps, count, now);
    sctp->remote_window = load32(chunk->value + 4);
    for (size_t i = 0; i < SCTP_RELIABLE_MAX; i++)
        if (sctp->reliable[i].used && !outstanding_in_flight(out, sctp->reliable[i].tsn))
            sctp->reliable[i].used = false;
    if (out->acknowledged == before)
        return;
    sctp->resend_interval = RESEND_INTERVAL;
    sctp->resend_at = out->acknowledged != out->next - 1 || sctp->reset_waits
                          ? now + sctp->resend_interval
                          : INFINITY;
}

static void take_forward(struct sctp *sctp, const struct sctp_piece *chunk)
{
    if (chunk->size < 4)
        return;
    const uint32_t tsn = load32(chunk->value);
    if (tsn_map_forward(&sctp->arrived, tsn))
        reassembly_forward(&sctp->reassembly, sctp->arrived.cumulative);
    sctp->acknowledge_now = true;
}

static void answer_request(struct sctp *sctp, uint32_t number, uint32_t result)
{
    uint8_t *out = sctp_put_chunk(&sctp->control, CHUNK_RECONFIG, 0, 12);
    if (!out)
        return;
    store16(out, PARAMETER_RECONFIG_RESPONSE);
    store16(out + 2, 12);
    store32(out + 4, number);
    store32(out + 8, result);
}

/* Takes a reset of the other side's streams: their last message must have come, or been given up.
 */
static bool take_reset(struct sctp *sctp, const struct sctp_piece *parameter,
                       struct sctp_event *event)
{
    if (parameter->size < 12 || parameter->size % 2 != 0)
        return false;
    const uint32_t number = load32(parameter->value);
    const bool again = number == sctp->next_request - 1;
    if (number != sctp->next_request && !again) {
        answer_request(sctp, number, RESET_BAD_NUMBER);
        return false;
    }
    if (again && sctp->last_result != RESET_LATER) {
        answer_request(sctp, number, sctp->last_result);
        return false;
    }
    sctp->next_request = number + 1;
    const bool complete = tsn_ahead(load32(parameter->value + 8), sctp->arrived.cumulative) <= 0;
    sctp->last_result = complete ? RESET_DONE : RESET_LATER;
    answer_request(sctp, number, sctp->last_result);
    if (!complete)
        return false;
    *event = (struct sctp_event){.type = SCTP_RESET,
                                 .streams = parameter->value + 12,
                                 .stream_count = (parameter->size - 12) / 2};
    return true;
}

static void take_reset_response(struct sctp *sctp, const struct sctp_piece *parameter)
{
    if (parameter->size < 8 || load32(parameter->value) != sctp->reset_request ||
        load32(parameter->value + 4) == RESET_LATER)
        return;
    sctp->reset_waits = false;
    sctp->reset_due = false;
}

static bool take_reconfig(struct sctp *sctp, const struct sctp_piece *chunk,
                          struct sctp_event *event)
{
    const uint8_t *at = chunk->value;
    struct sctp_piece parameter;
    bool happened = false;
    /* There are at most two parameters, of which one at most is a reset of outgoing streams. */
    for (int i = 0; i < 2 && sctp_next_parameter(&at, chunk->value + chunk->size, &parameter);
         i++) {
        if (parameter.type == PARAMETER_OUTGOING_RESET && !happened)
            happened = take_reset(sctp, &parameter, event);
        else if (parameter.type == PARAMETER_RECONFIG_RESPONSE)
            take_reset_response(sctp, &parameter);
        else if (parameter.size >= 4)
            answer_request(sctp, load32(parameter.value), RESET_DENIED);
    }
    return happened;
}

static bool take_heartbeat_ack(const struct sctp_piece *chunk, struct sctp_event *event)
{
    const uint8_t *at = chunk->value;
    struct sctp_piece parameter;
    if (!sctp_next_parameter(&at, chunk->value + chunk->size, &parameter) ||
        parameter.type != PARAMETER_HEARTBEAT_INFO)
        return false;
    *event = (struct sctp_event){
        .type = SCTP_HEARTBEAT, .data = parameter.value, .size = parameter.size};
    return true;
}

static void take_unknown(struct sctp *sctp, const struct sctp_piece *chunk)
{
    if ((chunk->type & 0x40) != 0) {
        const size_t size = SCTP_CHUNK_HEADER + chunk->size;
        uint8_t *out = sctp_put_chunk(&sctp->control, CHUNK_ERROR, 0, 4 + size);
        if (out) {
            store16(out, CAUSE_UNRECOGNIZED_CHUNK);
            store16(out + 2, (uint16_t)(4 + size));
            memcpy(out + 4, chunk->start, size);
        }
    }
    if ((chunk->type & 0x80) == 0)
        sctp->at = sctp->end;
}

/* Takes the chunks that mean something only when the association is up. */
static bool take_established(struct sctp *sctp, const struct sctp_piece *chunk,
                             struct sctp_event *event, double now)
{
    uint8_t *out;
    switch (chunk->type) {
    case CHUNK_DATA:
        return take_data(sctp, chunk, event);
    case CHUNK_SACK:
        /* One acknowledgement in a packet is enough, and each may take the work of hundreds of
           chunks. */
        if (!sctp->packet_has_sack)
            take_sack(sctp, chunk, now);
        sctp->packet_has_sack = true;
        return false;
    case CHUNK_FORWARD_TSN:
        take_forward(sctp, chunk);
        return false;
    case CHUNK_HEARTBEAT:
        out = sctp_put_chunk(&sctp->control, CHUNK_HEARTBEAT_ACK, 0, chunk->size);
        if (out)
            memcpy(out, chunk->value, chunk->size);
        return false;
    case CHUNK_HEARTBEAT_ACK:
        return take_heartbeat_ack(chunk, event);
    case CHUNK_RECONFIG:
        return take_reconfig(sctp, chunk, event);
    case CHUNK_SHUTDOWN:
        sctp->control.size = 0;
        sctp_put_chunk(&sctp->control, CHUNK_SHUTDOWN_ACK, 0, 0);
        return goes_down(sctp, event, "shut down by the other side");
    default:
        if (chunk->type > CHUNK_SHUTDOWN_COMPLETE)
            take_unknown(sctp, chunk);
        return false;
    }
}

static void schedule_acknowledgement(struct sctp *sctp, double now)
{
    sctp->packet_has_data = false;
    sctp->packets_to_acknowledge++;
    if (sctp->packets_to_acknowledge >= 2)
        sctp->acknowledge_now = true;
    else
        sctp->acknowledge_at = now + ACK_DELAY;
}

static bool take_chunk(struct sctp *sctp, const struct sctp_piece *chunk, struct sctp_event *event,
                       double now)
{
    switch (chunk->type) {
    case CHUNK_INIT:
        return take_init(sctp, chunk, event);
    case CHUNK_INIT_ACK:
        take_init_ack(sctp, chunk);
        return false;
    case CHUNK_COOKIE_ECHO:
        return take_cookie(sctp, chunk, event);
    case CHUNK_COOKIE_ACK:
        return sctp->state == ECHOED && establish(sctp, event);
    case CHUNK_ABORT:
        return goes_down(sctp, event, "aborted by the other side");
    case CHUNK_DATA:
    case CHUNK_HEARTBEAT_ACK:
        if (sctp->state == ECHOED) {
            sctp->at = chunk->start; /* the COOKIE ACK was lost: take it once established */
            return establish(sctp, event);
        }
        break;
    default:
        break;
    }
    return sctp->state == ESTABLISHED && take_established(sctp, chunk, event, now);
}

bool sctp_next(struct sctp *sctp, struct sctp_event *event, double now)
{
    struct sctp_piece chunk;
    while (sctp->at && sctp_next_chunk(&sctp->at, sctp->end, &chunk))
        if (take_chunk(sctp, &chunk, event, now))
            return true;
    sctp->at = NULL;
    if (sctp->packet_has_data && sctp->state == ESTABLISHED)
        schedule_acknowledgement(sctp, now);
    return false;
}
