#include "message/connection_answers.h"

/* The entries of a packet, as they were read. */
struct parsed {
    bool only_next;
    uint64_t seen; /* channels that have an entry */
    uint64_t with_fragment;
    uint32_t count;
    struct cw_channel *channels[CW_MAX_CHANNELS];
    struct cw_parsed_entry entries[CW_MAX_CHANNELS];
};

static bool read_entry(struct cw_connection *c, uint16_t packet, struct cw_stream *stream,
                       struct parsed *parsed)
{
    const uint16_t newest = cw_received_packets_newest(cw_endpoint_received(c->endpoint));
    const uint32_t index_bits = c->channels[0].common.index_bits;
    uint32_t head = 0;
    if (!cw_stream_bits(stream, &head, index_bits + 1))
        return false;
    const uint32_t index = head & ((1u << index_bits) - 1);
    const bool is_fragment = head >> index_bits;
    if (index >= c->config.channel_count)
        return false;
    /* A fragment is the only entry of its channel, so that taking it does not depend on another
       entry. */
    const uint64_t bit = (uint64_t)1 << index;
    if ((is_fragment ? parsed->seen : parsed->with_fragment) & bit)
        return false;
    parsed->seen |= bit;
    parsed->with_fragment |= is_fragment ? bit : 0;
    struct cw_channel *channel = &c->channels[index];
    struct cw_parsed_entry *entry = &parsed->entries[parsed->count];
    *entry = (struct cw_parsed_entry){
        .packet = packet,
        .age = (uint16_t)(newest - packet),
        .only_next = parsed->only_next,
        .pool_limit = channel->common.pool_room,
    };
    parsed->channels[parsed->count++] = channel;
    const bool done = cw_channel_read(channel, stream, is_fragment, entry);
    c->messages_read += entry->messages;
    return done;
}

static enum cw_error read_payload(struct cw_connection *c, const struct cw_endpoint_event *packet,
                                  bool only_next, struct parsed *parsed)
{
    struct cw_stream stream = cw_stream_reader(packet->payload, packet->size);
    uint32_t entries = 0;
    parsed->only_next = only_next;
    parsed->seen = parsed->with_fragment = 0;
    parsed->count = 0;
    if (!cw_stream_bits(&stream, &entries, c->entries_bits) || entries > c->config.channel_count)
        return CW_ERROR_MALFORMED;
    bool full = false;
    while (parsed->count < entries) {
        if (!read_entry(c, packet->sequence, &stream, parsed))
            return CW_ERROR_MALFORMED;
        full |= parsed->entries[parsed->count - 1].full;
    }
    return full ? CW_ERROR_RECEIVER_FULL : CW_OK;
}

/* Returns the channel with the most messages that may be dropped, NULL when none has any. */
static struct cw_channel *most_droppable(struct cw_connection *c)
{
    struct cw_channel *found = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < c->config.channel_count; i++) {
        const uint32_t droppable = cw_channel_droppable(&c->channels[i]);
        if (droppable > most) {
            most = droppable;
            found = &c->channels[i];
        }
    }
    return found;
}

/* Drops old unreliable messages that nobody has taken, to make room for those of a packet. Returns
   false when this changes nothing. */
static bool make_room(struct cw_connection *c, const struct parsed *parsed)
{
    bool dropped = false;
    for (uint32_t i = 0; i < parsed->count; i++) {
        const struct cw_parsed_entry *entry = &parsed->entries[i];
        struct cw_channel *channel = parsed->channels[i];
        uint32_t blocks = entry->missing_blocks, messages = entry->missing;
        while (blocks > 0 && cw_channel_drop_oldest(channel, true))
            blocks--;
        while (messages > 0 && (channel = most_droppable(c)) != NULL) {
            cw_channel_drop_oldest(channel, false);
            messages--;
        }
        dropped |= blocks < entry->missing_blocks || messages < entry->missing;
    }
    return dropped;
}

/* Hands the answers among the messages of a packet over, which wait for no other message. The
   channels pass them on in their turn; by then the questions have ended. */
static void take_answers(struct cw_requests *requests, const struct parsed *parsed)
{
    for (uint32_t i = 0; i < parsed->count; i++)
        for (struct cw_message *it = parsed->entries[i].first; it; it = it->next)
            if (requests->roles[it->type] >= CW_ROLE_ANSWER)
                cw_requests_take_answer(requests, it);
}

static inline void take_parsed(struct cw_connection *c, const struct parsed *parsed, double now)
{
    if (c->requests && c->requests->open > 0)
        take_answers(c->requests, parsed);
    for (uint32_t i = 0; i < parsed->count; i++) {
        struct cw_channel *channel = parsed->channels[i];
        cw_channel_take(channel, &parsed->entries[i], now);
    }
}

static void release_parsed(const struct parsed *parsed)
{
    for (uint32_t i = 0; i < parsed->count; i++) {
        struct cw_message *message = parsed->entries[i].first;
        while (message) {
            struct cw_message *next = message->next;
            cw_message_drop(message);
            message = next;
        }
    }
}

/* Reads a packet again that could not be kept whole, when this may help. Returns CW_OK when every
   reliable message in it can be kept. */
static enum cw_error read_with_room(struct cw_connection *c, const struct cw_endpoint_event *packet,
                                    struct parsed *parsed)
{
    if (make_room(c, parsed)) {
        release_parsed(parsed);
        (void)read_payload(c, packet, false, parsed);
    }
    for (uint32_t i = 0; i < parsed->count; i++) {
        if (parsed->entries[i].full && cw_channel_keeps_all(parsed->channels[i]))
            return CW_ERROR_RECEIVER_FULL;
    }
    return CW_OK;
}

/* Handles a packet that is malformed, or that can be kept only in part. */
static enum cw_error take_part(struct cw_connection *c, const struct cw_endpoint_event *packet,
                               enum cw_error error, struct parsed *parsed, double now)
{
    if (error == CW_ERROR_RECEIVER_FULL)
        error = read_with_room(c, packet, parsed);
    if (error == CW_OK) {
        cw_endpoint_accept(c->endpoint, packet->sequence);
        take_parsed(c, parsed, now);
        return CW_OK;
    }
    release_parsed(parsed);
    if (error == CW_ERROR_RECEIVER_FULL) {
        (void)read_payload(c, packet, true, parsed);
        take_parsed(c, parsed, now);
    }
    c->packets_refused += error == CW_ERROR_RECEIVER_FULL;
    c->packets_invalid += error == CW_ERROR_MALFORMED;
    return error;
}

static inline enum cw_error take_packet(struct cw_connection *c,
                                        const struct cw_endpoint_event *packet, double now)
{
    struct parsed parsed;
    c->repair_work = CW_REPAIR_WORK;
    const enum cw_error error = read_payload(c, packet, false, &parsed);
    /* somebody waits for the ack of a reliable message, and of a fragment to send the next */
    if (CW_LIKELY((parsed.seen & c->reliable) | parsed.with_fragment))
        cw_connection_note_spoken_to(c, now);
    else if (parsed.seen)
        cw_connection_note_heard(c);
    if (error != CW_OK)
        return take_part(c, packet, error, &parsed, now);
    cw_endpoint_accept(c->endpoint, packet->sequence);
    take_parsed(c, &parsed, now);
    return CW_OK;
}

enum cw_error cw_connection_receive(struct cw_connection *c, const uint8_t *data, size_t size,
                                    double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || (!data && size > 0))
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = cw_endpoint_receive(c->endpoint, data, size, now);
    const struct cw_endpoint_event *packet = cw_endpoint_next_packet(c->endpoint);
    if (packet)
        error = take_packet(c, packet, now);
    cw_connection_take_fates(c, now);
    if (packet)
        cw_connection_expect(c);
    return error;
}
