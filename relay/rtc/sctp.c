#include "rtc/sctp.h"

#include "rtc/crc32c.h"
#include "rtc/sctp_internal.h"

#include <math.h>
#include <stdlib.h>

struct sctp *sctp_create(const struct sctp_config *config)
{
    struct sctp *sctp = calloc(1, sizeof *sctp);
    if (!sctp)
        return NULL;
    sctp->local_port = config->local_port;
    sctp->remote_port = config->remote_port;
    sctp->local_tag = load32(config->random) | 1; /* a tag is never 0 */
    sctp->local_tsn = load32(config->random + 4);
    sctp->message = config->message;
    memcpy(sctp->nonce, config->random + 8, sizeof sctp->nonce);
    sctp->acknowledge_at = INFINITY;
    sctp->resend_at = INFINITY;
    sctp->resend_interval = RESEND_INTERVAL;
    sctp->timed_at = INFINITY;
    sctp->stats.rtt = NAN;
    sctp->reset_request = sctp->local_tsn - 1;
    sctp->forwarded = sctp->local_tsn - 1;
    sctp->control = (struct sctp_writer){sctp->control_data, 0, sizeof sctp->control_data};
    outstanding_reset(&sctp->outstanding, sctp->local_tsn);
    if (config->remote.tag != 0) {
        sctp_learn(sctp, &config->remote);
        sctp_establish(sctp);
    }
    return sctp;
}

void sctp_destroy(struct sctp *sctp)
{
    if (!sctp)
        return;
    reassembly_clear(&sctp->reassembly);
    free(sctp);
}

void sctp_connect(struct sctp *sctp)
{
    sctp->asked = true;
    sctp->init_due = true;
}

bool sctp_is_established(const struct sctp *sctp)
{
    return sctp->state == ESTABLISHED;
}

bool sctp_is_answered(const struct sctp *sctp)
{
    return sctp->state == ECHOED || sctp->state == ESTABLISHED;
}

void sctp_stats(const struct sctp *sctp, struct sctp_stats *stats)
{
    *stats = sctp->stats;
    stats->fragments_dropped = sctp->reassembly.evicted;
    stats->chunks_abandoned = sctp->outstanding.given_up;
}

uint32_t sctp_keep(const struct sctp *sctp)
{
    uint32_t keep = sctp->outstanding.next;
    for (size_t i = 0; i < SCTP_RELIABLE_MAX; i++)
        if (sctp->reliable[i].used && tsn_ahead(sctp->reliable[i].tsn, keep) < 0)
            keep = sctp->reliable[i].tsn;
    return keep;
}

void sctp_make_cookie(const struct sctp *sctp, uint8_t cookie[COOKIE_SIZE])
{
    memcpy(cookie, sctp->nonce, sizeof sctp->nonce);
    store32(cookie + sizeof sctp->nonce, sctp->remote_tag);
    store32(cookie + sizeof sctp->nonce + 4, sctp->remote_tsn);
}

static enum sctp_send check_stream(const struct sctp *sctp, uint16_t stream)
{
    return sctp->state == ESTABLISHED && stream < sctp->remote_streams ? SCTP_SENT : SCTP_NOT_UP;
}

/* Returns how many chunks a message, or the rest of one, takes. */
static size_t parts_of(size_t size)
{
    return (size + SCTP_UNSPLIT_MAX - 1) / SCTP_UNSPLIT_MAX;
}

enum sctp_send sctp_send(struct sctp *sctp, uint16_t stream, uint32_t ppid, const uint8_t *data,
                         size_t size)
{
    if (check_stream(sctp, stream) != SCTP_SENT)
        return SCTP_NOT_UP;
    if (size == 0 || size > SCTP_MESSAGE_MAX)
        return SCTP_TOO_LONG;
    if (sctp->staged)
        return SCTP_BUSY;

    /* With nothing in flight one message may go out even into a closed window, to probe it. */
    const struct outstanding *out = &sctp->outstanding;
    if (!outstanding_has_room(out, parts_of(size)) ||
        (out->flight > 0 && out->flight + size > sctp->remote_window))
        return SCTP_WINDOW_FULL;

    sctp->staged = data;
    sctp->staged_size = size;
    sctp->staged_sent = 0;
    sctp->staged_ppid = ppid;
    sctp->staged_stream = stream;
    return SCTP_SENT;
}

enum sctp_send sctp_send_reliable(struct sctp *sctp, uint16_t stream, uint32_t ppid,
                                  const uint8_t *data, size_t size)
{
    if (check_stream(sctp, stream) != SCTP_SENT)
        return SCTP_NOT_UP;
    if (size == 0 || size > SCTP_RELIABLE_BYTES)
        return SCTP_TOO_LONG;
    /* The rest of the message that goes out now has its places already. */
    const size_t staged = sctp->staged ? parts_of(sctp->staged_size - sctp->staged_sent) : 0;
    if (!outstanding_has_room(&sctp->outstanding, staged + 1))
        return SCTP_WINDOW_FULL;
    for (size_t i = 0; i < SCTP_RELIABLE_MAX; i++) {
        struct reliable_message *message = &sctp->reliable[i];
        if (message->used)
            continue;
        *message = (struct reliable_message){.used = true,
                                             .due = true,
                                             .stream = stream,
                                             .ppid = ppid,
                                             .size = (uint8_t)size,
                                             .tsn = outstanding_send(&sctp->outstanding, size)};
        memcpy(message->data, data, size);
        return SCTP_SENT;
    }
    return SCTP_BUSY;
}

bool sctp_reset(struct sctp *sctp, uint16_t stream)
{
    if (check_stream(sctp, stream) != SCTP_SENT || sctp->reset_waits)
        return false;
    sctp->reset_waits = true;
    sctp->reset_due = true;
    sctp->reset_stream = stream;
    sctp->reset_request++;
    return true;
}

void sctp_abort_with(struct sctp *sctp, uint16_t cause, const char *reason)
{
    if (sctp->state == ENDED)
        return;
    sctp->state = ENDED;
    sctp->at = sctp->end;
    sctp->init_ack_due = false;
    sctp->control.size = 0;
    if (sctp->remote_tag == 0)
        return;
    const size_t size = reason ? strlen(reason) : 0;
    uint8_t *out = sctp_put_chunk(&sctp->control, CHUNK_ABORT, 0, 4 + size);
    if (!out)
        return;
    store16(out, cause);
    store16(out + 2, (uint16_t)(4 + size));
    if (size > 0)
        memcpy(out + 4, reason, size);
}

void sctp_abort(struct sctp *sctp, const char *reason)
{
    sctp_abort_with(sctp, CAUSE_USER_ABORT, reason);
}

static size_t finish(const struct sctp *sctp, struct sctp_writer *packet)
{
    store16(packet->data, sctp->local_port);
    store16(packet->data + 2, sctp->remote_port);
    store32(packet->data + 4, sctp->remote_tag);
    memset(packet->data + 8, 0, 4);
    /* The checksum is the one field that is sent low byte first. */
    const uint32_t crc = crc32c(0, packet->data, packet->size);
    for (int i = 0; i < 4; i++)
        packet->data[8 + i] = (uint8_t)(crc >> 8 * i);
    return packet->size;
}

/* An INIT, or the INIT ACK that answers one with a cookie. */
static void put_init(const struct sctp *sctp, struct sctp_writer *packet, enum sctp_chunk_type type)
{
    static const uint8_t extensions[2] = {CHUNK_RECONFIG, CHUNK_FORWARD_TSN};
    const bool answers = type == CHUNK_INIT_ACK;
    struct sctp_writer parameters = {packet->data + packet->size + SCTP_INIT_SIZE, 0,
                                     packet->capacity - packet->size - SCTP_INIT_SIZE};
    if (answers)
        sctp_make_cookie(sctp, sctp_put(&parameters, PARAMETER_STATE_COOKIE, COOKIE_SIZE));
    memcpy(sctp_put(&parameters, PARAMETER_EXTENSIONS, sizeof extensions), extensions,
           sizeof extensions);
    sctp_put(&parameters, PARAMETER_FORWARD_TSN, 0);

    uint8_t *out = sctp_put_chunk(packet, (uint8_t)type, 0,
                                  SCTP_INIT_SIZE - SCTP_CHUNK_HEADER + parameters.size);
    store32(out, sctp->local_tag);
    store32(out + 4, RECEIVE_WINDOW);
    store16(out + 8, answers ? sctp->remote_streams : STREAMS);
    store16(out + 10, STREAMS);
    store32(out + 12, sctp->local_tsn);
}

void sctp_write_init(uint8_t out[SCTP_OWN_INIT_SIZE])
{
    /* sctp_create makes the same of zeros. */
    static const struct sctp sctp = {.local_tag = 1};
    put_init(&sctp, &(struct sctp_writer){out, 0, SCTP_OWN_INIT_SIZE}, CHUNK_INIT);
}

static void put_sack(struct sctp *sctp, struct sctp_writer *packet)
{
    struct tsn_gap gaps[64];
    size_t count = tsn_map_gaps(&sctp->arrived, gaps, 64);
    const size_t size = SCTP_SACK_HEADER - SCTP_CHUNK_HEADER + count * 4;

    /* An acknowledgement that is not due goes out only where it does not push a message out of the
       packet. */
    if (!sctp->acknowledge_now) {
        const size_t room = packet->capacity - packet->size;
        if (!sctp->staged || sctp->staged_size > SCTP_UNSPLIT_MAX ||
            SCTP_CHUNK_HEADER + size + SCTP_DATA_HEADER + padded(sctp->staged_size) > room)
            return;
    }
    uint8_t *out = sctp_put_chunk(packet, CHUNK_SACK, 0, size);
    if (!out)
        return;
    store32(out, sctp->arrived.cumulative);
    store32(out + 4, RECEIVE_WINDOW);
    store16(out + 8, (uint16_t)count);
    store16(out + 10, 0);
    for (size_t i = 0; i < count; i++) {
        store16(out + 12 + i * 4, gaps[i].first);
        store16(out + 14 + i * 4, gaps[i].last);
    }
    sctp->acknowledge_now = false;
    sctp->acknowledge_at = INFINITY;
    sctp->packets_to_acknowledge = 0;
}

static bool forward_waits(const struct sctp *sctp)
{
    return outstanding_must_forward(&sctp->outstanding) &&
           sctp->outstanding.abandoned != sctp->forwarded;
}

static void put_forward(struct sctp *sctp, struct sctp_writer *packet, double now)
{
    /* Our ordered messages are never given up, so there are no streams to name. */
    uint8_t *out = sctp_put_chunk(packet, CHUNK_FORWARD_TSN, 0, 4);
    if (!out)
        return;
    store32(out, sctp->outstanding.abandoned);
    sctp->forwarded = sctp->outstanding.abandoned;
    sctp->forward_at = now + FORWARD_INTERVAL;
    sctp->stats.forwards_sent++;
}

static void put_reset(struct sctp *sctp, struct sctp_writer *packet)
{
    uint8_t *out = sctp_put_chunk(packet, CHUNK_RECONFIG, 0, 18);
    if (!out)
        return;
    store16(out, PARAMETER_OUTGOING_RESET);
    store16(out + 2, 18);
    store32(out + 4, sctp->reset_request);
    store32(out + 8, sctp->next_request - 1);
    store32(out + 12, sctp->outstanding.next - 1);
    store16(out + 16, sctp->reset_stream);
    sctp->reset_due = false;
}

/* A message or a part of one. */
struct data_chunk {
    uint8_t flags;
    uint32_t tsn;
    uint16_t stream;
    uint32_t ppid;
    const uint8_t *data;
    size_t size;
};

static bool put_data(struct sctp_writer *packet, const struct data_chunk *chunk)
{
    uint8_t *out = sctp_put_chunk(packet, CHUNK_DATA, chunk->flags,
                                  SCTP_DATA_HEADER - SCTP_CHUNK_HEADER + chunk->size);
    if (!out)
        return false;
    store32(out, chunk->tsn);
    store16(out + 4, chunk->stream);
    store16(out + 6, 0); /* the number of an ordered message: 0, as it is the first of its stream */
    store32(out + 8, chunk->ppid);
    memcpy(out + 12, chunk->data, chunk->size);
    return true;
}

static void put_reliable(struct sctp *sctp, struct sctp_writer *packet)
{
    for (size_t i = 0; i < SCTP_RELIABLE_MAX; i++) {
        struct reliable_message *message = &sctp->reliable[i];
        const struct data_chunk chunk = {.flags = DATA_BEGIN | DATA_END,
                                         .tsn = message->tsn,
                                         .stream = message->stream,
                                         .ppid = message->ppid,
                                         .data = message->data,
                                         .size = message->size};
        if (message->used && message->due && put_data(packet, &chunk))
            message->due = false;
    }
}

static void put_staged(struct sctp *sctp, struct sctp_writer *packet, double now)
{
    const size_t rest = sctp->staged_size - sctp->staged_sent;
    const size_t size = rest < SCTP_UNSPLIT_MAX ? rest : SCTP_UNSPLIT_MAX;
    if (SCTP_DATA_HEADER + padded(size) > packet->capacity - packet->size)
        return;
    struct data_chunk chunk = {.flags = DATA_UNORDERED,
                               .tsn = outstanding_send(&sctp->outstanding, size),
                               .stream = sctp->staged_stream,
                               .ppid = sctp->staged_ppid,
                               .data = sctp->staged + sctp->staged_sent,
                               .size = size};
    if (sctp->staged_sent == 0)
        chunk.flags |= DATA_BEGIN;
    if (rest == size)
        chunk.flags |= DATA_END;
    put_data(packet, &chunk);
    if (sctp->timed_at == INFINITY) {
        sctp->timed = chunk.tsn;
        sctp->timed_at = now;
    }
    sctp->staged_sent += size;
    if (rest == size)
        sctp->staged = NULL;
}

static bool waits_for_answer(const struct sctp *sctp)
{
    return sctp->outstanding.next - 1 != sctp->outstanding.acknowledged || sctp->reset_waits;
}

size_t sctp_transmit(struct sctp *sctp, uint8_t *out, size_t capacity, double now)
{
    if (capacity < SCTP_PACKET_MAX)
        return 0;
    struct sctp_writer packet = {out, SCTP_HEADER_SIZE, SCTP_PACKET_MAX};
    if (sctp->init_due || sctp->init_ack_due) {
        /* Each goes alone, an INIT before the other side has a tag. */
        put_init(sctp, &packet, sctp->init_due ? CHUNK_INIT : CHUNK_INIT_ACK);
        *(sctp->init_due ? &sctp->init_due : &sctp->init_ack_due) = false;
        return finish(sctp, &packet);
    }

    if (sctp->control.size > 0) {
        memcpy(out + packet.size, sctp->control.data, sctp->control.size);
        packet.size += sctp->control.size;
        sctp->control.size = 0;
    }
    if (sctp->state == ESTABLISHED) {
        if (sctp->acknowledge_now || sctp->packets_to_acknowledge > 0)
            put_sack(sctp, &packet);
        if (forward_waits(sctp) && now >= sctp->forward_at)
            put_forward(sctp, &packet, now);
        if (sctp->reset_due)
            put_reset(sctp, &packet);
        put_reliable(sctp, &packet);
        if (sctp->staged)
            put_staged(sctp, &packet, now);
        if (sctp->resend_at == INFINITY && waits_for_answer(sctp))
            sctp->resend_at = now + sctp->resend_interval;
    }
    return packet.size > SCTP_HEADER_SIZE ? finish(sctp, &packet) : 0;
}

size_t sctp_heartbeat(const struct sctp *sctp, const uint8_t *data, size_t size, uint8_t *out,
                      size_t capacity)
{
    if (capacity < SCTP_PACKET_MAX || !sctp_is_answered(sctp))
        return 0;
    struct sctp_writer packet = {out, SCTP_HEADER_SIZE, SCTP_PACKET_MAX};
    uint8_t *info = sctp_put_chunk(&packet, CHUNK_HEARTBEAT, 0, SCTP_PARAMETER_HEADER + size);
    if (!info)
        return 0;
    store16(info, PARAMETER_HEARTBEAT_INFO);
    store16(info + 2, (uint16_t)(SCTP_PARAMETER_HEADER + size));
    memcpy(info + SCTP_PARAMETER_HEADER, data, size);
    return finish(sctp, &packet);
}

double sctp_deadline(const struct sctp *sctp)
{
    if (sctp->state != ESTABLISHED)
        return INFINITY;
    const double deadline = fmin(sctp->acknowledge_at, sctp->resend_at);
    return forward_waits(sctp) ? fmin(deadline, sctp->forward_at) : deadline;
}

void sctp_update(struct sctp *sctp, double now)
{
    if (sctp->state != ESTABLISHED)
        return;
    if (now >= sctp->acknowledge_at)
        sctp->acknowledge_now = true;
    if (now < sctp->resend_at)
        return;

    outstanding_abandon(&sctp->outstanding, sctp_keep(sctp));
    sctp->timed_at = INFINITY;
    /* The next FORWARD-TSN tells the point again. */
    sctp->forwarded = sctp->outstanding.acknowledged;
    sctp->forward_at = now;
    for (size_t i = 0; i < SCTP_RELIABLE_MAX; i++)
        sctp->reliable[i].due = true;
    sctp->reset_due = sctp->reset_waits;
    sctp->resend_interval = fmin(sctp->resend_interval * 2, RESEND_INTERVAL_MAX);
    sctp->resend_at = waits_for_answer(sctp) ? now + sctp->resend_interval : INFINITY;
}
