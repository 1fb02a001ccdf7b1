#include "message/connection_answers.h"

#include "base/outline.h"

#include <assert.h>

#define INTERVAL_WEIGHT 0.125 /* weight of the newest interval between updates */
#define SHARE_SCALE     1024  /* parts of a bit, which weights divide well */

/* The acks of more packets than this in a tick go out in two packets when packets are lost: if a
   single one reports them, and is lost, the next one may have no space for all of them. */
#define MANY_ARRIVED 12

#define PROMPT_PACKETS 4 /* packets of a round that messages fill without being bulk data */

/* Large messages of so many fragments altogether are not paced, like the first window of TCP (RFC
   6928): a message that is sent now and then should not be spread over ticks. */
#define BURST_FRAGMENTS 10

/* The contents of our packets */

static void settle_receipts(struct cw_connection *c, struct cw_carried *carried, bool acked)
{
    if (carried->receipts == CW_RECEIPT_NONE)
        return;
    cw_receipts_settle_packet(&c->receipts, carried->receipts, acked);
    carried->receipts = CW_RECEIPT_NONE;
}

/* Tells congestion control the fate of a packet. */
static void settle_bulk(struct cw_connection *c, struct cw_carried *carried, uint16_t packet,
                        bool acked, double now)
{
    const struct cw_sent_packet *sent = cw_sent_packets_find(cw_endpoint_sent(c->endpoint), packet);
    const bool given_up = carried->flight == CW_FLIGHT_SETTLED;
    c->fragments -= carried->flight == CW_FLIGHT_FRAGMENT;
    carried->flight = CW_FLIGHT_SETTLED;
    if (!sent)
        return;
    if (acked && given_up)
        cw_congestion_arrived(&c->congestion, sent->bytes, sent->time, now);
    else if (acked)
        cw_congestion_acked(&c->congestion, packet, sent->bytes, sent->time, now);
    else if (!given_up)
        cw_congestion_lost(&c->congestion, packet, sent->bytes, now);
}

static inline void note_carried(struct cw_connection *c, uint16_t packet, bool speaks, double now)
{
    struct cw_carried *carried = cw_carried_by(c, packet);
    /* this place is still that of the packet that leaves the window */
    settle_receipts(c, carried, false);
    if (carried->flight != CW_FLIGHT_NONE)
        settle_bulk(c, carried, (uint16_t)(packet - c->config.sent_window), false, now);
    carried->packet = packet;
    carried->receipts = cw_receipts_packet(&c->receipts);
    uint32_t end = carried->start = c->words_written;
    carried->flight = c->bulk ? CW_FLIGHT_SENT : CW_FLIGHT_NONE;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        const struct cw_channel *channel = &c->channels[i];
        bool is_fragment = false;
        const uint32_t count = cw_channel_carried(channel, &is_fragment);
        if ((is_fragment || channel->common.has_fragment) &&
            carried->flight != CW_FLIGHT_FRAGMENT) {
            carried->flight = CW_FLIGHT_FRAGMENT;
            c->bulk = true;
            c->fragments++;
            c->fragment_sent = now;
        }
        if (count == 0)
            continue;
        const uint32_t fragment = is_fragment ? CW_CARRIED_FRAGMENT : 0;
        c->words[end++ & c->words_mask] = (uint16_t)(fragment | i << CW_CARRIED_CHANNEL | count);
        for (uint32_t j = 0; j < count; j++)
            c->words[end++ & c->words_mask] = channel->common.selection[j];
    }
    carried->words = (uint16_t)(end - c->words_written);
    c->words_written = end;
    carried->speaks = speaks;
    c->spoken += speaks;
    carried->spoken = c->spoken;
}

void cw_connection_settle(struct cw_connection *c, uint16_t packet, bool acked, double now)
{
    struct cw_carried *carried = cw_carried_by(c, packet);
    if (carried->packet != packet)
        return;
    settle_receipts(c, carried, acked);
    if (carried->flight != CW_FLIGHT_NONE)
        settle_bulk(c, carried, packet, acked, now);
    if (c->words_written - carried->start > c->words_mask + 1)
        return;
    uint32_t position = carried->start;
    const uint32_t end = position + carried->words;
    while (position != end) {
        const uint16_t head = c->words[position++ & c->words_mask];
        const uint32_t count = head & ((1u << CW_CARRIED_CHANNEL) - 1);
        const uint32_t index = (head & ~CW_CARRIED_FRAGMENT) >> CW_CARRIED_CHANNEL;
        const bool is_fragment = head & CW_CARRIED_FRAGMENT;
        struct cw_channel *channel = &c->channels[index];
        const uint16_t *ids = &c->words[position & c->words_mask];
        if ((position & c->words_mask) + count > c->words_mask + 1) {
            uint16_t *wrapped = channel->common.selection; /* no packet is being made now */
            for (uint32_t i = 0; i < count; i++)
                wrapped[i] = c->words[(position + i) & c->words_mask];
            ids = wrapped;
        }
        position += count;
        if (acked)
            cw_channel_acked(channel, ids, count, is_fragment, packet, now);
        else
            cw_channel_lost(channel, ids, count, is_fragment, packet);
    }
}

/* Sending */

/* Begins a packet and returns the number of channels that may have something for it. */
static uint32_t begin_packet(struct cw_connection *c, double now)
{
    uint32_t ready = 0;
    c->timing.now = now;
    cw_connection_set_headers(c);
    c->timing.packet = c->endpoint->sent.window.next;
    for (uint32_t i = 0; i < c->config.channel_count; i++)
        ready += cw_channel_begin(&c->channels[i], &c->timing, c->packets_this_round == 0);
    return ready;
}

/* Returns the channel whose turn it is: the one that would begin earliest in virtual time, in which
   every channel sends at the rate of its weight. A channel that had nothing to send begins now, so
   that it cannot save up; one whose messages did not fit goes on from its place. */
static struct cw_channel *next_channel(struct cw_connection *c, uint64_t *begin)
{
    struct cw_channel *earliest = NULL;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        struct cw_channel *channel = &c->channels[i];
        if (channel->exhausted)
            continue;
        const bool begins_now = !channel->has_leftovers && channel->finish < c->share_clock;
        const uint64_t start = begins_now ? c->share_clock : channel->finish;
        if (!earliest || start < *begin) {
            earliest = channel;
            *begin = start;
        }
    }
    return earliest;
}

/* A packet that is being filled. */
struct filling {
    uint32_t bits_left;
    uint32_t most;    /* bytes that its payload may have */
    uint32_t left;    /* channels that may have something for it */
    uint32_t entries; /* entries that have been picked */
};

/* Picks the contents of the packet, message by message, until all channels are exhausted. */
static void fill_packet(struct cw_connection *c, struct filling *packet)
{
    uint64_t begin = 0;
    while (packet->left > 0) {
        struct cw_channel *channel = next_channel(c, &begin);
        uint32_t bits;
        while ((bits = cw_channel_pick(channel, &c->timing, packet->bits_left, packet->left == 1)) >
               0) {
            if (bits > packet->bits_left) /* a fragment that has the packet to itself */
                packet->most = c->send_size;
            packet->bits_left -= bits < packet->bits_left ? bits : packet->bits_left;
            channel->bits_left -= bits < channel->bits_left ? bits : channel->bits_left;
            if (c->share_clock < begin)
                c->share_clock = begin;
            begin += (uint64_t)bits * SHARE_SCALE / channel->common.config.weight;
            if (packet->left > 1 || channel->common.done)
                break; /* it may be another channel's turn */
        }
        channel->finish = begin;
        if (bits > 0 && !channel->common.done)
            continue;
        channel->exhausted = true;
        packet->left--;
        channel->has_leftovers = channel->common.more_due;
        c->more_due |= channel->common.more_due;
        c->fragment_due |= channel->common.fragment_due;
        packet->entries += cw_channel_has_entry(channel);
    }
}

/* Returns whether the fragments that wait are those of a few large messages, or were lost. */
static bool is_burst(const struct cw_connection *c)
{
    uint32_t unsent = 0;
    bool any = false;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        unsent += c->channels[i].common.unsent_fragments;
        any |= cw_channel_has_fragments(&c->channels[i]);
    }
    return any && unsent <= BURST_FRAGMENTS && c->packets_this_round < BURST_FRAGMENTS;
}

/* Returns the limit that forbids one more packet of bulk data now. Messages count as in flight
   while blocks wait, and may take the window and the pace alone: fragments get half of both in any
   case, so that blocks never wait for the messages to end. */
static enum cw_congestion_limit bulk_limit(const struct cw_connection *c)
{
    const enum cw_congestion_limit limit = cw_congestion_limit(&c->congestion, true);
    if (CW_LIKELY(limit == CW_CONGESTION_LIMIT_NONE))
        return limit;
    const bool starves =
        cw_congestion_starves(&c->congestion, limit, c->fragments, c->fragment_sent);
    const bool bursts = limit == CW_CONGESTION_LIMIT_PACING && is_burst(c);
    return starves || bursts ? CW_CONGESTION_LIMIT_NONE : limit;
}

/* Returns whether a message or fragment is repeated in vain, maybe because its packets are refused
   for their other contents. */
static bool stalls(struct cw_connection *c)
{
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        if (cw_channel_stalls(&c->channels[i], &c->timing))
            return true;
    }
    return false;
}

/* Lets the channels that hold a fragment back add it to the packet. Returns false when there is
   none, or when it may not go yet. */
static bool turn_to_fragments(struct cw_connection *c, struct filling *packet)
{
    if (CW_LIKELY(!c->fragment_due || !c->timing.no_fragments))
        return false;
    c->bulk = true;
    const enum cw_congestion_limit limit = bulk_limit(c);
    if (limit != CW_CONGESTION_LIMIT_NONE) {
        cw_congestion_held(&c->congestion, limit);
        return false;
    }
    c->timing.no_fragments = c->fragment_due = false;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        if (!c->channels[i].common.fragment_due)
            continue;
        c->channels[i].exhausted = c->channels[i].common.fragment_due = false;
        packet->left++;
    }
    return true;
}

/* Composes a packet. Messages come before fragments in the first one of a round, so that they find
   the queues as short as possible. */
static void compose(struct cw_connection *c, struct filling *packet)
{
    const bool first = c->packets_this_round == 0 && c->config.max_packets_per_update > 1 &&
                       c->congestion.mode == CW_CONGESTION_DELAY;
    c->timing.no_fragments = first || bulk_limit(c) != CW_CONGESTION_LIMIT_NONE;
    c->timing.only_oldest = c->timing.loss > 0 && stalls(c);
    c->more_due = c->fragment_due = false;
    c->bulk = c->packets_this_round >= PROMPT_PACKETS;
    do
        fill_packet(c, packet);
    while (turn_to_fragments(c, packet));
}

/* Returns the bytes written to payload, which has room for most. */
static inline size_t write_payload(struct cw_connection *c, uint32_t entries, uint8_t *payload,
                                   uint32_t most)
{
    struct cw_stream stream = cw_stream_writer(payload, most);
    bool done = cw_stream_bits(&stream, &entries, c->entries_bits);
    for (uint32_t i = 0; i < c->config.channel_count && done; i++) {
        struct cw_channel *channel = &c->channels[i];
        if (!cw_channel_has_entry(channel))
            continue;
        done = cw_channel_write(channel, &stream, i);
    }
    assert(done);
    return cw_stream_flush(&stream);
}

static inline void end_round(struct cw_connection *c)
{
    c->round_open = false;
    for (uint32_t i = 0; i < c->config.channel_count; i++)
        cw_channel_end_round(&c->channels[i]);
}

/* Returns whether the next packet of the round may be sent now. A packet that leaves the window
   before its ack can come teaches nothing, and its contents would be sent again forever. So when
   three quarters of the window are under way, the rest is for acks, and for one packet now and
   then, few enough in a round trip to be acked in time. */
static bool window_has_room(const struct cw_connection *c, bool first, bool due, double now)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    const uint32_t window = c->config.sent_window;
    if (sent->unseen < window - window / 4)
        return true;
    if (first)
        return cw_sent_packets_spread(sent, window / 16, now);
    return !due && sent->unseen < window;
}

/* Returns whether messages or fragments may go into the next packet. The first packets of a round
   never wait for congestion control: messages are small, and must not be late because a block is on
   its way. */
static bool is_due(struct cw_connection *c, bool first)
{
    if (first || !c->more_due)
        return first;
    if (c->packets_this_round >= c->config.max_packets_per_update) {
        cw_congestion_capped(&c->congestion);
        return false;
    }
    if (c->packets_this_round < PROMPT_PACKETS)
        return true;
    const enum cw_congestion_limit limit = bulk_limit(c);
    if (limit != CW_CONGESTION_LIMIT_NONE)
        cw_congestion_held(&c->congestion, limit);
    return limit == CW_CONGESTION_LIMIT_NONE;
}

/* Returns whether there are acks to send, which may go twice. */
static bool acks_wait_now(struct cw_connection *c, bool first)
{
    const struct cw_received_packets *received = cw_endpoint_received(c->endpoint);
    if (first)
        c->acks_twice = received->untold > MANY_ARRIVED && c->timing.loss > CW_LOSS_FOR_COPIES;
    return received->untold > 0 || (c->acks_twice && c->packets_this_round == 1);
}

static bool counts_all(const struct cw_connection *c)
{
    return c->congestion.mode == CW_CONGESTION_BINARY;
}

static bool is_within_rate(struct cw_connection *c, bool first)
{
    if (!counts_all(c) || cw_congestion_limit(&c->congestion, false) == CW_CONGESTION_LIMIT_NONE)
        return true;
    if (first ? !cw_connection_is_idle(c) : c->more_due)
        cw_congestion_held(&c->congestion, CW_CONGESTION_LIMIT_RATE);
    return false;
}

/* Returns whether the first packet of a round is sent even without messages. Only packets with
   messages are answered, so two idle ends do not answer each other. An answer may wait for the next
   round when it is not late then. */
CW_OUTLINE static bool must_send(const struct cw_connection *c)
{
    const double now = c->timing.round, silence = now - c->sent, next = silence + c->interval;
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    const bool waits = next <= CW_ANSWER_DELAY && next <= sent->rtt.smoothed;
    if (silence >= c->config.idle_interval_seconds ||
        c->owes > (waits ? CW_OWES_SOON : CW_OWES_NOTHING) ||
        cw_received_packets_urgent(cw_endpoint_received(c->endpoint)))
        return true;
    if (c->answers > 0 && now - c->spoken_to < sent->loss_timeout)
        return true;
    return !cw_connection_is_idle(c) && cw_connection_goes_on(c, silence);
}

static void note_sent(struct cw_connection *c, size_t size)
{
    if (size > 0 && (c->bulk || counts_all(c)))
        cw_congestion_sent(&c->congestion, c->bulk, c->timing.packet, (uint32_t)size);
}

size_t cw_connection_transmit(struct cw_connection *c, uint8_t *out, size_t capacity, double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || !out || !c->round_open)
        return 0;
    assert(capacity >= c->endpoint->max_datagram_size);
    if (capacity < c->endpoint->max_datagram_size)
        return 0;
    if (c->send_size > c->packet_size) {
        const size_t size = cw_endpoint_transmit(c->endpoint, out, capacity, now);
        note_sent(c, size);
        if (size > 0)
            return size; /* this is the next fragment of the previous packet */
    }
    const bool first = c->packets_this_round == 0;
    const bool acks_wait = acks_wait_now(c, first);
    const bool due = is_due(c, first);
    struct filling packet = {.bits_left = c->packet_size * 8 - c->entries_bits,
                             .most = c->packet_size};
    const bool go =
        (due || acks_wait) && is_within_rate(c, first) && window_has_room(c, first, due, now);
    if (go)
        packet.left = begin_packet(c, now);
    if (go && due)
        compose(c, &packet);
    if (!go || (packet.entries == 0 && !(first ? must_send(c) : acks_wait))) {
        end_round(c);
        return 0;
    }
    c->bulk &= packet.entries > 0;
    /* The packet fits, nothing of an earlier one waits, and its fate can be told, because all
       others were taken. */
    assert(!cw_endpoint_fragments_wait(c->endpoint));
    if (!cw_sent_packets_have_room(cw_endpoint_sent(c->endpoint)))
        return 0;
    uint8_t *const payload = cw_endpoint_begin_inline(c->endpoint, packet.most, out);
    size_t size = write_payload(c, packet.entries, payload, packet.most);
    note_carried(c, c->timing.packet, packet.entries > 0, now);
    c->packets_this_round++;
    cw_connection_note_answer(c, packet.entries, now);
    size = cw_endpoint_commit_inline(c->endpoint, size, now);
    note_sent(c, size);
    if (packet.entries > 0 && cw_connection_unanswered(c) == 1)
        cw_connection_ask(c, c->timing.packet, now);
    return size;
}

/* Returns the RTT by which the mode BINARY judges the path. Where the other end sends more rarely
   than this one, our packets may wait there for a whole silence, which is no fault of the path. */
static double judged_rtt(const struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    const double rtt = sent->rtt.smoothed, waits = sent->silence.usual - c->interval;
    return counts_all(c) && waits > 0 && rtt > waits ? rtt - waits : rtt;
}

void cw_connection_update(struct cw_connection *c, double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now))
        return;
    cw_endpoint_advance(c->endpoint, now);
    cw_connection_take_fates(c, now);
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    if (!(c->updated > CW_NEVER)) {
        (void)cw_congestion_init(&c->congestion, &c->congestion.config, now);
        c->spoken_to = now; /* this counts as a beginning, so that both ends get to know the path */
        c->answers = CW_ANSWERS_MOST;
    } else if (now > c->updated) {
        const double interval = now - c->updated;
        c->interval += c->interval == 0 ? interval : (interval - c->interval) * INTERVAL_WEIGHT;
    }
    c->updated = now;
    cw_connection_set_timing(c);
    const double silence = sent->silence.usual;
    cw_congestion_update(&c->congestion, judged_rtt(c),
                         c->interval > silence ? c->interval : silence, now);
    /* A caller that ends rounds early gives up the acks for which the next header has no room. */
    if (c->round_open && c->packets_this_round > 0)
        cw_endpoint_pass_by(c->endpoint);
    if (c->requests)
        cw_connection_update_requests(c, now);
    c->timing.round = now;
    c->packets_this_round = 0;
    c->round_open = true;
}
