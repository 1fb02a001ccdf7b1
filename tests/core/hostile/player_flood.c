/* Tests of a player who sends more than anybody needs to: the server reads a fair share of it and
   says who it was. Nobody else can use up a player's share. */
#include "hostile_player.h"

#define RATE 2000       /* datagrams a second, as by default */
#define TICK (1.0 / 64) /* seconds */

static struct message_rig messages;
static struct player flooder, other;

BEFORE_EACH_TEST
{
    message_rig_start(&messages, 16);
    const uint64_t fingerprint = cw_connection_fingerprint(&messages.connection);
    player_connect(&flooder, &messages.rig, 0, fingerprint);
    player_connect(&other, &messages.rig, 1, fingerprint);
}

/* Sends a payload without entries. */
static enum cw_error send_nothing(struct player *player)
{
    return player_payload(player, (const uint8_t[]){0}, 1);
}

static uint64_t refused_of(const struct player *player)
{
    struct cw_server_client_info about;
    assert_true(cw_server_client(messages.rig.server, player->slot, &about));
    return about.datagrams_refused;
}

static void tick(void)
{
    messages.rig.now += TICK;
    cw_server_update(messages.rig.server, messages.rig.now);
    while (!rig_silent(&messages.rig))
        continue;
}

/* Sends `count` payloads at once; returns how many the server has read. */
static uint32_t flood(struct player *player, uint32_t count)
{
    uint32_t read = 0;
    for (uint32_t i = 0; i < count; i++) {
        const enum cw_error error = send_nothing(player);
        assert_true(error == CW_OK || error == CW_ERROR_TOO_MANY_DATAGRAMS);
        read += error == CW_OK;
    }
    return read;
}

TEST(test_a_quarter_of_a_second_at_once_and_then_the_rate)
{
    assert_int_equal(flood(&flooder, 1000), RATE / 4);
    uint32_t read = 0;
    for (int i = 0; i < 64; i++) {
        tick();
        read += flood(&flooder, 200);
        assert_ok(send_nothing(&other));
    }
    assert_in_range(read, RATE - 1, RATE + 1);
    assert_int_equal(refused_of(&flooder), 1000 - RATE / 4 + 64 * 200 - read);
    assert_int_equal(refused_of(&other), 0);
    assert_int_equal(cw_server_dropped(messages.rig.server, CW_ERROR_TOO_MANY_DATAGRAMS),
                     refused_of(&flooder));
    /* The player goes on as before once it sends less. */
    messages.rig.now += 1;
    assert_int_equal(flood(&flooder, 100), 100);
}

TEST(test_keep_alives_and_packets_of_a_wrong_size_count_too)
{
    const uint8_t body[CW_KEEP_ALIVE_SIZE + 1] = {0};
    for (int i = 0; i < RATE / 8; i++) {
        assert_ok(player_send(&flooder, CW_SECURE_KEEP_ALIVE, body, CW_KEEP_ALIVE_SIZE));
        assert_ok(send_nothing(&flooder));
    }
    assert_int_equal(player_send(&flooder, CW_SECURE_KEEP_ALIVE, body, CW_KEEP_ALIVE_SIZE),
                     CW_ERROR_TOO_MANY_DATAGRAMS);
}

/* Makes an entry of an unreliable channel with 256 notes. */
static size_t many_notes(uint8_t *payload, size_t capacity)
{
    struct cw_stream stream = cw_stream_writer(payload, capacity);
    uint32_t entries = 1, head = UNRELIABLE | 0 << 1 | 1 << 2 | 255 << 3;
    assert_true(cw_stream_bits(&stream, &entries, 2) && cw_stream_bits(&stream, &head, 11));
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t number = i, from = 1;
        assert_true(cw_stream_bits(&stream, &number, 20) && cw_stream_bits(&stream, &from, 7));
    }
    return cw_stream_flush(&stream);
}

/* A packet with 256 messages counts five times. */
TEST(test_messages_count)
{
    uint8_t payload[CW_PAYLOAD_MAX];
    const size_t size = many_notes(payload, sizeof payload);
    uint32_t read = 0;
    while (read < RATE && player_payload(&flooder, payload, size) == CW_OK) {
        read++;
        player_drain(&messages.rig);
    }
    assert_int_equal(read, RATE / 4 / 5);
    assert_int_equal(refused_of(&flooder), 1);
}

/* An attacker who forges a player's address cannot seal a packet, nor use one a second time. */
TEST(test_nobody_uses_up_the_share_of_another)
{
    uint8_t packet[CW_PAYLOAD_MAX], seen[CW_SECURE_MAX], noise[200] = {CW_SECURE_PAYLOAD | 1 << 4};
    const size_t size = player_packet(&other, (const uint8_t[]){0}, 1, packet);
    const size_t length = player_seal(&other, CW_SECURE_PAYLOAD, packet, size, seen);
    assert_ok(rig_give(&messages.rig, &other.at, seen, length));
    for (int i = 0; i < 5000; i++) {
        noise[1] = (uint8_t)(100 + i % 100);
        assert_int_equal(rig_give(&messages.rig, &other.at, noise, sizeof noise),
                         CW_ERROR_NOT_AUTHENTIC);
        assert_int_equal(rig_give(&messages.rig, &other.at, seen, length), CW_ERROR_DUPLICATE);
    }
    assert_int_equal(flood(&other, RATE / 4 - 1), RATE / 4 - 1);
    assert_int_equal(refused_of(&other), 0);
}

/* A flood neither ends the connection nor keeps the server from ending it. */
TEST(test_who_floods_stays_until_kicked)
{
    struct cw_server_event event;
    for (int i = 0; i < 64 * 60; i++) {
        (void)flood(&flooder, 40);
        (void)send_nothing(&other);
        tick();
    }
    assert_true(refused_of(&flooder) > 10000);
    assert_int_equal(rig_stats(&messages.rig).clients, 2);
    cw_server_disconnect(messages.rig.server, flooder.slot, 0, "flood");
    assert_true(cw_server_next(messages.rig.server, &event));
    assert_int_equal(event.type, CW_SERVER_EVENT_DISCONNECTED);
    assert_int_equal(event.client, flooder.slot);
    tick();
    assert_int_equal(send_nothing(&flooder), CW_ERROR_NOT_CONNECTED);
    assert_ok(send_nothing(&other));
}
