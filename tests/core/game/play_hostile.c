/* Bodies that no end of a game has written: they are read within their size, and either refused or
   taken as what they say. */
#include "play_rig.h"

#include <stdlib.h>

enum end { CLIENT, SERVER };

/* Hands bytes to an end in memory of exactly their size, for the sanitizer. */
static enum cw_error hand(struct play *play, enum end end, const uint8_t *data, size_t size)
{
    uint8_t *const exact = malloc(size + 1);
    memcpy(exact + 1, data, size);
    const enum cw_error error =
        end == CLIENT
            ? cw_game_client_receive(play->players[0].client, exact + 1, size,
                                     play_client_clock(play, 0))
            : cw_game_server_receive(play->server, 0, exact + 1, size, play_server_clock(play));
    free(exact);
    return error;
}

/* Plays on without paths, so that the newest bodies of both ends are at hand. */
static size_t next_body(struct play *play, enum end to, uint8_t *body)
{
    size_t size = 0;
    for (int i = 0; i < 60 && size == 0; i++) {
        play->now += 1 / 60.0;
        if (to == CLIENT) {
            play_ticks(play);
            size = cw_game_server_transmit(play->server, 0, body, CW_GAME_BODY_SIZE,
                                           play_server_clock(play));
        } else {
            struct cw_game_turn turn;
            struct cw_game_client *const client = play->players[0].client;
            cw_game_client_update(client, play_client_clock(play, 0));
            while (cw_game_client_next_turn(client, &turn))
                if (turn.type == CW_GAME_TURN_INPUT)
                    ((struct play_keys *)turn.input)->right = (float)(i % 3) / 4;
            size = cw_game_client_transmit(client, body, CW_GAME_BODY_SIZE,
                                           play_client_clock(play, 0));
        }
    }
    assert_true(size > 0);
    return size;
}

static struct play *started(uint64_t seed)
{
    struct play_config config = play_config();
    config.seed = seed;
    config.max_group = 4;
    config.shots_per_second = 60;
    struct play *const play = play_start(&config);
    play_run(play, 3);
    play->config.shots_per_second = 0; /* the last input has one, which the server repeats */
    return play;
}

static uint64_t malformed(const struct play *play, enum end end)
{
    struct cw_game_server_stats stats;
    cw_game_server_get_stats(play->server, &stats);
    return end == SERVER ? stats.malformed : play_stats(play, 0).malformed;
}

/* The game of the others goes on, whatever has arrived, and with a new connection that of player 0
   does too. */
static void expect_game(struct play *play)
{
    cw_game_client_reset(play->players[0].client);
    memset(play->players[0].heard, 0, sizeof play->players[0].heard);
    assert_ok(cw_game_server_join(play->server, 0, 0));
    play->next_turn = play->now;
    for (uint32_t i = 0; i < play->config.players; i++)
        play->players[i].next_frame = play->now;
    play_run(play, 20);
    play_measure(play);
    const struct cw_prediction_stats before[] = {play_stats(play, 0).prediction,
                                                 play_stats(play, 1).prediction};
    play_run(play, 3);
    for (uint32_t id = 0; id < 2; id++) {
        const struct cw_prediction_stats after = play_stats(play, id).prediction;
        assert_true(after.compared > before[id].compared + 80);
        assert_int_equal(after.corrections, before[id].corrections);
    }
}

TEST(every_part_of_a_body_is_refused)
{
    struct play *const play = started(1);
    for (enum end end = CLIENT; end <= SERVER; end++) {
        uint8_t body[CW_GAME_BODY_SIZE];
        const size_t size = next_body(play, end, body);
        uint64_t refused = 0;
        for (size_t part = 0; part < size; part++) {
            const enum cw_error error = hand(play, end, body, part);
            refused += error == CW_ERROR_MALFORMED;
        }
        assert_true(refused >= size - 2); /* a body without inputs is a body too */
        assert_int_equal(malformed(play, end), refused);
        assert_ok(hand(play, end, body, size));
    }
    expect_game(play);
}

TEST(noise_does_no_harm)
{
    struct play *const play = started(2);
    uint8_t body[CW_GAME_BODY_SIZE];
    for (enum end end = CLIENT; end <= SERVER; end++)
        for (int i = 0; i < 20000; i++) {
            const size_t size = cw_prng_below(&play->random, 60);
            for (size_t at = 0; at < size; at++)
                body[at] = (uint8_t)cw_prng_bits(&play->random);
            if (size > 0 && i % 2 == 0)
                body[0] &= 15;
            hand(play, end, body, size);
        }
    assert_true(malformed(play, CLIENT) > 10000 && malformed(play, SERVER) > 10000);
    expect_game(play);
}

TEST(changed_bodies_do_no_harm)
{
    struct play *const play = started(3);
    for (int i = 0; i < 3000; i++) {
        const enum end end = i % 2 ? SERVER : CLIENT;
        uint8_t body[CW_GAME_BODY_SIZE];
        const size_t size = next_body(play, end, body);
        for (uint32_t flips = 1 + cw_prng_below(&play->random, 3); flips > 0; flips--)
            body[cw_prng_below(&play->random, (uint32_t)size)] ^=
                (uint8_t)(1u << cw_prng_below(&play->random, 8));
        hand(play, end, body, size);
    }
    expect_game(play);
}

TEST(bodies_for_an_empty_seat_are_refused)
{
    struct play *const play = started(4);
    uint8_t body[CW_GAME_BODY_SIZE];
    struct play_keys keys;
    struct cw_game_entity seen;
    const size_t size = next_body(play, SERVER, body);
    cw_game_server_leave(play->server, 0);
    assert_int_equal(hand(play, SERVER, body, size), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(malformed(play, SERVER), 0);
    assert_int_equal(
        cw_game_server_transmit(play->server, 0, body, sizeof body, play_server_clock(play)), 0);
    assert_false(cw_game_server_input(play->server, 0, &keys));
    assert_false(cw_game_server_seen(play->server, 0, 1, &seen));
    assert_int_equal(cw_game_server_join(play->server, PLAY_MOST, 0), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_game_server_join(play->server, 0, 16), CW_ERROR_INVALID_ARGUMENT);
}
