/* Tests of two ends with the values of yojimbo's own configuration. A block's fragment is as long
   there as one of a packet, so that every packet with one goes in two datagrams or more. */
#include "connection_pair.h"

#include "causeway/client.h"
#include "causeway/server.h"

#define BLOCK (256 * 1024)
#define NOTES 400
#define TICKS 20000

/* Returns the values of yojimbo's configuration, spelled out. */
static struct cw_connection_config spelled_out(void)
{
    struct cw_connection_config config = notes_config();
    config.max_messages = 2048;
    config.endpoint.max_packet_size = 8192;
    config.endpoint.fragment_above = 1024;
    config.endpoint.fragment_size = 1024;
    config.endpoint.max_reassemblies = 64;
    for (uint32_t i = 0; i < 2; i++)
        config.channels[i] = (struct cw_channel_config){.kind = CW_CHANNEL_RELIABLE_ORDERED,
                                                        .max_messages_per_packet = 256,
                                                        .receive_queue_size = 1024,
                                                        .blocks = true,
                                                        .max_block_size = BLOCK,
                                                        .block_fragment_size = 1024,
                                                        .send_queue_size = 1024,
                                                        .weight = 1};
    return config;
}

TEST(test_the_preset_is_what_yojimbo_has)
{
    const struct cw_connection_config wanted = spelled_out();
    const struct cw_connection_config preset = cw_connection_config_yojimbo(wanted.schema);
    assert_int_equal(preset.channel_count, 2);
    assert_int_equal(preset.max_messages, wanted.max_messages);
    assert_int_equal(preset.endpoint.max_packet_size, wanted.endpoint.max_packet_size);
    assert_int_equal(preset.endpoint.fragment_above, wanted.endpoint.fragment_above);
    assert_int_equal(preset.endpoint.fragment_size, wanted.endpoint.fragment_size);
    assert_int_equal(preset.endpoint.max_reassemblies, wanted.endpoint.max_reassemblies);
    for (uint32_t i = 0; i < 2; i++) {
        const struct cw_channel_config *is = &preset.channels[i], *be = &wanted.channels[i];
        assert_int_equal(is->kind, be->kind);
        assert_int_equal(is->max_messages_per_packet, be->max_messages_per_packet);
        assert_int_equal(is->receive_queue_size, be->receive_queue_size);
        assert_int_equal(is->send_queue_size, be->send_queue_size);
        assert_int_equal(is->blocks, be->blocks);
        assert_int_equal(is->max_block_size, be->max_block_size);
        assert_int_equal(is->block_fragment_size, be->block_fragment_size);
    }
}

/* The npm package's preset gives the same number for this message: see wasm.yojimbo. */
TEST(test_the_preset_of_the_package_is_the_same)
{
    const struct cw_field field = {.name = "number", .kind = CW_KIND_UINT, .max = 1000};
    const struct cw_message_type type = {.name = "note", .fields = &field, .field_count = 1};
    const struct cw_connection_config preset =
        cw_connection_config_yojimbo(schema_with(&(struct cw_schema_config){&type, 1, {0}}));
    assert_int_equal(cw_connection_fingerprint(&preset), 0x8a5e74094d342b78);
}

TEST(test_every_config_check_takes_them)
{
    const struct cw_connection_config config = cw_connection_config_yojimbo(notes_schema());
    assert_int_equal(cw_endpoint_config_check(&config.endpoint), CW_OK);
    assert_int_equal(cw_channel_config_check(&config.channels[0], config.endpoint.max_packet_size),
                     CW_OK);
    assert_int_equal(cw_connection_config_check(&config), CW_OK);
    struct cw_client_config client = cw_client_config_default();
    client.connection = &config;
    assert_true(cw_client_memory(&client) > cw_connection_memory(&config));
    const struct cw_address address = {.type = CW_ADDRESS_IPV4, .bytes = {127, 0, 0, 1}};
    struct cw_server_config server = cw_server_config_default();
    server.connection = &config;
    server.netcode.unix_offset_seconds = 0;
    server.netcode.private_key[0] = 1;
    server.netcode.addresses = &address;
    server.netcode.address_count = 1;
    server.netcode.max_clients = 1;
    assert_true(cw_server_memory(&server) > cw_connection_memory(&config));
}

/* Sends a block with a long body, then notes, on both channels of both ends. */
static void send_all(struct pair *pair, int side)
{
    for (uint32_t channel = 0; channel < 2; channel++) {
        struct cw_message *parcel = make_parcel(pair->sides[side], channel, BLOCK);
        ((struct note *)parcel->data)->padding = 1500;
        assert_int_equal(cw_connection_send(pair->sides[side], channel, parcel, pair->now), CW_OK);
        for (uint32_t i = 0; i < NOTES; i++)
            send_note(pair->sides[side], channel, i, i * 7 % 900, pair->now);
    }
}

/* Takes what has arrived, which must be the next of *next on its channel. */
static void take_all(struct cw_connection *at, uint32_t next[2])
{
    uint32_t channel;
    for (struct cw_message *message; (message = next_message(at, &channel)) != NULL;) {
        if (next[channel] == 0)
            check_parcel(message, channel, BLOCK);
        else
            assert_int_equal(number_of(message), next[channel] - 1);
        next[channel]++;
        cw_message_release(message);
    }
}

TEST(test_blocks_and_messages_pass_between_two_ends)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        const struct cw_connection_config config = cw_connection_config_yojimbo(notes_schema());
        struct pair pair = pair_open(&config, 0.05, lossy ? 0.05 : 0);
        send_all(&pair, 0);
        send_all(&pair, 1);
        uint32_t next[2][2] = {{0}};
        for (int i = 0; i < 4; i++) {
            while (next[i / 2][i % 2] < NOTES + 1) {
                assert_true(pair.ticks < TICKS);
                pair_tick(&pair);
                take_all(pair.sides[0], next[0]);
                take_all(pair.sides[1], next[1]);
            }
        }
        for (int i = 0; i < 2; i++) {
            const struct cw_connection_stats stats = stats_of(pair.sides[i]);
            const uint64_t fragments = 2 * BLOCK / 1024;
            assert_true(stats.endpoint.fragments_sent >= 2 * fragments);
            assert_int_equal(stats.packets_invalid + stats.endpoint.packets_malformed, 0);
            assert_int_equal(cw_connection_max_datagram_size(pair.sides[i]), 1024 + 5 + 9);
        }
        print_message("%d ticks, loss %d %%\n", pair.ticks, lossy * 5);
    }
}

/* Only a packet with a block goes in fragments: one message more or less does not cost a datagram.
 */
TEST(test_packets_of_messages_go_whole)
{
    const struct cw_connection_config config = cw_connection_config_yojimbo(notes_schema());
    struct pair pair = pair_open(&config, 0.05, 0);
    for (uint32_t i = 0; i < NOTES; i++)
        send_note(pair.sides[0], i % 2, i, i * 7 % 900, 0);
    while (channel_of(pair.sides[1], 0).received + channel_of(pair.sides[1], 1).received < NOTES) {
        assert_true(pair.ticks < TICKS);
        pair_tick(&pair);
    }
    assert_int_equal(stats_of(pair.sides[0]).endpoint.fragments_sent, 0);
    drain(pair.sides[1]);
}
