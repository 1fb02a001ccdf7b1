/* What somebody without the keys, or with a token of their own, may try. */
#include "secure_rig.h"

/* Datagrams that somebody on the way has kept. */
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
static void taped_tick(struct rig *rig, struct cw_client *client, const struct cw_address *at)
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    cw_client_update(client, rig->now);
    while ((size = cw_client_transmit(client, NULL, datagram, sizeof(datagram), rig->now)) > 0) {
        keep(&up_tape, datagram, size);
        rig_give(rig, at, datagram, size);
    }
    while ((size = cw_server_transmit(rig->server, &to, datagram, sizeof(datagram), rig->now)) >
           0) {
        keep(&down_tape, datagram, size);
        cw_client_receive(client, NULL, datagram, size, rig->now);
    }
}

static void replayed_packets(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    up_tape.count = down_tape.count = 0;
    for (int tick = 0; tick < 400; tick++) {
        taped_tick(&rig, client, &at);
        rig_drain(&rig, client);
        if (cw_client_state(client) == CW_CLIENT_CONNECTED) {
            cw_client_send(client, "up", 2);
            cw_server_send(rig.server, 0, "down", 4);
        }
    }
    assert_in_range(up_tape.count, 380, TAPE_MAX - 1);
    for (size_t i = 0; i < up_tape.count; i++) {
        assert_int_not_equal(
            rig_give(&rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
        assert_int_equal(rig_drain(&rig, client), 0);
    }
    for (size_t i = 0; i < down_tape.count; i++) {
        assert_int_not_equal(cw_client_receive(client, NULL, down_tape.datagrams[i].bytes,
                                               down_tape.datagrams[i].size, rig.now),
                             CW_OK);
        assert_int_equal(rig_drain(&rig, client), 0);
    }
    assert_int_equal(rig_stats(&rig).clients, 1);
    assert_int_equal(rig_stats(&rig).connections, 1);

    /* And after the connection: the old packets neither open nor end one. */
    cw_client_disconnect(client);
    rig_up(&rig, client, &at);
    rig_drain(&rig, NULL);
    cw_client_destroy(client);
    for (size_t i = 0; i < up_tape.count; i++)
        assert_int_not_equal(
            rig_give(&rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
    client = rig_client(&rig, 2);
    rig_connect(&rig, client, &at);
    for (size_t i = 0; i < up_tape.count; i++)
        assert_int_not_equal(
            rig_give(&rig, &at, up_tape.datagrams[i].bytes, up_tape.datagrams[i].size), CW_OK);
    assert_int_equal(rig_stats(&rig).clients, 1);
    cw_client_destroy(client);
    rig_stop(&rig);
}

static void token_from_another_address(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), thief = rig_client_address(2);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(&rig, token, 1);
    rig_request(request, token);
    const struct cw_client_config config = cw_client_config_default();
    struct cw_client *client;
    assert_int_equal(cw_client_create(&client, &config), CW_OK);
    assert_int_equal(cw_client_connect(client, token, sizeof(token), rig.now), CW_OK);
    rig_up(&rig, client, &at);
    assert_int_equal(rig_give(&rig, &thief, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    struct cw_address other_port = at;
    other_port.port++;
    assert_int_equal(rig_give(&rig, &other_port, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    rig_down(&rig, client, &at);
    rig_connect(&rig, client, &at);
    assert_int_equal(rig_give(&rig, &thief, request, sizeof(request)), CW_ERROR_CONNECTED);

    cw_client_disconnect(client);
    rig_up(&rig, client, &at);
    rig_drain(&rig, client);
    assert_int_equal(rig_give(&rig, &thief, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    /* Until it expires, and then it is no token any more. */
    rig.now += 43;
    cw_server_update(rig.server, rig.now);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_USED);
    rig.now += 2;
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_EXPIRED);
    cw_client_destroy(client);
    rig_stop(&rig);
}

/* No token that may have been used before is taken after a restart, however soon and often it
   comes; those made since are, once the server has been up for max_token_life less their life. */
static void token_after_restart(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t old[4][CW_REQUEST_SIZE], token[CW_TOKEN_SIZE];
    for (int i = 0; i < 4; i++) {
        rig_token(&rig, token, (uint64_t)i);
        rig_request(old[i], token);
        rig.now += 0.3;
    }
    rig_stop(&rig);
    assert_int_equal(cw_server_create(&rig.server, &rig.config), CW_OK);
    cw_server_update(rig.server, rig.now);
    for (double until = rig.now + 50; rig.now < until; rig.now += 0.5)
        for (int i = 0; i < 4; i++)
            assert_int_not_equal(rig_give(&rig, &at, old[i], CW_REQUEST_SIZE), CW_OK);
    rig_stop(&rig);

    const double start = rig.now;
    assert_int_equal(cw_server_create(&rig.server, &rig.config), CW_OK);
    cw_server_update(rig.server, rig.now);
    while (rig.now < start + 10) {
        uint8_t request[CW_REQUEST_SIZE];
        rig_token(&rig, token, 1);
        rig_request(request, token);
        assert_int_equal(rig_give(&rig, &at, request, sizeof(request)),
                         rig.now < start + 5.9 ? CW_ERROR_TOKEN_LIFE : CW_OK);
        rig.now += 0.5;
    }
    /* Longer lives than agreed are not covered by the rule, and so not taken. */
    struct cw_token_grant grant = rig_grant(&rig, 1);
    grant.life_seconds = 52;
    uint8_t request[CW_REQUEST_SIZE];
    assert_int_equal(cw_token_generate(token, &grant, rig_key), CW_OK);
    rig_request(request, token);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_TOKEN_LIFE);
    rig_stop(&rig);
}

/* With max_token_life 0 and a new private key at each start, as the config asks for. */
static void token_after_restart_with_a_new_key(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.config.max_token_life = 0;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t token[CW_TOKEN_SIZE], request[CW_REQUEST_SIZE];
    rig_token(&rig, token, 1);
    rig_request(request, token);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_OK);
    rig_stop(&rig);
    rig.config.private_key[0] ^= 1;
    rig_start(&rig);
    assert_int_equal(rig_give(&rig, &at, request, sizeof(request)), CW_ERROR_NOT_AUTHENTIC);
    rig_stop(&rig);
}

/* Bug 6. */
static void token_raced_from_two_addresses(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(&rig, token, 1);
    const struct cw_client_config config = cw_client_config_default();
    struct cw_client *a, *b;
    cw_client_create(&a, &config);
    cw_client_create(&b, &config);
    cw_client_connect(a, token, sizeof(token), rig.now);
    cw_client_connect(b, token, sizeof(token), rig.now);
    for (int tick = 0; tick < 60; tick++) {
        rig.now += 1.0 / 60;
        cw_client_update(a, rig.now);
        cw_client_update(b, rig.now);
        rig_up(&rig, a, &at_a);
        rig_up(&rig, b, &at_b);
        cw_server_update(rig.server, rig.now);
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        size_t size;
        while ((size = cw_server_transmit(rig.server, &to, datagram, sizeof(datagram), rig.now)) >
               0) {
            assert_true(cw_address_equal(&to, &at_a));
            cw_client_receive(a, NULL, datagram, size, rig.now);
        }
    }
    assert_int_equal(cw_client_state(a), CW_CLIENT_CONNECTED);
    assert_int_equal(cw_client_state(b), CW_CLIENT_SENDING_REQUEST);
    assert_int_equal(rig_stats(&rig).clients, 1);
    /* b has the keys, and the challenge may have been seen on the way: its response still is
       nobody's. */
    assert_int_equal(rig_stats(&rig).pending, 0);
    cw_client_destroy(a);
    cw_client_destroy(b);
    rig_stop(&rig);
}

/* Bug 6: at the very time at which one pending client ends, another takes its place, and then the
   first one's response comes. */
static void place_taken_in_the_frame_of_the_timeout(void **state)
{
    (void)state;
    for (int updated = 0; updated < 2; updated++) {
        struct rig rig;
        rig_init(&rig);
        rig.config.max_pending = 1;
        rig_start(&rig);
        const struct cw_address at_a = rig_client_address(1), at_b = rig_client_address(2);
        struct cw_client *a = rig_client(&rig, 1);
        rig_up(&rig, a, &at_a);
        rig_down(&rig, a, &at_a);
        assert_int_equal(cw_client_state(a), CW_CLIENT_SENDING_RESPONSE);
        rig.now += 5;
        if (updated)
            cw_server_update(rig.server, rig.now);
        struct cw_client *b = rig_client(&rig, 2);
        rig_up(&rig, b, &at_b);
        rig_up(&rig, a, &at_a);
        assert_int_equal(rig_stats(&rig).clients, 0);
        assert_int_equal(rig_stats(&rig).dropped[CW_ERROR_NOT_CONNECTED], 1);
        if (updated) {
            assert_int_equal(rig_connect(&rig, b, &at_b), 0);
            struct cw_server_client about;
            assert_true(cw_server_client(rig.server, 0, &about));
            assert_int_equal(about.id, 2);
        }
        cw_client_destroy(a);
        cw_client_destroy(b);
        rig_stop(&rig);
    }
}

/* The body of the challenge that the request with this token gets. */
static void challenge_of(struct rig *rig, const uint8_t token[CW_TOKEN_SIZE],
                         const struct cw_address *at, uint8_t body[CW_PAYLOAD_MAX])
{
    uint8_t request[CW_REQUEST_SIZE], datagram[CW_SECURE_MAX];
    struct cw_token read;
    struct cw_address to;
    struct cw_secure_packet packet;
    rig_request(request, token);
    assert_int_equal(rig_give(rig, at, request, sizeof(request)), CW_OK);
    const size_t size = cw_server_transmit(rig->server, &to, datagram, sizeof(datagram), rig->now);
    assert_int_equal(cw_token_read(&read, token, CW_TOKEN_SIZE), CW_OK);
    assert_int_equal(cw_secure_read(&packet, body, datagram, size, CW_TO_CLIENT, RIG_PROTOCOL,
                                    read.server_to_client_key, NULL),
                     CW_OK);
}

/* What the server says to a packet sealed with the keys of a token. */
static enum cw_error give_sealed(struct rig *rig, const uint8_t token[CW_TOKEN_SIZE],
                                 const struct cw_address *at, enum cw_secure_type type,
                                 const uint8_t *body, size_t size)
{
    uint8_t out[CW_SECURE_MAX];
    struct cw_token read;
    assert_int_equal(cw_token_read(&read, token, CW_TOKEN_SIZE), CW_OK);
    const size_t length = cw_secure_write(out, sizeof(out), type, 5, body, size, RIG_PROTOCOL,
                                          read.client_to_server_key);
    return rig_give(rig, at, out, length);
}

/* Somebody with a token and keys of their own uses a challenge that was meant for another: of
   another client, made before or after their own, or of the same client id. */
static void challenge_of_somebody_else(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), thief = rig_client_address(2),
                            twin = rig_client_address(3);
    uint8_t token[CW_TOKEN_SIZE], thief_token[CW_TOKEN_SIZE], twin_token[CW_TOKEN_SIZE],
        body[CW_PAYLOAD_MAX], own[CW_PAYLOAD_MAX];
    rig_token(&rig, token, 1);
    rig_token(&rig, thief_token, 2);
    rig_token(&rig, twin_token, 1);
    challenge_of(&rig, thief_token, &thief, own);
    challenge_of(&rig, token, &at, body);
    assert_int_equal(
        give_sealed(&rig, thief_token, &thief, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(give_sealed(&rig, token, &at, CW_SECURE_RESPONSE, own, CW_CHALLENGE_BODY_SIZE),
                     CW_ERROR_NOT_AUTHENTIC);
    challenge_of(&rig, twin_token, &twin, own);
    assert_int_equal(
        give_sealed(&rig, twin_token, &twin, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    /* Made up. */
    own[20] ^= 1;
    assert_int_equal(
        give_sealed(&rig, twin_token, &twin, CW_SECURE_RESPONSE, own, CW_CHALLENGE_BODY_SIZE),
        CW_ERROR_NOT_AUTHENTIC);
    /* Other packets with the right keys open nothing. */
    assert_int_equal(give_sealed(&rig, twin_token, &twin, CW_SECURE_PAYLOAD, own, 10),
                     CW_ERROR_UNEXPECTED);
    assert_int_equal(rig_stats(&rig).clients, 0);
    assert_int_equal(
        give_sealed(&rig, token, &at, CW_SECURE_RESPONSE, body, CW_CHALLENGE_BODY_SIZE), CW_OK);
    assert_int_equal(rig_stats(&rig).clients, 1);
    rig_stop(&rig);
}

/* Every bit of every kind of packet, in the state in which the real one is awaited. */
static void altered_packets(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 1e9;
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    int types_seen = 0;
    for (int step = 0; step < 6; step++) {
        uint8_t up[CW_SECURE_MAX], down[CW_SECURE_MAX];
        struct cw_address to;
        rig.now += 0.2;
        cw_client_update(client, rig.now);
        if (step == 4) {
            cw_client_send(client, "payload", 7);
            cw_server_send(rig.server, 0, "payload", 7);
        }
        if (step == 5)
            cw_client_disconnect(client);
        const size_t up_size = cw_client_transmit(client, NULL, up, sizeof(up), rig.now);
        types_seen |= 1 << (up[0] & 15);
        for (size_t bit = 0; bit < 8 * up_size; bit++) {
            up[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(rig_give(&rig, &at, up, up_size), CW_OK);
            up[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut < up_size; cut++)
            assert_int_not_equal(rig_give(&rig, &at, up, cut), CW_OK);
        assert_int_equal(rig_give(&rig, &at, up, up_size), CW_OK);
        cw_server_update(rig.server, rig.now);
        const size_t down_size = cw_server_transmit(rig.server, &to, down, sizeof(down), rig.now);
        if (down_size > 0) {
            types_seen |= 1 << (down[0] & 15);
            for (size_t bit = 0; bit < 8 * down_size; bit++) {
                down[bit / 8] ^= (uint8_t)(1u << bit % 8);
                uint8_t *exact = netcode_exact(down, down_size);
                assert_int_not_equal(cw_client_receive(client, NULL, exact, down_size, rig.now),
                                     CW_OK);
                free(exact);
                down[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            assert_int_equal(cw_client_receive(client, NULL, down, down_size, rig.now), CW_OK);
        }
        rig_drain(&rig, client);
    }
    assert_int_equal(types_seen, 1 << CW_SECURE_REQUEST | 1 << CW_SECURE_CHALLENGE |
                                     1 << CW_SECURE_RESPONSE | 1 << CW_SECURE_KEEP_ALIVE |
                                     1 << CW_SECURE_PAYLOAD | 1 << CW_SECURE_DISCONNECT);
    cw_client_destroy(client);
    rig_stop(&rig);
}

/* Somebody on the way alters, replays, reorders, truncates and drops. Whatever comes out at the
   ends went in at the other, and once. */
static void man_in_the_middle(void **state)
{
    (void)state;
    enum { TICKS = 3000, SENT = 8192 };
    static uint8_t up_seen[SENT], down_seen[SENT];
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    struct cw_client *client = rig_client(&rig, 1);
    uint32_t up_sent = 0, down_sent = 0;
    up_tape.count = down_tape.count = 0;
    uint64_t dice_seed = 12345;
    for (int tick = 0; tick < TICKS; tick++) {
        rig.now += 1.0 / 60;
        cw_client_update(client, rig.now);
        cw_server_update(rig.server, rig.now);
        uint32_t message[8];
        if (cw_client_state(client) == CW_CLIENT_CONNECTED) {
            for (int i = 0; i < 8; i++)
                message[i] = up_sent;
            if (cw_client_send(client, message, sizeof(message)) == CW_OK)
                up_sent++;
        }
        struct cw_server_client about;
        if (cw_server_client(rig.server, 0, &about) && about.confirmed) {
            for (int i = 0; i < 8; i++)
                message[i] = down_sent;
            if (cw_server_send(rig.server, 0, message, sizeof(message)) == CW_OK)
                down_sent++;
        }
        for (int way = 0; way < 2; way++) {
            struct tape *tape = way ? &down_tape : &up_tape;
            uint8_t datagram[CW_SECURE_MAX];
            struct cw_address to;
            size_t size;
            while ((size = way ? cw_server_transmit(rig.server, &to, datagram, sizeof(datagram),
                                                    rig.now)
                               : cw_client_transmit(client, NULL, datagram, sizeof(datagram),
                                                    rig.now)) > 0)
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
                    way ? cw_client_receive(client, NULL, exact, size, rig.now)
                        : cw_server_receive(rig.server, &at, exact, size, rig.now);
                free(exact);
                if (altered)
                    assert_int_not_equal(error, CW_OK);
                struct cw_server_event up;
                while (cw_server_next(rig.server, &up)) {
                    assert_int_not_equal(up.type, CW_SERVER_EVENT_DISCONNECTED);
                    if (up.type != CW_SERVER_EVENT_PAYLOAD)
                        continue;
                    assert_int_equal(up.size, sizeof(message));
                    memcpy(message, up.payload, sizeof(message));
                    for (int k = 1; k < 8; k++)
                        assert_int_equal(message[k], message[0]);
                    assert_true(message[0] < up_sent);
                    assert_int_equal(up_seen[message[0]]++, 0);
                }
                struct cw_client_event down;
                while (cw_client_next(client, &down)) {
                    assert_int_not_equal(down.type, CW_CLIENT_EVENT_DISCONNECTED);
                    if (down.type != CW_CLIENT_EVENT_PAYLOAD)
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
    cw_client_destroy(client);
    rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replayed_packets),
        cmocka_unit_test(token_from_another_address),
        cmocka_unit_test(token_after_restart),
        cmocka_unit_test(token_after_restart_with_a_new_key),
        cmocka_unit_test(token_raced_from_two_addresses),
        cmocka_unit_test(place_taken_in_the_frame_of_the_timeout),
        cmocka_unit_test(challenge_of_somebody_else),
        cmocka_unit_test(altered_packets),
        cmocka_unit_test(man_in_the_middle),
    };
    return cmocka_run_group_tests_name("server_attacks", tests, NULL, NULL);
}
