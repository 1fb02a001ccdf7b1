/* Tests of what a game counts of its traffic, with a peer that does whatever the test wants. */
#include "lab/game.h"

#include "fixture.h"

#include <stdlib.h>

/* A peer that takes a number of items, and keeps the ids of the last ones. */
struct peer {
    uint32_t room;
    uint32_t offered;
    struct cw_lab_item newest;
};

static bool take(void *context, const struct cw_lab_item *item, double now)
{
    struct peer *peer = context;
    (void)now;
    peer->offered++;
    peer->newest = *item;
    if (peer->room == 0)
        return false;
    peer->room--;
    return true;
}

static const struct cw_lab_peer_type type = {.name = "test", .send = take};

static struct cw_lab_game *make(void)
{
    struct cw_lab_game *game = calloc(1, sizeof *game);
    assert_non_null(game);
    return game;
}

static bool settle(struct cw_lab_game *game, enum cw_lab_traffic traffic, uint32_t id, bool lost)
{
    double seconds;
    return cw_lab_game_settle(game, &(struct cw_lab_arrival){{traffic, id, 64}, lost}, 2, &seconds);
}

static struct cw_lab_game_stats stats_of(const struct cw_lab_game *game,
                                         enum cw_lab_traffic traffic)
{
    struct cw_lab_game_stats stats;
    cw_lab_game_get_stats(game, traffic, 2, &stats);
    return stats;
}

TEST(messages_wait_for_room)
{
    struct cw_lab_game *game = make();
    struct peer peer = {.room = 1};
    for (int i = 0; i < 3; i++)
        cw_lab_game_send(game, CW_LAB_MESSAGE, true, &type, &peer, i);
    assert_int_equal(stats_of(game, CW_LAB_MESSAGE).sent, 3);
    assert_int_equal(peer.newest.id, 1);
    peer.room = 5;
    cw_lab_game_send(game, CW_LAB_MESSAGE, false, &type, &peer, 3);
    assert_int_equal(peer.newest.id, 2);
    assert_int_equal(peer.room, 3);
    assert_true(stats_of(game, CW_LAB_MESSAGE).oldest_seconds == 2);
    free(game);
}

TEST(a_state_that_is_refused_is_gone)
{
    struct cw_lab_game *game = make();
    struct peer peer = {0};
    cw_lab_game_send(game, CW_LAB_STATE, true, &type, &peer, 0);
    peer.room = 5;
    cw_lab_game_send(game, CW_LAB_STATE, true, &type, &peer, 1);
    assert_int_equal(peer.newest.id, 0); /* the number of the one that was never sent */
    assert_int_equal(peer.room, 4);
    assert_int_equal(stats_of(game, CW_LAB_STATE).sent, 2);
    assert_int_equal(stats_of(game, CW_LAB_STATE).refused, 1);
    assert_true(settle(game, CW_LAB_STATE, 0, false));
    assert_int_equal(stats_of(game, CW_LAB_STATE).delivered, 1);
    free(game);
}

/* A stream may keep states for minutes, and refuse thousands meanwhile. */
TEST(states_that_wait_are_not_forgotten)
{
    struct cw_lab_game *game = make();
    struct peer peer = {.room = 2};
    for (int i = 0; i < CW_LAB_GAME_REMEMBERED + 7; i++)
        cw_lab_game_send(game, CW_LAB_STATE, true, &type, &peer, 0);
    assert_true(settle(game, CW_LAB_STATE, 0, false));
    assert_true(settle(game, CW_LAB_STATE, 1, false));
    assert_int_equal(stats_of(game, CW_LAB_STATE).faults, 0);
    free(game);
}

TEST(a_block_follows_a_block)
{
    struct cw_lab_game *game = make();
    struct peer peer = {.room = 10};
    for (int i = 0; i < 3; i++)
        cw_lab_game_send(game, CW_LAB_BLOCK, true, &type, &peer, i);
    assert_int_equal(peer.offered, 1);
    assert_int_equal(peer.newest.size, CW_LAB_BLOCK_SIZE);
    assert_true(settle(game, CW_LAB_BLOCK, 0, false));
    cw_lab_game_send(game, CW_LAB_BLOCK, true, &type, &peer, 3);
    assert_int_equal(peer.newest.id, 1);
    free(game);
}

TEST(too_many_messages_are_not_made)
{
    struct cw_lab_game *game = make();
    struct peer peer = {0};
    for (int i = 0; i < CW_LAB_GAME_REMEMBERED + 7; i++)
        cw_lab_game_send(game, CW_LAB_MESSAGE, true, &type, &peer, 0);
    assert_int_equal(stats_of(game, CW_LAB_MESSAGE).sent, CW_LAB_GAME_REMEMBERED);
    assert_int_equal(stats_of(game, CW_LAB_MESSAGE).refused, 7);
    free(game);
}

TEST(faults_of_a_protocol_are_counted)
{
    struct cw_lab_game *game = make();
    struct peer peer = {.room = 100};
    for (int i = 0; i < 10; i++) {
        cw_lab_game_send(game, CW_LAB_MESSAGE, true, &type, &peer, 0);
        cw_lab_game_send(game, CW_LAB_STATE, true, &type, &peer, 0);
    }
    assert_true(settle(game, CW_LAB_MESSAGE, 0, false));
    assert_true(settle(game, CW_LAB_MESSAGE, 1, true));
    assert_false(settle(game, CW_LAB_MESSAGE, 1, false));  /* comes twice */
    assert_false(settle(game, CW_LAB_MESSAGE, 3, false));  /* comes before 2 */
    assert_false(settle(game, CW_LAB_MESSAGE, 10, false)); /* was never sent */
    assert_true(settle(game, CW_LAB_MESSAGE, 2, false));
    struct cw_lab_game_stats stats = stats_of(game, CW_LAB_MESSAGE);
    assert_int_equal(stats.faults, 3);
    assert_int_equal(stats.delivered, 2);
    assert_int_equal(stats.lost, 1);
    assert_true(stats.mean_seconds == 2);

    assert_true(settle(game, CW_LAB_STATE, 5, false));
    assert_true(settle(game, CW_LAB_STATE, 3, false));
    assert_false(settle(game, CW_LAB_STATE, 3, false));
    assert_int_equal(stats_of(game, CW_LAB_STATE).faults, 1);
    cw_lab_game_restart_stats(game);
    stats = stats_of(game, CW_LAB_MESSAGE);
    assert_int_equal(stats.faults + stats.delivered + stats.sent, 0);
    assert_true(stats.oldest_seconds == 2);
    free(game);
}
