/* Tests of connections against the reference: what it sends is read, what it refuses is refused,
   and what we send is what it would. */
#define OWN_MAIN
#include "vector_messages.h"

static cJSON *file;

static const char *text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(vectors_get(object, key));
}

static bool from_a(const cJSON *item)
{
    return strcmp(text(item, "from"), "A") == 0;
}

static void receive_hex(struct cw_connection *to, const cJSON *hex, double now)
{
    size_t size;
    uint8_t *data = vectors_bytes(hex, &size);
    assert_int_equal(cw_connection_receive(to, data, size, now), CW_OK);
    free(data);
}

/* Runs as many rounds of messages back and forth as the scenario wants before it begins. */
static void warm_up(struct cw_connection *a, struct cw_connection *b, const cJSON *warmup)
{
    const long rounds = vectors_int(warmup, "rounds");
    const long per_round = vectors_int(warmup, "messages_per_round");
    for (long i = 0; i < rounds; i++) {
        for (long j = 0; j < per_round; j++) {
            struct cw_message *message;
            assert_int_equal(cw_connection_create_message(a, 0, &message), CW_OK);
            assert_int_equal(cw_connection_send(a, 0, message, (double)i / 16), CW_OK);
        }
        assert_int_equal(round_of(a, b, (double)i / 16), 1);
        assert_int_equal(drain(b), per_round);
        assert_int_equal(round_of(b, a, (double)i / 16), 1);
    }
}

/* Takes all that arrived, which must be exactly the messages with these indexes, on each channel in
   order. */
static void expect_messages(struct cw_connection *at, const cJSON *messages, const cJSON *indexes)
{
    const cJSON *expected[512];
    size_t count = 0;
    const cJSON *index;
    cJSON_ArrayForEach(index, indexes) expected[count++] =
        cJSON_GetArrayItem(messages, (int)cJSON_GetNumberValue(index));
    uint32_t channel;
    for (struct cw_message *message; (message = next_message(at, &channel)) != NULL;) {
        size_t i = 0;
        while (i < count && (!expected[i] || vectors_int(expected[i], "channel") != channel))
            i++;
        assert_true(i < count);
        check_vector_message(message, expected[i]);
        expected[i] = NULL;
        cw_message_release(message);
    }
    for (size_t i = 0; i < count; i++)
        assert_null(expected[i]);
}

/* Reads what the reference sent, with the settings of the scenario, or with the endpoint of default
   connections. */
static void read_scenario(const cJSON *scenario, bool defaults, size_t *packets, size_t *received)
{
    struct cw_connection_config config = vector_config(file, text(scenario, "config"));
    if (defaults)
        config.endpoint = cw_connection_config_default(config.schema).endpoint;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    warm_up(a, b, vectors_get(scenario, "warmup"));
    const cJSON *packet, *datagram;
    cJSON_ArrayForEach(packet, vectors_get(scenario, "packets"))
    {
        struct cw_connection *to = from_a(packet) ? b : a;
        const double now = cJSON_GetNumberValue(vectors_get(packet, "time"));
        if (!cJSON_IsTrue(vectors_get(packet, "delivered")))
            continue;
        cJSON_ArrayForEach(datagram, vectors_get(packet, "datagrams"))
            receive_hex(to, datagram, now);
        expect_messages(to, vectors_get(scenario, "messages"), vectors_get(packet, "received"));
        ++*packets;
        *received += (size_t)cJSON_GetArraySize(vectors_get(packet, "received"));
    }
    assert_int_equal(stats_of(a).packets_invalid + stats_of(b).packets_invalid, 0);
    assert_int_equal(stats_of(a).packets_refused + stats_of(b).packets_refused, 0);
    assert_int_equal(stats_of(a).messages_in_use, 0);
    assert_int_equal(stats_of(b).messages_in_use, 0);
}

TEST(test_every_packet_of_the_reference_is_read)
{
    if (!file)
        skip();
    for (int defaults = 0; defaults < 2; defaults++) {
        size_t packets = 0, received = 0;
        const cJSON *scenario;
        cJSON_ArrayForEach(scenario, vectors_get(file, "scenarios"))
            read_scenario(scenario, defaults, &packets, &received);
        print_message("read %zu packets with %zu messages\n", packets, received);
        assert_true(packets > 300 && received > 600);
    }
}

/* A fresh connection that has received what comes before the packet of an entry. */
struct entry {
    struct cw_connection *connection;
    struct cw_endpoint *peer;
    uint8_t *payload;
    size_t size;
    uint32_t received; /* messages so far */
};

static struct entry begin_entry(const cJSON *item)
{
    struct entry entry = {0};
    const struct cw_connection_config config = vector_config(file, text(item, "config"));
    entry.connection = connection_with(&config);
    entry.peer = peer_of(&config);
    const cJSON *prior;
    cJSON_ArrayForEach(prior, vectors_get(item, "prior"))
    {
        size_t size;
        uint8_t *payload = vectors_bytes(prior, &size);
        assert_int_equal(peer_send(entry.peer, entry.connection, payload, size, 0), CW_OK);
        entry.received += drain(entry.connection);
        free(payload);
    }
    entry.payload = vectors_bytes(vectors_get(item, "payload"), &entry.size);
    return entry;
}

TEST(test_what_the_reference_refuses_is_refused_whole)
{
    if (!file)
        skip();
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "refuse"))
    {
        struct entry entry = begin_entry(item);
        const uint32_t in_use = stats_of(entry.connection).messages_in_use;
        const enum cw_error error =
            peer_send(entry.peer, entry.connection, entry.payload, entry.size, 1);
        /* When a message is beyond the receive window, the other end is held back, not given up. */
        const bool beyond = strstr(text(item, "reason"), "outside the receive window") != NULL;
        if (error != (beyond ? CW_ERROR_RECEIVER_FULL : CW_ERROR_MALFORMED) ||
            drain(entry.connection) > 0 || stats_of(entry.connection).messages_in_use != in_use ||
            peer_acked(entry.peer, entry.connection, 1))
            fail_msg("not refused: %s (%s): %s", text(item, "payload"), text(item, "reason"),
                     cw_error_string(error));
        free(entry.payload);
    }
}

TEST(test_what_the_reference_takes_is_taken)
{
    if (!file)
        skip();
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(file, "accept"))
    {
        struct entry entry = begin_entry(item);
        const enum cw_error error =
            peer_send(entry.peer, entry.connection, entry.payload, entry.size, 1);
        entry.received += drain(entry.connection);
        if (error != CW_OK || entry.received != vectors_int(item, "messages_received") ||
            !peer_acked(entry.peer, entry.connection, 1))
            fail_msg("not taken: %s (%s): %s, %u messages", text(item, "payload"),
                     text(item, "note"), cw_error_string(error), entry.received);
        free(entry.payload);
    }
}

/* Sends the contents of a packet of the reference, from a fresh connection that was brought to the
   point where just that is due. */
static void send_contents(const cJSON *scenario, const cJSON *packet,
                          const struct cw_connection_config *config, size_t *same)
{
    struct cw_connection *from = connection_with(config), *to = connection_with(config);
    const cJSON *messages = vectors_get(scenario, "messages");
    const bool wraps = vectors_get(scenario, "warmup") != NULL;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, vectors_get(packet, "contents"))
    {
        const cJSON *fragment = vectors_get(entry, "fragment");
        const cJSON *first = fragment ? fragment : vectors_get(entry, "messages")->child;
        const long id = vectors_int(first, fragment ? "message_id" : "id");
        bring_before(from, to, (uint32_t)vectors_int(entry, "channel"),
                     id < 9 && wraps ? 65536 + id : id);
    }
    cJSON_ArrayForEach(entry, vectors_get(packet, "contents"))
    {
        const uint32_t channel = (uint32_t)vectors_int(entry, "channel");
        const cJSON *fragment = vectors_get(entry, "fragment");
        if (fragment)
            bring_to_fragment(from, to, channel, fragment, messages);
        else if (config->channels[channel].kind == CW_CHANNEL_RELIABLE_ORDERED)
            bring_to_messages(from, to, channel, vectors_get(entry, "messages"), messages);
    }
    round_of(to, from, 0);
    const double now = 100; /* every lost message is due by now */
    cJSON_ArrayForEach(entry, vectors_get(packet, "contents"))
    {
        const uint32_t channel = (uint32_t)vectors_int(entry, "channel");
        const cJSON *item;
        if (config->channels[channel].kind != CW_CHANNEL_UNRELIABLE)
            continue;
        cJSON_ArrayForEach(item, vectors_get(entry, "messages")) send_vector_message(
            from, cJSON_GetArrayItem(messages, (int)vectors_int(item, "message")), now);
    }
    size_t size;
    uint8_t *expected = vectors_bytes(vectors_get(packet, "payload"), &size);
    uint8_t datagram[2048];
    cw_connection_update(from, now);
    const size_t sent = transmit(from, datagram, now);
    assert_true(sent > size);
    if (memcmp(datagram + sent - size, expected, size) != 0)
        fail_msg("%s, tick %ld: other bytes than %s", text(scenario, "name"),
                 vectors_int(packet, "tick"), text(packet, "payload"));
    (*same)++;
    free(expected);
}

TEST(test_the_same_messages_make_the_same_bytes)
{
    if (!file)
        skip();
    size_t same = 0, too_large = 0;
    const cJSON *scenario, *packet;
    cJSON_ArrayForEach(scenario, vectors_get(file, "scenarios"))
    {
        const struct cw_connection_config config = vector_config(file, text(scenario, "config"));
        cJSON_ArrayForEach(packet, vectors_get(scenario, "packets"))
        {
            if (strlen(text(packet, "payload")) / 2 > config.endpoint.fragment_above)
                too_large++;
            else
                send_contents(scenario, packet, &config, &same);
        }
    }
    print_message("%zu payloads are the same; %zu are too large for a packet of ours\n", same,
                  too_large);
    assert_true(same > 350);
}

/* Drives two connections as the reference was driven, until the two choose to send other messages.
 */
static size_t send_scenario(const cJSON *scenario)
{
    const struct cw_connection_config config = vector_config(file, text(scenario, "config"));
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    warm_up(a, b, vectors_get(scenario, "warmup"));
    size_t same = 0;
    bool goes_on = true;
    const cJSON *packet, *index;
    cJSON_ArrayForEach(packet, vectors_get(scenario, "packets"))
    {
        struct cw_connection *from = from_a(packet) ? a : b, *to = from_a(packet) ? b : a;
        const double now = cJSON_GetNumberValue(vectors_get(packet, "time"));
        cJSON_ArrayForEach(index, vectors_get(packet, "queued")) send_vector_message(
            from,
            cJSON_GetArrayItem(vectors_get(scenario, "messages"), (int)cJSON_GetNumberValue(index)),
            now);
        cw_connection_update(from, now);
        uint8_t datagram[2048], none[2048];
        const size_t sent = transmit(from, datagram, now);
        assert_int_equal(transmit(from, none, now), 0);
        const cJSON *datagrams = vectors_get(packet, "datagrams");
        size_t size, payload_size;
        uint8_t *expected = vectors_bytes(cJSON_GetArrayItem(datagrams, 0), &size);
        uint8_t *payload = vectors_bytes(vectors_get(packet, "payload"), &payload_size);
        goes_on = cJSON_GetArraySize(datagrams) == 1 && sent > payload_size &&
                  memcmp(datagram + sent - payload_size, payload, payload_size) == 0;
        if (goes_on) {
            assert_int_equal(sent, size);
            assert_memory_equal(datagram, expected, size);
            same++;
            if (cJSON_IsTrue(vectors_get(packet, "delivered"))) {
                assert_int_equal(receive_exact(to, datagram, sent, now), CW_OK);
                expect_messages(to, vectors_get(scenario, "messages"),
                                vectors_get(packet, "received"));
            }
        }
        free(expected);
        free(payload);
        if (!goes_on)
            break;
    }
    return same;
}

TEST(test_the_same_choice_makes_the_same_datagrams)
{
    if (!file)
        skip();
    const cJSON *scenario;
    cJSON_ArrayForEach(scenario, vectors_get(file, "scenarios"))
    {
        const size_t same = send_scenario(scenario);
        print_message("%s: %zu datagrams of %d are the same\n", text(scenario, "name"), same,
                      cJSON_GetArraySize(vectors_get(scenario, "packets")));
        /* Our connections never send more than a datagram, and put more into a small budget. */
        const bool differs = strcmp(text(scenario, "name"), "large_packets") == 0 ||
                             strcmp(text(scenario, "name"), "budget_and_limit") == 0;
        assert_true(differs || same >= 8);
    }
}

/* The tests run with bodies by tables of fields, and by the functions of a stream. */
int main(void)
{
    file = vectors_load("yojimbo_packets.json");
    int failed = fixture_run();
    vector_by_hand = true;
    failed += fixture_run();
    cJSON_Delete(file);
    return failed;
}
