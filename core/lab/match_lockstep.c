/* Deterministic lockstep. A datagram has the number of its sender, how many moves of each player
   the sender has, and the sender's moves that somebody may lack: the turn of the first, how many,
   and a byte for each. Only this file writes such datagrams, so they need no checks. */
#include "lab/match_internal.h"

#include "base/little_endian.h"

#define WINDOW CW_LAB_LOCKSTEP_WINDOW

static uint32_t least(const uint32_t *counts)
{
    uint32_t count = counts[0];
    for (uint32_t i = 1; i < CW_LAB_PLAYERS; i++)
        count = counts[i] < count ? counts[i] : count;
    return count;
}

void cw_lab_lockstep_begin(struct cw_lab_match *match)
{
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        match->lockstep[i].pitch = cw_lab_pitch_begin();
}

void cw_lab_lockstep_receive(struct cw_lab_match *match, uint32_t player, const uint8_t *data)
{
    struct cw_lab_lockstep *own = &match->lockstep[player];
    const uint32_t sender = (uint32_t)cw_little_endian_get(&data, 1);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        const uint32_t has = (uint32_t)cw_little_endian_get(&data, 4);
        if (i == player && has > own->told[sender])
            own->told[sender] = has;
    }
    uint32_t turn = (uint32_t)cw_little_endian_get(&data, 4);
    const uint32_t end = turn + (uint32_t)cw_little_endian_get(&data, 1);
    for (; turn < end; turn++) {
        const int32_t push = (int32_t)cw_little_endian_get(&data, 1);
        if (turn != own->have[sender] || turn - match->seen[player].turns >= WINDOW)
            continue;
        own->pushes[sender][turn % WINDOW] = (struct cw_lab_push){push / 3 - 1, push % 3 - 1};
        own->have[sender]++;
    }
}

/* Makes the move of the next turn, unless others are too far behind. */
static void press(struct cw_lab_match *match, uint32_t player)
{
    struct cw_lab_lockstep *own = &match->lockstep[player];
    const uint32_t turn = own->have[player];
    if (turn - least(own->told) >= WINDOW || turn - match->seen[player].turns >= WINDOW)
        return;
    own->pushes[player][turn % WINDOW] = cw_lab_match_press(match, player, turn);
    own->have[player] = own->told[player] = turn + 1;
}

/* Takes all turns for which the moves of all players are here. */
static void play(struct cw_lab_match *match, uint32_t player)
{
    struct cw_lab_lockstep *own = &match->lockstep[player];
    struct cw_lab_seen *seen = &match->seen[player];
    while (seen->turns < least(own->have)) {
        struct cw_lab_push pushes[CW_LAB_PLAYERS];
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
            pushes[i] = own->pushes[i][seen->turns % WINDOW];
            cw_lab_match_see(match, player, i, seen->turns);
        }
        cw_lab_pitch_step(&own->pitch, pushes);
        cw_lab_match_keep(match, player, ++seen->turns, &own->pitch);
    }
    seen->moves = seen->turns;
}

static void say(struct cw_lab_match *match, uint32_t player, double now)
{
    const struct cw_lab_lockstep *own = &match->lockstep[player];
    uint8_t datagram[6 + 4 * CW_LAB_PLAYERS + WINDOW];
    uint8_t *at = datagram;
    const uint32_t first = least(own->told), end = own->have[player];
    cw_little_endian_put(&at, player, 1);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        cw_little_endian_put(&at, own->have[i], 4);
    cw_little_endian_put(&at, first, 4);
    cw_little_endian_put(&at, end - first, 1);
    for (uint32_t turn = first; turn < end; turn++) {
        const struct cw_lab_push push = own->pushes[player][turn % WINDOW];
        cw_little_endian_put(&at, (uint32_t)(3 * (push.x + 1) + push.y + 1), 1);
    }
    cw_simulator_receive(match->up[player], datagram, (size_t)(at - datagram), now);
}

void cw_lab_lockstep_tick(struct cw_lab_match *match, uint32_t player, double now)
{
    press(match, player);
    play(match, player);
    say(match, player, now);
}
