/* Why a client's own entity or the others jerk. */
#include "game/game_client_internal.h"

#include <math.h>

#define JUDGED_SECONDS 2

static void note(struct cw_game_often *often, double now)
{
    often->times[often->next++ % 4] = now;
}

/* Returns whether it happened as often as the times have room for, within the judged seconds. */
static bool is_often(const struct cw_game_often *often, double now)
{
    return often->times[often->next % 4] > now - JUDGED_SECONDS;
}

void cw_game_client_forget_notes(struct cw_game_client *client)
{
    struct cw_game_client *const c = client;
    for (int i = 0; i < 4; i++)
        c->late.times[i] = c->wrong.times[i] = -(double)INFINITY;
    c->judged_starved = c->judged_guesses = c->compared_starved = 0;
    c->correcting = c->guessing = false;
}

void cw_game_client_note_state(struct cw_game_client *client, uint64_t corrections, double now)
{
    struct cw_game_client *const c = client;
    struct cw_prediction_stats stats;
    cw_prediction_get_stats(c->prediction, &stats);
    const bool in_time = c->starved == c->compared_starved;
    c->compared_starved = c->starved;
    /* The states after a wrong one are wrong too until the ticks have been played again. */
    if (stats.corrections <= corrections || c->correcting)
        return;
    c->correcting = true;
    if (!in_time)
        return;
    note(&c->wrong, now);
    c->wrong_tick = stats.wrong_tick;
    c->wrong_field = stats.wrong_field;
}

void cw_game_client_note_view(struct cw_game_client *client, double now)
{
    struct cw_game_client *const c = client;
    struct cw_interpolation_stats stats;
    cw_interpolation_get_stats(c->interpolation, &stats);
    const bool guessing = stats.extrapolated != c->judged_guesses;
    if (c->starved != c->judged_starved || (guessing && !c->guessing))
        note(&c->late, now);
    c->judged_starved = c->starved;
    c->judged_guesses = stats.extrapolated;
    c->guessing = guessing; /* one late snapshot is one, in however many frames */
}

void cw_game_client_judge(const struct cw_game_client *client, double now,
                          struct cw_game_verdict *verdict)
{
    const struct cw_game_client *const c = client;
    struct cw_clock_sync_stats clock;
    if (!c || !verdict || !isfinite(now))
        return;
    cw_clock_sync_get_stats(c->clock, cw_game_client_time(c, now), &clock);
    *verdict = (struct cw_game_verdict){.type = CW_GAME_VERDICT_GOOD,
                                        .jitter_seconds = clock.jitter_seconds,
                                        .tick = c->wrong_tick,
                                        .entity = c->own,
                                        .field = c->wrong_field};
    if (is_often(&c->wrong, now))
        verdict->type = CW_GAME_VERDICT_DIVERGING;
    else if (is_often(&c->late, now))
        verdict->type = CW_GAME_VERDICT_NETWORK;
}
