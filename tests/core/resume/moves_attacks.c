/* Attacks of somebody who has seen a client move, or is a client: to move a slot that is not
   theirs, to keep one from moving, to make the server send more than it is sent. */
#include "counted.h"
#include "secure_rig.h"

/* A client that is connected at an address of its own, with its token. */
struct player {
    struct cw_netcode_client *client;
    struct cw_address at;
    struct cw_token token;
    uint32_t slot;
};

static struct player connect_player(struct rig *rig, uint32_t number)
{
    struct player player = {.at = rig_client_address(number)};
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    uint8_t token[CW_TOKEN_SIZE];
    rig_token(rig, token, number);
    assert_ok(cw_token_read(token, sizeof token, &player.token));
    player.client = rig_client_with(rig, &config, token);
    player.slot = rig_connect(rig, player.client, &player.at);
    rig_down(rig, player.client, &player.at);
    return player;
}

static void expect_at(struct rig *rig, const struct player *player, const struct cw_address *at)
{
    struct cw_server_client_info about;
    assert_true(cw_netcode_server_client(rig->server, player->slot, &about));
    assert_true(cw_address_equal(&about.address, at));
}

static enum cw_error give_request(struct rig *rig, const struct player *player,
                                  const struct cw_address *from)
{
    uint8_t request[CW_REQUEST_SIZE];
    cw_request_write(&player->token, request);
    return rig_give(rig, from, request, sizeof request);
}

/* Lets a client begin to move and gives its response, which nobody has got yet. */
static size_t response_of(struct rig *rig, struct player *player, const struct cw_address *from,
                          uint8_t out[CW_SECURE_MAX])
{
    rig->now += 0.2;
    cw_netcode_client_update(player->client, rig->now);
    assert_ok(cw_netcode_client_move(player->client, rig->now));
    rig_exchange(rig, player->client, from);
    const size_t size =
        cw_netcode_client_transmit(player->client, out, CW_SECURE_MAX, rig->now, NULL);
    assert_int_equal(out[0], 8 << 4 | CW_SECURE_RESPONSE);
    return size;
}

/* The body of the challenge for a move that this request gets. */
static void challenge_of(struct rig *rig, const struct player *player,
                         const struct cw_address *from, uint8_t body[CW_PAYLOAD_MAX])
{
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_secure_packet packet;
    struct cw_address to;
    assert_ok(give_request(rig, player, from));
    const size_t size =
        cw_netcode_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to);
    assert_true(cw_address_equal(&to, from));
    assert_ok(cw_secure_read(datagram, size,
                             &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                     .direction = CW_TO_CLIENT,
                                                     .bytes = player->token.server_to_client_key},
                             NULL, body, &packet));
}

static enum cw_error give_response(struct rig *rig, const struct player *keys, uint64_t sequence,
                                   const uint8_t *body, const struct cw_address *from)
{
    uint8_t datagram[CW_SECURE_MAX];
    const size_t size =
        cw_secure_write(&(struct cw_secure_packet){.type = CW_SECURE_RESPONSE,
                                                   .sequence = sequence,
                                                   .body = body,
                                                   .size = CW_CHALLENGE_BODY_SIZE},
                        &(struct cw_secure_key){.protocol_id = RIG_PROTOCOL,
                                                .bytes = keys->token.client_to_server_key},
                        datagram, sizeof datagram);
    return rig_give(rig, from, datagram, size);
}

/* A request that somebody has seen, from their own address: a challenge that is smaller, and that
   is all, however long ago it was and whether the token has expired or not. */
TEST(a_stolen_request)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1);
    const struct cw_address thief = rig_client_address(9);
    for (int step = 0; step < 10; step++) {
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        assert_ok(give_request(rig, &player, &thief));
        const size_t size =
            cw_netcode_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to);
        assert_in_range(size, 1, CW_REQUEST_SIZE * 4 / 10);
        assert_true(cw_address_equal(&to, &thief));
        assert_true(rig_silent(rig));
        assert_int_equal(give_request(rig, &player, &player.at), CW_ERROR_CONNECTED);
        assert_true(rig_silent(rig));
        expect_at(rig, &player, &player.at);
        for (int tick = 0; tick < 600; tick++)
            rig_tick(rig, player.client, &player.at);
    }
    assert_int_equal(rig_stats(rig).pending, 0);
    assert_int_equal(rig_stats(rig).moves, 0);

    /* After the connection it is a used token, or an old one. */
    cw_netcode_server_disconnect_all(rig->server);
    assert_int_equal(give_request(rig, &player, &thief), CW_ERROR_TOKEN_EXPIRED);
    rig_down(rig, NULL, NULL);
    rig_drain(rig, NULL);
    struct player late = connect_player(rig, 2);
    cw_netcode_server_disconnect_all(rig->server);
    rig_down(rig, NULL, NULL);
    assert_int_equal(give_request(rig, &late, &thief), CW_ERROR_TOKEN_USED);
    assert_true(rig_silent(rig));
}

/* One byte of the request is another. Without the token's MAC there is no answer; with it there is
   at most the challenge that the whole request would get, and nothing moves. */
TEST(an_altered_request)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.requests_per_second = 1e6;
    rig_start(&rig);
    struct player player = connect_player(&rig, 1);
    const struct cw_address elsewhere = rig_client_address(9);
    for (size_t i = 0; i < CW_REQUEST_SIZE; i++) {
        uint8_t request[CW_REQUEST_SIZE];
        cw_request_write(&player.token, request);
        request[i] ^= 1;
        const enum cw_error error = rig_give(&rig, &elsewhere, request, sizeof request);
        assert_int_equal(rig_down(&rig, NULL, NULL), error == CW_OK);
        assert_true(error != CW_OK || (i >= 22 && i < CW_REQUEST_SIZE - CW_MAC_BYTES));
    }
    expect_at(&rig, &player, &player.at);
}

/* A response that somebody has seen: from their own address, before the client's and after it; from
   the client's address, when the client has gone on; and from there after a long time. */
TEST(a_stolen_response)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1);
    const struct cw_address one = rig_client_address(2), two = rig_client_address(3),
                            thief = rig_client_address(9);
    uint8_t first[CW_SECURE_MAX], second[CW_SECURE_MAX], third[CW_SECURE_MAX];
    size_t size = response_of(rig, &player, &one, first);
    assert_int_equal(rig_give(rig, &thief, first, size), CW_ERROR_NOT_AUTHENTIC);
    assert_ok(rig_give(rig, &one, first, size));
    expect_at(rig, &player, &one);
    assert_int_equal(rig_give(rig, &thief, first, size), CW_ERROR_NOT_AUTHENTIC);

    size = response_of(rig, &player, &two, second);
    assert_ok(rig_give(rig, &two, second, size));
    expect_at(rig, &player, &two);
    assert_int_equal(rig_give(rig, &one, first, size), CW_ERROR_STALE);
    expect_at(rig, &player, &two);

    /* The client has gone back to where it was and sends from there: its slot never moved. */
    size = response_of(rig, &player, &one, third);
    for (int tick = 0; tick < 310; tick++)
        rig_tick(rig, player.client, &two);
    assert_int_equal(rig_give(rig, &one, third, size), CW_ERROR_STALE);
    expect_at(rig, &player, &two);
    assert_int_equal(rig_stats(rig).moves, 2);
}

/* A response keeps the slot, and again and again it does not. */
TEST(a_repeated_response_is_no_life)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1);
    const struct cw_address there = rig_client_address(2);
    uint8_t response[CW_SECURE_MAX];
    rig->now += 3;
    const size_t size = response_of(rig, &player, &there, response);
    for (int step = 0; step < 48; step++) {
        assert_ok(rig_give(rig, &there, response, size));
        rig->now += 0.1;
        cw_netcode_server_update(rig->server, rig->now);
        rig_down(rig, NULL, NULL);
    }
    assert_int_equal(rig_stats(rig).clients, 1);
    rig->now += 0.3;
    cw_netcode_server_update(rig->server, rig->now);
    assert_int_equal(rig_stats(rig).clients, 0);
    assert_int_equal(rig_give(rig, &there, response, size), CW_ERROR_NOT_CONNECTED);
    rig_drain(rig, NULL);
}

/* A player with keys of their own tries to move another's slot, with each mixture of keys, slot and
   challenge. */
TEST(somebody_elses_slot)
{
    struct rig *rig = rig_open();
    struct player victim = connect_player(rig, 1), thief = connect_player(rig, 2);
    const struct cw_address there = rig_client_address(9);
    const uint64_t moves = CW_SEQUENCE_OUTSIDE_SLOT | 5 << CW_MOVE_SLOT_BITS;
    uint8_t of_victim[CW_PAYLOAD_MAX], of_thief[CW_PAYLOAD_MAX];
    challenge_of(rig, &victim, &there, of_victim);
    challenge_of(rig, &thief, &there, of_thief);
    assert_int_equal(give_response(rig, &thief, moves | victim.slot, of_victim, &there),
                     CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(give_response(rig, &thief, moves | victim.slot, of_thief, &there),
                     CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(give_response(rig, &thief, moves | thief.slot, of_victim, &there),
                     CW_ERROR_NOT_AUTHENTIC);
    for (uint32_t slot = 2; slot < 1u << CW_MOVE_SLOT_BITS; slot++)
        assert_int_equal(give_response(rig, &thief, moves | slot, of_thief, &there),
                         CW_ERROR_NOT_CONNECTED);
    /* Without the mark in its number it is the response of nobody. */
    assert_int_equal(
        give_response(rig, &thief, 5 << CW_MOVE_SLOT_BITS | thief.slot, of_thief, &there),
        CW_ERROR_NOT_CONNECTED);
    of_thief[CW_CHALLENGE_BODY_SIZE - 1] ^= 1;
    assert_int_equal(give_response(rig, &thief, moves | thief.slot, of_thief, &there),
                     CW_ERROR_NOT_AUTHENTIC);
    of_thief[CW_CHALLENGE_BODY_SIZE - 1] ^= 1;

    expect_at(rig, &victim, &victim.at);
    expect_at(rig, &thief, &thief.at);
    assert_int_equal(rig_stats(rig).moves, 0);
    assert_ok(give_response(rig, &thief, moves | thief.slot, of_thief, &there));
    expect_at(rig, &thief, &there);
}

/* A challenge for a move connects nobody, and one for a connection moves nobody, even when the
   user data of its token look like what a challenge for a move holds. */
TEST(the_other_kind_of_challenge)
{
    struct rig *rig = rig_open();
    struct player old = connect_player(rig, 1), newer = {.at = rig_client_address(2)};
    const struct {
        struct cw_address address;
        double deadline;
    } proof = {newer.at, 1e9};
    rig->now += 1;
    struct cw_token_grant grant = rig_grant(rig, 1);
    memcpy(grant.user_data, &proof, sizeof proof);
    uint8_t token[CW_TOKEN_SIZE], moves[CW_PAYLOAD_MAX], connects[CW_PAYLOAD_MAX];
    assert_ok(cw_token_generate(&grant, rig_key, token));
    assert_ok(cw_token_read(token, sizeof token, &newer.token));
    challenge_of(rig, &newer, &newer.at, connects);
    challenge_of(rig, &old, &newer.at, moves);
    assert_int_equal(give_response(rig, &newer, 0, moves, &newer.at), CW_ERROR_NOT_AUTHENTIC);
    assert_int_equal(
        give_response(rig, &old, CW_SEQUENCE_OUTSIDE_SLOT | old.slot, connects, &newer.at),
        CW_ERROR_NOT_AUTHENTIC);
    expect_at(rig, &old, &old.at);
    assert_ok(give_response(rig, &newer, 0, connects, &newer.at));
    assert_int_equal(rig_stats(rig).takeovers, 1);
}

/* The connection ends before its challenge is sent: nobody gets one. */
TEST(a_slot_that_ends_before_the_challenge)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1);
    const struct cw_address there = rig_client_address(9);
    assert_ok(give_request(rig, &player, &there));
    cw_netcode_server_disconnect_all(rig->server);
    uint8_t datagram[CW_SECURE_MAX];
    struct cw_address to;
    while (cw_netcode_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to) > 0)
        assert_true(cw_address_equal(&to, &player.at));
}

/* An ordinary keep-alive whose number of slots happens to be the challenge's number. */
TEST(a_keep_alive_is_no_confirmation)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1);
    const struct cw_address there = rig_client_address(2);
    uint8_t response[CW_SECURE_MAX];
    for (uint32_t n = 0; n <= 2 * rig->config.max_clients; n++) {
        response_of(rig, &player, &there, response);
        cw_netcode_server_update(rig->server, rig->now);
        assert_int_equal(rig_down(rig, player.client, &player.at), 1);
        assert_true(cw_netcode_client_moving(player.client));
    }
}

/* Forged responses are decrypted no more often than requests. */
TEST(forged_responses)
{
    struct rig *rig = rig_open();
    connect_player(rig, 1);
    const struct cw_address there = rig_client_address(2);
    const uint8_t forged[333] = {8 << 4 | CW_SECURE_RESPONSE, [8] = 0x80};
    uint32_t looked_at = 0;
    for (int i = 0; i < 2000; i++)
        looked_at += rig_give(rig, &there, forged, sizeof forged) == CW_ERROR_NOT_AUTHENTIC;
    assert_in_range(looked_at, 400, 500); /* a tenth of a second's */
    assert_int_equal(cw_netcode_server_dropped(rig->server, CW_ERROR_TOO_MANY_REQUESTS),
                     2000 - looked_at);
}

/* To where another client is, or comes to be before the response. */
TEST(an_address_that_is_taken)
{
    struct rig *rig = rig_open();
    struct player player = connect_player(rig, 1), other = connect_player(rig, 2);
    const struct cw_address there = rig_client_address(9);
    assert_int_equal(give_request(rig, &player, &other.at), CW_ERROR_CONNECTED);
    uint8_t response[CW_SECURE_MAX], others[CW_SECURE_MAX];
    const size_t size = response_of(rig, &player, &there, response);
    assert_int_equal(response_of(rig, &other, &there, others), size);
    assert_ok(rig_give(rig, &there, others, size));
    assert_int_equal(rig_give(rig, &there, response, size), CW_ERROR_CONNECTED);
    expect_at(rig, &other, &there);
    expect_at(rig, &player, &player.at);
}

/* Clients that are connecting and clients that move take nothing from each other; one may even move
   to where another has begun to connect. */
TEST(pending_clients)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.max_pending = 1;
    rig_start(&rig);
    struct player player = connect_player(&rig, 1);
    const struct cw_address there = rig_client_address(9);
    struct cw_netcode_client *pending = rig_client(&rig, 5);
    rig_challenge(&rig, pending, &there);
    assert_int_equal(rig_stats(&rig).pending, 1);
    uint8_t response[CW_SECURE_MAX];
    const size_t size = response_of(&rig, &player, &there, response);
    assert_int_equal(rig_stats(&rig).pending, 1);
    assert_ok(rig_give(&rig, &there, response, size));
    expect_at(&rig, &player, &there);
    rig_up(&rig, pending, &there);
    assert_int_equal(rig_stats(&rig).clients, 1);
    expect_at(&rig, &player, &there);
}

/* 10,000 replays per second of a request, twice as many as are looked at, from as many addresses,
   and as many forged responses: its client still moves, others notice nothing, and less comes out
   than went in. */
TEST(a_storm_of_moves)
{
    enum { TICKS = 600, PER_TICK = 167 };
    struct rig rig;
    rig_init(&rig);
    static struct counted counted;
    counted = (struct counted){0};
    rig.config.allocator = counted_allocator(&counted);
    rig_start(&rig);
    struct player player = connect_player(&rig, 1), other = connect_player(&rig, 2);
    uint8_t request[CW_REQUEST_SIZE], forged[CW_SECURE_MAX] = {8 << 4 | CW_SECURE_RESPONSE};
    cw_request_write(&player.token, request);
    uint32_t place = 9, moves = 0;
    uint64_t bytes_in = 0, bytes_out = 0;
    for (int tick = 0; tick < TICKS; tick++) {
        rig.now += 1.0 / 60;
        uint8_t turn;
        netcode_fill(&rig.seed, &turn, 1);
        for (int i = 0; i < PER_TICK; i++) {
            uint32_t source;
            netcode_fill(&rig.seed, (uint8_t *)&source, sizeof source);
            struct cw_address from = rig_client_address(100 + source % 60000);
            from.bytes[1] = 2;
            netcode_fill(&rig.seed, forged + 1, 64);
            forged[1] = (uint8_t)player.slot;
            forged[2] = 0;
            forged[8] |= 0x80;
            cw_netcode_server_receive(rig.server, &from, i % 2 ? request : forged,
                                      i % 2 ? sizeof request : 333, rig.now);
            bytes_in += i % 2 ? sizeof request : 333;
            if (i != turn % PER_TICK)
                continue;
            cw_netcode_client_update(player.client, rig.now);
            if (!cw_netcode_client_moving(player.client)) {
                moves++;
                player.at = rig_client_address(++place);
                assert_ok(cw_netcode_client_move(player.client, rig.now));
            }
            rig_up(&rig, player.client, &player.at);
        }
        cw_netcode_server_update(rig.server, rig.now);
        cw_netcode_client_update(other.client, rig.now);
        assert_ok(cw_netcode_client_send(other.client, request, 8));
        rig_up(&rig, other.client, &other.at);
        assert_int_equal(rig_drain(&rig, NULL), 1);
        uint8_t datagram[CW_SECURE_MAX];
        struct cw_address to;
        size_t size;
        while ((size = cw_netcode_server_transmit(rig.server, datagram, sizeof datagram, rig.now,
                                                  &to)) > 0) {
            if (to.bytes[1] == 2)
                bytes_out += size;
            if (cw_address_equal(&to, &player.at))
                cw_netcode_client_receive(player.client, NULL, datagram, size, rig.now);
            if (cw_address_equal(&to, &other.at))
                cw_netcode_client_receive(other.client, NULL, datagram, size, rig.now);
        }
    }
    printf("%u moves, amplification %.3f\n", moves - 1, (double)bytes_out / (double)bytes_in);
    assert_in_range(moves, 10, TICKS);
    assert_true(bytes_out > 0);
    assert_true((double)bytes_out <= 0.4 * (double)bytes_in);
    assert_int_equal(cw_netcode_client_state(player.client), CW_CLIENT_CONNECTED);
    assert_int_equal(cw_netcode_client_state(other.client), CW_CLIENT_CONNECTED);
    assert_true(rig_stats(&rig).moves >= moves - 1);
    assert_int_equal(rig_stats(&rig).clients, 2);
    assert_int_equal(rig_stats(&rig).pending, 0);
    assert_int_equal(counted.allocations, 1);
}

/* An old challenge is none, be it of the connection or of a move: a client that is moving waits for
   its own. */
TEST(a_replayed_challenge)
{
    struct rig *rig = rig_open();
    struct player player = {.client = rig_client(rig, 1), .at = rig_client_address(1)};
    const struct cw_address there = rig_client_address(2);
    uint8_t first[CW_SECURE_MAX], old[CW_SECURE_MAX], out[CW_SECURE_MAX];
    struct cw_address to;
    rig_up(rig, player.client, &player.at);
    size_t size = cw_netcode_server_transmit(rig->server, first, sizeof first, rig->now, &to);
    assert_ok(cw_netcode_client_receive(player.client, NULL, first, size, rig->now));
    player.slot = rig_connect(rig, player.client, &player.at);
    rig_down(rig, player.client, &player.at);
    assert_ok(cw_netcode_client_move(player.client, rig->now));
    assert_int_equal(cw_netcode_client_receive(player.client, NULL, first, size, rig->now),
                     CW_ERROR_UNEXPECTED);
    rig_up(rig, player.client, &there);
    size = cw_netcode_server_transmit(rig->server, old, sizeof old, rig->now, &to);
    const size_t length = response_of(rig, &player, &there, out);
    assert_ok(rig_give(rig, &there, out, length));
    rig_down(rig, player.client, &there);
    assert_false(cw_netcode_client_moving(player.client));
    assert_ok(cw_netcode_client_move(player.client, rig->now));
    assert_int_equal(cw_netcode_client_receive(player.client, NULL, old, size, rig->now),
                     CW_ERROR_UNEXPECTED);
    assert_int_equal(cw_netcode_client_transmit(player.client, out, sizeof out, rig->now, NULL),
                     CW_REQUEST_SIZE);
}

/* Somebody else connects with the token of a connected client. The server takes them for that
   client on another path. An answer would be encrypted with the same keys and numbers as what the
   client has sent, so there is none. */
TEST(a_token_in_use)
{
    struct rig *rig = rig_open();
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    uint8_t token[CW_TOKEN_SIZE], out[CW_SECURE_MAX];
    rig_token(rig, token, 1);
    const struct cw_address here = rig_client_address(1), there = rig_client_address(2);
    struct cw_netcode_client *first = rig_client_with(rig, &config, token);
    rig_connect(rig, first, &here);
    struct cw_netcode_client *second = rig_client_with(rig, &config, token);
    rig_exchange(rig, second, &there);
    assert_int_equal(cw_netcode_client_state(second), CW_CLIENT_RESPONSE_TIMED_OUT);
    rig->now += 1;
    cw_netcode_client_update(second, rig->now);
    assert_int_equal(cw_netcode_client_transmit(second, out, sizeof out, rig->now, NULL), 0);
    assert_int_equal(cw_netcode_client_state(first), CW_CLIENT_CONNECTED);
}

/* The bytes of the random number from which a server counts its challenges. */
static uint8_t first_challenges;

/* The server draws 8 bytes for this number, and for seeds of hashes, which do not matter here. */
static void fill_for_server(void *seed, uint8_t *bytes, size_t size)
{
    netcode_fill(seed, bytes, size);
    if (size == 8)
        memset(bytes, first_challenges, size);
}

static void start_server(struct rig *rig, uint8_t challenges)
{
    first_challenges = challenges;
    rig->config.random = (struct cw_random){fill_for_server, &rig->seed};
    rig->server = netcode_server_with(&rig->config);
    cw_netcode_server_update(rig->server, rig->now);
}

/* Starts a server with one client, and another server in its place that knows of nobody. */
static struct player connect_and_restart(struct rig *rig, uint8_t challenges_then)
{
    rig_init(rig);
    rig->config.addresses = &rig->address;
    rig->config.max_token_life_seconds = 0; /* it takes those of before its start */
    start_server(rig, 5);
    const struct player player = connect_player(rig, 1);
    start_server(rig, challenges_then);
    return player;
}

/* A client moves to a server that was started anew, whose challenges it takes for newer or for
   older ones than it knows. Neither side begins a connection of which the other does not know, and
   the client ends as with a server that is silent. */
TEST(a_server_that_knows_nothing)
{
    for (uint8_t challenges = 0; challenges <= 10; challenges += 10) {
        struct rig rig;
        struct player player = connect_and_restart(&rig, challenges);
        const struct cw_address there = rig_client_address(2);
        const double timeout = player.token.timeout_seconds, began = rig.now;
        for (double next = began; rig.now < began + timeout - 0.5;) {
            if (rig.now >= next && !cw_netcode_client_moving(player.client)) {
                assert_ok(cw_netcode_client_move(player.client, rig.now));
                next = rig.now + 0.5;
            }
            rig_tick(&rig, player.client, &there);
            assert_int_equal(cw_netcode_client_state(player.client), CW_CLIENT_CONNECTED);
        }
        assert_true(rig_stats(&rig).challenges_sent > 10);
        assert_int_equal(rig_stats(&rig).connections, 0);
        while (rig.now < began + timeout + 0.5)
            rig_tick(&rig, player.client, &there);
        assert_int_equal(cw_netcode_client_state(player.client), CW_CLIENT_TIMED_OUT);

        rig.now += 1;
        connect_player(&rig, 1);
        assert_int_equal(rig_stats(&rig).clients, 1);
    }
}

/* An older client answers such a challenge as one for a move. It does not want a new connection, so
   the server does not begin one. */
TEST(a_move_connects_nobody)
{
    struct rig rig;
    struct player player = connect_and_restart(&rig, 10);
    const struct cw_address there = rig_client_address(2);
    uint8_t body[CW_PAYLOAD_MAX];
    challenge_of(&rig, &player, &there, body);
    for (uint32_t slot = 0; slot < 1u << CW_MOVE_SLOT_BITS; slot++)
        assert_int_equal(
            give_response(&rig, &player, CW_SEQUENCE_OUTSIDE_SLOT | slot, body, &there),
            CW_ERROR_NOT_CONNECTED);
    assert_int_equal(rig_stats(&rig).connections, 0);
    /* The challenge itself is good for whoever does connect. */
    assert_ok(give_response(&rig, &player, 0, body, &there));
    assert_int_equal(rig_stats(&rig).connections, 1);
}

/* Payloads of the application's own: what is due before the challenge is lost, and then they go
   on. The request comes first, whatever else is due. */
TEST(raw_payloads_move)
{
    struct rig *rig = rig_open();
    const struct cw_address at = rig_client_address(1), there = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_connect(rig, client, &at);
    rig_down(rig, client, &at);
    assert_ok(cw_netcode_client_send(client, (const uint8_t *)"lost", 4));
    assert_ok(cw_netcode_client_move(client, rig->now));
    uint8_t datagram[CW_SECURE_MAX];
    assert_int_equal(cw_netcode_client_transmit(client, datagram, sizeof datagram, rig->now, NULL),
                     CW_REQUEST_SIZE);
    assert_int_equal(cw_netcode_client_transmit(client, datagram, sizeof datagram, rig->now, NULL),
                     0);
    cw_netcode_client_move(client, rig->now);
    rig_exchange(rig, client, &there);
    assert_ok(cw_netcode_client_send(client, (const uint8_t *)"kept", 4));
    assert_int_equal(rig_up(rig, client, &there), 2);
    assert_int_equal(rig_drain(rig, NULL), 1);
    assert_ok(cw_netcode_server_send(rig->server, 0, (const uint8_t *)"down", 4));
    assert_int_equal(rig_down(rig, client, &there), 2);
    assert_int_equal(rig_drain(rig, client), 1);
    assert_false(cw_netcode_client_moving(client));
}

/* The confirmation of one move comes when the client has answered the challenge of the next. */
TEST(a_late_confirmation)
{
    struct rig *rig = rig_open();
    const struct cw_address at[3] = {rig_client_address(1), rig_client_address(2),
                                     rig_client_address(3)};
    struct cw_netcode_client *client = rig_client(rig, 1);
    rig_connect(rig, client, &at[0]);
    rig_down(rig, client, &at[0]);
    uint8_t late[CW_SECURE_MAX];
    struct cw_address to;
    assert_ok(cw_netcode_client_move(client, rig->now));
    rig_exchange(rig, client, &at[1]);
    rig_up(rig, client, &at[1]);
    const size_t size = cw_netcode_server_transmit(rig->server, late, sizeof late, rig->now, &to);
    assert_ok(cw_netcode_client_move(client, rig->now));
    rig_exchange(rig, client, &at[2]);
    assert_ok(cw_netcode_client_receive(client, NULL, late, size, rig->now));
    assert_true(cw_netcode_client_moving(client));
    rig_exchange(rig, client, &at[2]);
    assert_false(cw_netcode_client_moving(client));
}
