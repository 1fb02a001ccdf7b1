#include "causeway/endpoint.h"

#include "causeway/sequence_buffer.h"

#include "measure.h"
#include "memory.h"
#include "packet_header.h"
#include "reassembly.h"

#include <assert.h>
#include <string.h>

#define ACKS_PER_HEADER      32
#define ACKS_THAT_TELL_LOSS  3
#define REASSEMBLY_WINDOW    64
#define RATE_REFRESH_SECONDS 0.25
#define MAX_DATAGRAM_PAYLOAD 65507
#define LOSS_SAMPLES_AT_ONCE 1024 /* by then the share is 1; a header cannot cost more than this   \
                                   */

enum fate { PENDING, LOST, ACKED };

struct sent_packet {
    double time;
    uint32_t bytes; /* of all its datagrams */
    enum fate fate;
};

struct cw_endpoint {
    struct cw_endpoint_config config;

    struct cw_sequence_buffer sent;     /* of struct sent_packet */
    struct cw_sequence_buffer received; /* presence only */

    uint32_t history; /* the ack_bits to send: bit k, packet received.next - 1 - k has arrived */
    uint32_t counted; /* bit k: that packet was sent at all, as far as we can tell */

    uint16_t oldest_pending; /* no older packet of ours is still pending */
    uint16_t header_ack;     /* what the newest header of theirs acked, */
    uint32_t header_ack_bits;
    bool header_known; /* as long as header_ack is in the sent window */

    /* The packet that is being transmitted. */
    uint8_t *outgoing;
    size_t outgoing_size;
    uint32_t outgoing_fragments; /* 0: not in fragments */
    uint32_t outgoing_next;      /* fragment to transmit next */
    bool outgoing_pending;

    /* The packet that waits to be taken. */
    struct cw_endpoint_event packet;
    bool packet_waits;
    struct cw_reassembly *packet_owner; /* NULL: payload is in the caller's datagram */
    struct cw_reassemblies reassemblies;

    /* Acked and lost packets that wait to be taken: the sequence, and IS_LOST or not. As many as
       the packets of the window can cause always find room. */
    uint32_t *events;
    uint32_t events_mask;
    uint32_t events_read;
    uint32_t events_written;
    uint32_t events_promised; /* at most this many more for packets sent already */

    struct cw_rtt rtt;
    double loss_timeout;
    struct cw_rate rate_sent, rate_received, rate_acked;
    double rates_refreshed;
    bool rates_started;
    uint64_t bytes_acked;
    struct cw_endpoint_stats stats; /* the counters; the rest is filled in when asked for */
};

#define EVENT_IS_LOST     0x10000u
#define EVENTS_PER_PACKET 2
#define EVENTS_PER_WINDOW 4 /* per packet of the window: room to send on while some wait */

struct cw_endpoint_config cw_endpoint_config_default(void)
{
    return (struct cw_endpoint_config){
        .max_packet_size = 4096,
        .fragment_size = 1024,
        .fragment_above = 1024,
        .sent_window = 256,
        .received_window = 256,
        .max_reassemblies = 4,
        .rtt_smoothing = 0.1,
        .min_loss_timeout = 0.1,
    };
}

static uint32_t max_fragments(const struct cw_endpoint_config *config)
{
    return config->max_packet_size / config->fragment_size +
           (config->max_packet_size % config->fragment_size != 0);
}

static bool window_is_valid(uint32_t window)
{
    return window >= ACKS_PER_HEADER && window <= 32768 && (window & (window - 1)) == 0;
}

static enum cw_error check_config(const struct cw_endpoint_config *config)
{
    const uint32_t largest =
        MAX_DATAGRAM_PAYLOAD - CW_FRAGMENT_HEADER_SIZE - CW_PACKET_HEADER_MAX_SIZE;
    if (config->fragment_size < 1 || config->fragment_size > largest ||
        config->fragment_above < 1 || config->fragment_above > largest)
        return CW_ERROR_CONFIG_FRAGMENT_SIZE;
    if (config->max_packet_size < 1)
        return CW_ERROR_CONFIG_PACKET_SIZE;
    if (config->max_packet_size > config->fragment_above &&
        max_fragments(config) > CW_REASSEMBLY_MAX_FRAGMENTS)
        return CW_ERROR_CONFIG_MAX_FRAGMENTS;
    if (!window_is_valid(config->sent_window) || !window_is_valid(config->received_window))
        return CW_ERROR_CONFIG_WINDOW;
    if (config->max_reassemblies < 1 || config->max_reassemblies > CW_REASSEMBLY_MAX_SLOTS)
        return CW_ERROR_CONFIG_REASSEMBLIES;
    if (!(config->rtt_smoothing > 0 && config->rtt_smoothing <= 1) ||
        !(config->min_loss_timeout >= 0 && config->min_loss_timeout <= 60))
        return CW_ERROR_CONFIG_TIME;
    return CW_OK;
}

/* Takes every part from the arena. With a NULL base it only measures. */
static enum cw_error lay_out(struct cw_arena *arena, const struct cw_endpoint_config *config,
                             struct cw_endpoint **endpoint)
{
    const bool fragments = config->max_packet_size > config->fragment_above;
    const uint32_t slots = fragments ? config->max_reassemblies : 0;
    struct cw_endpoint *e = cw_arena_take(arena, sizeof *e);
    uint32_t *events =
        cw_arena_take(arena, sizeof *events * EVENTS_PER_WINDOW * config->sent_window);
    uint8_t *outgoing = cw_arena_take(arena, config->max_packet_size);
    struct cw_reassembly *reassemblies = cw_arena_take(arena, sizeof *reassemblies * slots);
    uint8_t *payloads = cw_arena_take(arena, (size_t)config->max_packet_size * slots);
    if (!arena->base) {
        cw_arena_take(arena,
                      cw_sequence_buffer_memory(config->sent_window, sizeof(struct sent_packet)));
        cw_arena_take(arena, cw_sequence_buffer_memory(config->received_window, 0));
        return CW_OK;
    }

    memset(e, 0, sizeof *e);
    e->config = *config;
    e->events = events;
    e->events_mask = EVENTS_PER_WINDOW * config->sent_window - 1;
    e->outgoing = outgoing;
    e->reassemblies.slots = reassemblies;
    e->reassemblies.capacity = slots;
    e->reassemblies.fragment_size = config->fragment_size;
    e->reassemblies.max_fragments = fragments ? max_fragments(config) : 0;
    e->reassemblies.max_packet_size = config->max_packet_size;
    for (uint32_t i = 0; i < slots; i++)
        reassemblies[i].payload = payloads + (size_t)i * config->max_packet_size;

    const struct cw_allocator rest = cw_arena_allocator(arena);
    enum cw_error error =
        cw_sequence_buffer_create(&e->sent, config->sent_window, sizeof(struct sent_packet), &rest);
    if (error == CW_OK)
        error = cw_sequence_buffer_create(&e->received, config->received_window, 0, &rest);
    *endpoint = e;
    return error;
}

size_t cw_endpoint_memory(const struct cw_endpoint_config *config)
{
    struct cw_arena arena = {0};
    if (check_config(config) != CW_OK)
        return 0;
    (void)lay_out(&arena, config, NULL);
    return arena.used;
}

enum cw_error cw_endpoint_create(struct cw_endpoint **endpoint,
                                 const struct cw_endpoint_config *config)
{
    enum cw_error error = check_config(config);
    if (error != CW_OK)
        return error;
    struct cw_arena arena = {.size = cw_endpoint_memory(config)};
    arena.base = cw_allocate(&config->allocator, arena.size);
    if (!arena.base)
        return CW_ERROR_NO_MEMORY;
    struct cw_endpoint *e = NULL;
    error = lay_out(&arena, config, &e);
    if (error != CW_OK) {
        cw_release(&config->allocator, arena.base, arena.size);
        return error;
    }
    cw_endpoint_reset(e);
    *endpoint = e;
    return CW_OK;
}

void cw_endpoint_destroy(struct cw_endpoint *endpoint)
{
    if (!endpoint)
        return;
    const struct cw_allocator allocator = endpoint->config.allocator;
    cw_release(&allocator, endpoint, cw_endpoint_memory(&endpoint->config));
}

void cw_endpoint_reset(struct cw_endpoint *e)
{
    cw_sequence_buffer_reset(&e->sent);
    cw_sequence_buffer_reset(&e->received);
    cw_reassemblies_reset(&e->reassemblies);
    e->history = 0;
    e->counted = 0;
    e->oldest_pending = 0;
    e->header_known = false;
    e->outgoing_pending = false;
    e->packet_waits = false;
    e->packet_owner = NULL;
    e->events_read = e->events_written = e->events_promised = 0;
    e->rtt = (struct cw_rtt){0};
    e->loss_timeout = cw_rtt_timeout(&e->rtt, e->config.min_loss_timeout);
    e->rate_sent = e->rate_received = e->rate_acked = (struct cw_rate){0};
    e->rates_started = false;
    e->bytes_acked = 0;
    e->stats = (struct cw_endpoint_stats){0};
}

size_t cw_endpoint_max_datagram_size(const struct cw_endpoint *e)
{
    const struct cw_endpoint_config *config = &e->config;
    const bool fragments = config->max_packet_size > config->fragment_above;
    const size_t whole =
        CW_PACKET_HEADER_MAX_SIZE + (fragments ? config->fragment_above : config->max_packet_size);
    const size_t fragment = fragments ? CW_FRAGMENT_HEADER_SIZE + CW_PACKET_HEADER_MAX_SIZE +
                                            (size_t)config->fragment_size
                                      : 0;
    return whole > fragment ? whole : fragment;
}

uint16_t cw_endpoint_next_sequence(const struct cw_endpoint *e)
{
    return e->sent.next;
}

/* What becomes of packets sent */

static struct sent_packet *sent_packet(const struct cw_endpoint *e, uint16_t sequence)
{
    return cw_sequence_buffer_find(&e->sent, sequence);
}

static void push_event(struct cw_endpoint *e, uint32_t event)
{
    e->events[e->events_written++ & e->events_mask] = event;
    e->events_promised--;
}

static void skip_settled(struct cw_endpoint *e)
{
    while (e->oldest_pending != e->sent.next) {
        const struct sent_packet *packet = sent_packet(e, e->oldest_pending);
        if (packet && packet->fate == PENDING)
            return;
        e->oldest_pending++;
    }
}

static void declare_lost(struct cw_endpoint *e, uint16_t sequence, struct sent_packet *packet)
{
    packet->fate = LOST;
    push_event(e, EVENT_IS_LOST | sequence);
    e->stats.packets_lost++;
    e->stats.loss_sent = cw_loss_sample(e->stats.loss_sent, true);
}

static void take_ack(struct cw_endpoint *e, uint16_t sequence, bool is_newest, double now)
{
    struct sent_packet *packet = sent_packet(e, sequence);
    if (!packet || packet->fate == ACKED)
        return;
    if (packet->fate == LOST) {
        e->stats.packets_lost--;
        e->stats.loss_sent -= CW_LOSS_WEIGHT;
        if (e->stats.loss_sent < 0)
            e->stats.loss_sent = 0;
    } else {
        e->events_promised--; /* it will not be reported lost any more */
        e->stats.loss_sent = cw_loss_sample(e->stats.loss_sent, false);
    }
    packet->fate = ACKED;
    push_event(e, sequence);
    e->stats.packets_acked++;
    e->bytes_acked += packet->bytes;
    if (is_newest) {
        cw_rtt_sample(&e->rtt, now - packet->time, e->config.rtt_smoothing);
        e->loss_timeout = cw_rtt_timeout(&e->rtt, e->config.min_loss_timeout);
    }
}

/* Looks down from the newest packet that they have seen at those that are still pending. */
static void find_lost(struct cw_endpoint *e)
{
    uint32_t acked_later = 0;
    for (uint16_t sequence = e->header_ack; !cw_sequence_newer(e->oldest_pending, sequence);
         sequence--) {
        struct sent_packet *packet = sent_packet(e, sequence);
        if (!packet)
            continue;
        if (packet->fate == ACKED)
            acked_later++;
        else if (packet->fate == PENDING && acked_later >= ACKS_THAT_TELL_LOSS)
            declare_lost(e, sequence, packet);
    }
}

/* A header repeats most of the acks of the one before: those are left out, so that the work is in
   what is new. */
static void take_acks(struct cw_endpoint *e, uint16_t ack, uint32_t ack_bits, double now)
{
    if (!cw_sequence_buffer_exists(&e->sent, ack))
        return;
    uint32_t known = 0;
    bool is_newer = true;
    if (e->header_known) {
        const int ahead = cw_sequence_difference(ack, e->header_ack);
        if (ahead >= 0 && ahead < ACKS_PER_HEADER)
            known = e->header_ack_bits << ahead;
        else if (ahead < 0 && ahead > -ACKS_PER_HEADER)
            known = e->header_ack_bits >> -ahead;
        is_newer = ahead >= 0;
    }
    uint32_t news = ack_bits & ~known;
    if (is_newer) {
        e->header_ack = ack;
        e->header_ack_bits = ack_bits | known;
        e->header_known = true;
    }
    if (!news)
        return;
    while (news) {
        const unsigned behind = (unsigned)__builtin_ctz(news);
        news &= news - 1;
        take_ack(e, (uint16_t)(ack - behind), behind == 0, now);
    }
    skip_settled(e);
    if (cw_sequence_newer(e->header_ack, e->oldest_pending)) {
        find_lost(e);
        skip_settled(e);
    }
}

void cw_endpoint_update(struct cw_endpoint *e, double now)
{
    while (e->oldest_pending != e->sent.next) {
        struct sent_packet *packet = sent_packet(e, e->oldest_pending);
        assert(packet && packet->fate == PENDING);
        if (now - packet->time < e->loss_timeout)
            break;
        declare_lost(e, e->oldest_pending, packet);
        skip_settled(e);
    }
    if (!e->rates_started) {
        e->rates_started = true;
        e->rates_refreshed = now;
    }
    const double elapsed = now - e->rates_refreshed;
    if (elapsed >= RATE_REFRESH_SECONDS) {
        cw_rate_refresh(&e->rate_sent, e->stats.bytes_sent, elapsed);
        cw_rate_refresh(&e->rate_received, e->stats.bytes_received, elapsed);
        cw_rate_refresh(&e->rate_acked, e->bytes_acked, elapsed);
        e->rates_refreshed = now;
    }
}

/* Sending */

enum cw_error cw_endpoint_send(struct cw_endpoint *e, const uint8_t *payload, size_t size,
                               double now, uint16_t *sequence)
{
    if (size > e->config.max_packet_size)
        return CW_ERROR_PACKET_TOO_LARGE;
    if (e->outgoing_pending)
        return CW_ERROR_TRANSMIT_PENDING;

    /* The packet that leaves the window now can no longer be acked. */
    const uint16_t number = e->sent.next;
    const uint16_t leaving = (uint16_t)(number - e->config.sent_window);
    struct sent_packet *oldest = sent_packet(e, leaving);
    const uint32_t waiting = e->events_written - e->events_read;
    const uint32_t withdrawn = oldest && oldest->fate != ACKED; /* a late ack of it */
    if (waiting + e->events_promised - withdrawn + EVENTS_PER_PACKET > e->events_mask + 1)
        return CW_ERROR_EVENTS_PENDING;
    if (oldest && oldest->fate == PENDING) {
        declare_lost(e, leaving, oldest);
        skip_settled(e);
    }
    e->events_promised -= withdrawn;
    if (e->header_ack == leaving)
        e->header_known = false;

    struct sent_packet *packet = cw_sequence_buffer_insert(&e->sent, number);
    packet->time = now;
    packet->bytes = 0;
    packet->fate = PENDING;
    e->events_promised += EVENTS_PER_PACKET;

    if (size > 0)
        memcpy(e->outgoing, payload, size);
    e->outgoing_size = size;
    e->outgoing_fragments =
        size > e->config.fragment_above
            ? (uint32_t)((size + e->config.fragment_size - 1) / e->config.fragment_size)
            : 0;
    e->outgoing_next = 0;
    e->outgoing_pending = true;
    e->stats.packets_sent++;
    if (sequence)
        *sequence = number;
    return CW_OK;
}

static size_t write_fragment(struct cw_endpoint *e, uint8_t *out,
                             const struct cw_packet_header *header)
{
    const struct cw_fragment_header fragment = {
        .sequence = header->sequence, .id = e->outgoing_next, .count = e->outgoing_fragments};
    const size_t offset = (size_t)fragment.id * e->config.fragment_size;
    const size_t left = e->outgoing_size - offset;
    const size_t length = left < e->config.fragment_size ? left : e->config.fragment_size;
    cw_fragment_header_write(out, &fragment);
    size_t written = CW_FRAGMENT_HEADER_SIZE;
    if (fragment.id == 0)
        written += cw_packet_header_write(out + written, header);
    memcpy(out + written, e->outgoing + offset, length);
    e->outgoing_next++;
    e->outgoing_pending = e->outgoing_next < e->outgoing_fragments;
    e->stats.fragments_sent++;
    return written + length;
}

size_t cw_endpoint_transmit(struct cw_endpoint *e, uint8_t *out, size_t capacity, double now)
{
    if (!e->outgoing_pending)
        return 0;
    assert(capacity >= cw_endpoint_max_datagram_size(e));
    if (capacity < cw_endpoint_max_datagram_size(e))
        return 0;
    const struct cw_packet_header header = {
        .sequence = (uint16_t)(e->sent.next - 1),
        .ack = (uint16_t)(e->received.next - 1),
        .ack_bits = (uint32_t)e->history,
    };
    size_t written;
    if (e->outgoing_fragments) {
        written = write_fragment(e, out, &header);
    } else {
        written = cw_packet_header_write(out, &header);
        memcpy(out + written, e->outgoing, e->outgoing_size);
        written += e->outgoing_size;
        e->outgoing_pending = false;
    }
    struct sent_packet *packet = sent_packet(e, header.sequence);
    if (packet->bytes == 0)
        packet->time = now;
    packet->bytes += (uint32_t)written;
    e->stats.datagrams_sent++;
    e->stats.bytes_sent += written;
    return written;
}

/* Receiving */

/* Makes room in the history for a packet newer than any before. Numbers that drop out of it without
   having arrived are missed. */
static void advance_history(struct cw_endpoint *e, uint32_t ahead)
{
    const uint32_t absent = e->counted & ~e->history;
    uint32_t judged, missed;
    if (ahead < ACKS_PER_HEADER) {
        const uint32_t dropped = UINT32_MAX << (ACKS_PER_HEADER - ahead);
        judged = (uint32_t)__builtin_popcount(e->counted & dropped);
        missed = (uint32_t)__builtin_popcount(absent & dropped);
        e->history <<= ahead;
        e->counted = e->counted << ahead | ((1u << ahead) - 1);
    } else {
        missed = (uint32_t)__builtin_popcount(absent) + ahead - ACKS_PER_HEADER;
        judged = (uint32_t)__builtin_popcount(e->counted) + ahead - ACKS_PER_HEADER;
        e->history = 0;
        e->counted = UINT32_MAX;
    }
    e->stats.packets_missed += missed;
    for (uint32_t i = missed; i < judged; i++)
        e->stats.loss_received = cw_loss_sample(e->stats.loss_received, false);
    for (uint32_t i = 0; i < missed && i < LOSS_SAMPLES_AT_ONCE; i++)
        e->stats.loss_received = cw_loss_sample(e->stats.loss_received, true);
}

/* Packets in fragments have a window of their own, as in the reference: it is smaller, because each
   of them holds memory while it is incomplete. */
static uint16_t oldest_reassembled(const struct cw_endpoint *e)
{
    const uint32_t window = e->config.received_window;
    return (uint16_t)(e->received.next -
                      (window < REASSEMBLY_WINDOW ? window : REASSEMBLY_WINDOW));
}

/* Moves the newest number received on to sequence, which need not have arrived whole. */
static void advance_received(struct cw_endpoint *e, uint16_t sequence)
{
    const uint16_t next = (uint16_t)(sequence + 1);
    if (!cw_sequence_newer(next, e->received.next))
        return;
    advance_history(e, (uint16_t)(next - e->received.next));
    cw_sequence_buffer_advance(&e->received, sequence);
    if (e->reassemblies.active)
        cw_reassemblies_expire(&e->reassemblies, oldest_reassembled(e));
}

static void deliver(struct cw_endpoint *e, const struct cw_packet_header *header,
                    const uint8_t *payload, size_t size, double now)
{
    advance_received(e, header->sequence);
    cw_sequence_buffer_insert(&e->received, header->sequence);
    const uint16_t behind = (uint16_t)(e->received.next - 1 - header->sequence);
    if (behind < ACKS_PER_HEADER)
        e->history |= 1u << behind;
    take_acks(e, header->ack, header->ack_bits, now);
    e->packet = (struct cw_endpoint_event){
        .type = CW_ENDPOINT_PACKET, .sequence = header->sequence, .payload = payload, .size = size};
    e->packet_waits = true;
    e->stats.packets_received++;
}

static enum cw_error receive_fragment(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                      double now)
{
    struct cw_fragment_header fragment;
    if (!cw_fragment_header_read(&fragment, data, size))
        return CW_ERROR_MALFORMED;
    if (cw_sequence_newer(oldest_reassembled(e), fragment.sequence))
        return CW_ERROR_STALE;
    if (cw_sequence_buffer_exists(&e->received, fragment.sequence))
        return CW_ERROR_DUPLICATE;
    struct cw_reassembly *complete;
    const enum cw_error error =
        cw_reassemblies_receive(&e->reassemblies, &fragment, data, size, &complete);
    if (error != CW_OK)
        return error;
    if (complete) {
        e->packet_owner = complete;
        deliver(e, &complete->header, complete->payload, complete->size, now);
    } else {
        advance_received(e, fragment.sequence);
    }
    return CW_OK;
}

static enum cw_error receive_packet(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                    double now)
{
    struct cw_packet_header header;
    const size_t header_size = cw_packet_header_read(&header, data, size);
    if (header_size == 0 || size - header_size > e->config.max_packet_size)
        return CW_ERROR_MALFORMED;
    if (cw_sequence_buffer_stale(&e->received, header.sequence))
        return CW_ERROR_STALE;
    if (cw_sequence_buffer_exists(&e->received, header.sequence))
        return CW_ERROR_DUPLICATE;
    deliver(e, &header, data + header_size, size - header_size, now);
    return CW_OK;
}

enum cw_error cw_endpoint_receive(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                  double now)
{
    if (e->packet_waits)
        return CW_ERROR_EVENTS_PENDING;
    if (e->packet_owner) {
        cw_reassemblies_release(&e->reassemblies, e->packet_owner);
        e->packet_owner = NULL;
    }
    e->stats.datagrams_received++;
    e->stats.bytes_received += size;
    const bool is_fragment = size > 0 && data[0] & CW_PACKET_PREFIX_FRAGMENT;
    const enum cw_error error =
        is_fragment ? receive_fragment(e, data, size, now) : receive_packet(e, data, size, now);
    e->stats.packets_malformed += error == CW_ERROR_MALFORMED;
    e->stats.packets_stale += error == CW_ERROR_STALE;
    e->stats.packets_duplicate += error == CW_ERROR_DUPLICATE;
    return error;
}

bool cw_endpoint_next(struct cw_endpoint *e, struct cw_endpoint_event *event)
{
    if (e->packet_waits) {
        e->packet_waits = false;
        *event = e->packet;
        return true;
    }
    if (e->events_read == e->events_written)
        return false;
    const uint32_t taken = e->events[e->events_read++ & e->events_mask];
    *event = (struct cw_endpoint_event){
        .type = taken & EVENT_IS_LOST ? CW_ENDPOINT_LOST : CW_ENDPOINT_ACKED,
        .sequence = (uint16_t)taken,
    };
    return true;
}

void cw_endpoint_refuse(struct cw_endpoint *e, uint16_t sequence)
{
    if (e->packet_waits || e->packet.sequence != sequence ||
        !cw_sequence_buffer_exists(&e->received, sequence))
        return;
    cw_sequence_buffer_remove(&e->received, sequence);
    const uint16_t behind = (uint16_t)(e->received.next - 1 - sequence);
    if (behind < ACKS_PER_HEADER)
        e->history &= ~(1u << behind);
    e->stats.packets_received--;
}

void cw_endpoint_stats(const struct cw_endpoint *e, struct cw_endpoint_stats *stats)
{
    *stats = e->stats;
    stats->packets_abandoned = e->reassemblies.abandoned;
    stats->fragments_received = e->reassemblies.fragments;
    stats->rtt = e->rtt.smoothed;
    stats->rtt_min = e->rtt.min;
    stats->rtt_deviation = e->rtt.deviation;
    stats->jitter = e->rtt.jitter;
    stats->bandwidth_sent = e->rate_sent.bits_per_second;
    stats->bandwidth_received = e->rate_received.bits_per_second;
    stats->bandwidth_acked = e->rate_acked.bits_per_second;
}
