/* Attacks that somebody on the path between a client and its server may try. */
#include "secure_rig.h"

/* Datagrams that somebody on the path has kept. */
#define TAPE_MAX 4096
struct tape {
    struct {
        uint8_t bytes[CW_SECURE_MAX];
        size_t size;
    } datagrams[TAPE_MAX];
    size_t count;
};
static struct tape up_tape, down_tape;

static void keep(struct tape *tape, const uint8_t *bytes, size_t size)
{
    if (tape->count == TAPE_MAX)
        return;
    memcpy(tape->datagrams[tape->count].bytes, bytes, size);
    tape->datagrams[tape->count++].size = size;
}

/* One tick of client and server with everything kept. */
static void taped_tick(struct rig *rig, struct cw_netcode_client *client,
                       const struct cw_address *at)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_netcode_server_update(rig->server, rig->now);
    cw_netcode_client_update(client, rig->now);
    while ((size = cw_netcode_client_transmit(client, datagram, sizeof(datagram), rig->now, NULL)) >
           0) {
        keep(&up_tape, datagram, size);
        rig_give(rig, at, datagram, size);
    }
    while ((size = cw_netcode_server_transmit(rig->server, datagram, sizeof(datagram), rig->now,
                                              &to)) > 0) {
        keep(&down_tape, datagram, size);
        cw_netcode_client_receive(client, NULL, datagram, size, rig->now);
    }
}

TEST(replayed_packets)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    up_tape.count = down_tape.count = 0;
    for (int tick = 0; tick < 400; tick++) {
        taped_tick(rig, client, &at);
        rig_drain(rig, client);
        if (cw_netcode_client_state(client) == CW_CLIENT_CONNECTED) {
            cw_netcode_client_send(client, (const uint8_t *)"up", 2);
            cw_netcode_server_send(rig->server, 0, (const uint8_t *)"down", 4);
        }
    }
    assert_in_range(up_tape.count, 380, TAPE_MAX - 1);
    for (size_t i = 0; i < up_tape.count; i++) {
        assert_int_not_equal(
            rig_give(rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
        assert_int_equal(rig_drain(rig, client), 0);
    }
    for (size_t i = 0; i < down_tape.count; i++) {
        assert_int_not_equal(cw_netcode_client_receive(client, NULL, down_tape.datagrams[i].bytes,
                                                       down_tape.datagrams[i].size, rig->now),
                             CW_OK);
        assert_int_equal(rig_drain(rig, client), 0);
    }
    assert_int_equal(rig_stats(rig).clients, 1);
    assert_int_equal(rig_stats(rig).connections, 1);

    /* And after the connection: the old packets neither open nor end one. */
    cw_netcode_client_disconnect(client);
    rig_up(rig, client, &at);
    rig_drain(rig, NULL);
    for (size_t i = 0; i < up_tape.count; i++)
        assert_int_not_equal(
            rig_give(rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
    client = rig_client(rig, 2);
    rig_connect(rig, client, &at);
    for (size_t i = 0; i < up_tape.count; i++)
        assert_int_not_equal(
            rig_give(rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
    assert_int_equal(rig_stats(rig).clients, 1);
}

/* Every bit of every kind of packet, in the state in which the real one is awaited. */
TEST(altered_packets)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 1e9;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(&rig, 1);
    int types_seen = 0;
    for (int step = 0; step < 6; step++) {
        uint8_t up[CW_SECURE_MAX], down[CW_SECURE_MAX];
        struct cw_address to;
        rig.now += 0.2;
        cw_netcode_client_update(client, rig.now);
        if (step == 4) {
            cw_netcode_client_send(client, (const uint8_t *)"payload", 7);
            cw_netcode_server_send(rig.server, 0, (const uint8_t *)"payload", 7);
        }
        if (step == 5)
            cw_netcode_client_disconnect(client);
        const size_t up_size = cw_netcode_client_transmit(client, up, sizeof(up), rig.now, NULL);
        types_seen |= 1 << (up[0] & 15);
        for (size_t bit = 0; bit < 8 * up_size; bit++) {
            up[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(rig_give(&rig, &at, up, up_size), CW_OK);
            up[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut < up_size; cut++)
            assert_int_not_equal(rig_give(&rig, &at, up, cut), CW_OK);
        assert_ok(rig_give(&rig, &at, up, up_size));
        cw_netcode_server_update(rig.server, rig.now);
        const size_t down_size =
            cw_netcode_server_transmit(rig.server, down, sizeof(down), rig.now, &to);
        if (down_size > 0) {
            types_seen |= 1 << (down[0] & 15);
            for (size_t bit = 0; bit < 8 * down_size; bit++) {
                down[bit / 8] ^= (uint8_t)(1u << bit % 8);
                uint8_t *exact = netcode_exact(down, down_size);
                assert_int_not_equal(
                    cw_netcode_client_receive(client, NULL, exact, down_size, rig.now), CW_OK);
                free(exact);
                down[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            assert_ok(cw_netcode_client_receive(client, NULL, down, down_size, rig.now));
        }
        rig_drain(&rig, client);
    }
    assert_int_equal(types_seen, 1 << CW_SECURE_REQUEST | 1 << CW_SECURE_CHALLENGE |
                                     1 << CW_SECURE_RESPONSE | 1 << CW_SECURE_KEEP_ALIVE |
                                     1 << CW_SECURE_PAYLOAD | 1 << CW_SECURE_DISCONNECT);
}

/* Somebody on the path alters, replays, reorders, truncates and drops. Every message that comes out
   at an end went in at the other, and once. */
TEST(man_in_the_middle)
{
    enum { TICKS = 3000, SENT = 8192 };
    static uint8_t up_seen[SENT], down_seen[SENT];
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(rig, 1);
    uint32_t up_sent = 0, down_sent = 0;
    up_tape.count = down_tape.count = 0;
    uint64_t dice_seed = 12345;
    for (int tick = 0; tick < TICKS; tick++) {
        rig->now += 1.0 / 60;
        cw_netcode_client_update(client, rig->now);
        cw_netcode_server_update(rig->server, rig->now);
        uint32_t message[8];
        if (cw_netcode_client_state(client) == CW_CLIENT_CONNECTED) {
            for (int i = 0; i < 8; i++)
                message[i] = up_sent;
            if (cw_netcode_client_send(client, (const uint8_t *)message, sizeof(message)) == CW_OK)
                up_sent++;
        }
        struct cw_server_client_info about;
        if (cw_netcode_server_client(rig->server, 0, &about) && about.confirmed) {
            for (int i = 0; i < 8; i++)
                message[i] = down_sent;
            if (cw_netcode_server_send(rig->server, 0, (const uint8_t *)message, sizeof(message)) ==
                CW_OK)
                down_sent++;
        }
        for (int way = 0; way < 2; way++) {
            struct tape *tape = way ? &down_tape : &up_tape;
            uint8_t datagram[CW_SECURE_MAX];
            struct cw_address to;
            size_t size;
            while ((size = way ? cw_netcode_server_transmit(rig->server, datagram, sizeof(datagram),
                                                            rig->now, &to)
                               : cw_netcode_client_transmit(client, datagram, sizeof(datagram),
                                                            rig->now, NULL)) > 0)
                keep(tape, datagram, size);
            for (int i = 0; i < 4 && tape->count > 0; i++) {
                uint8_t dice[8];
                netcode_fill(&dice_seed, dice, sizeof(dice));
                /* Mostly the newest, else any that ever was. */
                size_t which = tape->count - 1;
                if (dice[0] & 1)
                    which = (size_t)(dice[1] << 8 | dice[2]) % tape->count;
                size = tape->datagrams[which].size;
                memcpy(datagram, tape->datagrams[which].bytes, size);
                bool altered = false;
                if (dice[3] % 3 == 0) {
                    datagram[(size_t)(dice[4] << 8 | dice[5]) % size] ^=
                        (uint8_t)(1u << dice[6] % 8);
                    altered = true;
                } else if (dice[3] % 3 == 1 && dice[7] & 1) {
                    size = (size_t)(dice[4] << 8 | dice[5]) % size;
                    altered = true;
                }
                uint8_t *exact = netcode_exact(datagram, size);
                const enum cw_error error =
                    way ? cw_netcode_client_receive(client, NULL, exact, size, rig->now)
                        : cw_netcode_server_receive(rig->server, &at, exact, size, rig->now);
                free(exact);
                if (altered)
                    assert_int_not_equal(error, CW_OK);
                struct cw_netcode_server_event up;
                while (cw_netcode_server_next(rig->server, &up)) {
                    assert_int_not_equal(up.type, CW_NETCODE_SERVER_EVENT_DISCONNECTED);
                    if (up.type != CW_NETCODE_SERVER_EVENT_PAYLOAD)
                        continue;
                    assert_int_equal(up.size, sizeof(message));
                    memcpy(message, up.payload, sizeof(message));
                    for (int k = 1; k < 8; k++)
                        assert_int_equal(message[k], message[0]);
                    assert_true(message[0] < up_sent);
                    assert_int_equal(up_seen[message[0]]++, 0);
                }
                struct cw_netcode_client_event down;
                while (cw_netcode_client_next(client, &down)) {
                    assert_int_not_equal(down.type, CW_NETCODE_CLIENT_EVENT_DISCONNECTED);
                    if (down.type != CW_NETCODE_CLIENT_EVENT_PAYLOAD)
                        continue;
                    assert_int_equal(down.size, sizeof(message));
                    memcpy(message, down.payload, sizeof(message));
                    for (int k = 1; k < 8; k++)
                        assert_int_equal(message[k], message[0]);
                    assert_true(message[0] < down_sent);
                    assert_int_equal(down_seen[message[0]]++, 0);
                }
            }
        }
    }
    uint32_t up = 0, down = 0;
    for (int i = 0; i < SENT; i++) {
        up += up_seen[i];
        down += down_seen[i];
    }
    assert_true(up > TICKS / 4);
    assert_true(down > TICKS / 4);
}
