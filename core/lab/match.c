#include "lab/match_internal.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* No datagram of a match is longer. */
#define MOST_BYTES 512

struct cw_lab_match_config cw_lab_match_config_default(void)
{
    return (struct cw_lab_match_config){.seed = 1, .rtt_seconds = 0.05, .slow_rtt_seconds = 0.3};
}

static bool is_share(double value)
{
    return value >= 0 && value <= 1;
}

static bool is_valid(const struct cw_lab_match_config *config)
{
    return config && is_share(config->rtt_seconds) && is_share(config->slow_rtt_seconds) &&
           is_share(config->loss);
}

/* Returns what a player's line does, each way. */
static struct cw_simulator_path path_of(const struct cw_lab_match_config *config, uint32_t player,
                                        bool cut)
{
    struct cw_simulator_path path = cw_simulator_config_default().path;
    const bool slow = player == CW_LAB_PLAYERS - 1;
    path.latency_seconds = (slow ? config->slow_rtt_seconds : config->rtt_seconds) / 2;
    path.loss = slow && cut ? 1 : config->loss;
    return path;
}

static enum cw_error make_lines(struct cw_lab_match *match)
{
    struct cw_simulator_config line = cw_simulator_config_default();
    enum cw_error error = CW_OK;
    line.allocator = match->config.allocator;
    line.max_datagram_size = MOST_BYTES;
    for (uint32_t i = 0; i < CW_LAB_PLAYERS && error == CW_OK; i++) {
        line.path = path_of(&match->config, i, false);
        line.seed = match->config.seed * 2 * CW_LAB_PLAYERS + 2 * i;
        error = cw_simulator_create(&line, &match->up[i]);
        line.seed++;
        if (error == CW_OK)
            error = cw_simulator_create(&line, &match->down[i]);
    }
    return error;
}

enum cw_error cw_lab_match_create(const struct cw_lab_match_config *config,
                                  struct cw_lab_match **match)
{
    if (!match || !is_valid(config))
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_lab_match *m = cw_allocate(&config->allocator, sizeof *m);
    if (!m)
        return CW_ERROR_NO_MEMORY;
    memset(m, 0, sizeof *m);
    m->config = *config;
    cw_lab_lockstep_begin(m);
    enum cw_error error = make_lines(m);
    if (error == CW_OK && config->prediction)
        error = cw_lab_prediction_begin(m);
    if (error != CW_OK) {
        cw_lab_match_destroy(m);
        return error;
    }
    *match = m;
    return CW_OK;
}

void cw_lab_match_destroy(struct cw_lab_match *match)
{
    if (!match)
        return;
    cw_lab_prediction_end(match);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        cw_simulator_destroy(match->up[i]);
        cw_simulator_destroy(match->down[i]);
    }
    const struct cw_allocator allocator = match->config.allocator;
    cw_release(&allocator, match, sizeof *match);
}

void cw_lab_match_cut(struct cw_lab_match *match, bool cut)
{
    if (!match)
        return;
    const uint32_t slow = CW_LAB_PLAYERS - 1;
    const struct cw_simulator_path path = path_of(&match->config, slow, cut);
    cw_simulator_change(match->up[slow], &path);
    cw_simulator_change(match->down[slow], &path);
}

struct cw_lab_push cw_lab_match_press(struct cw_lab_match *match, uint32_t player, uint32_t turn)
{
    match->pressed[player][turn % CW_LAB_MATCH_KEPT] = match->ticks;
    return cw_lab_pitch_push(match->config.seed, player, turn);
}

void cw_lab_match_see(struct cw_lab_match *match, uint32_t viewer, uint32_t player, uint32_t turn)
{
    struct cw_lab_seen *seen = &match->seen[viewer];
    const uint32_t ticks = match->ticks - match->pressed[player][turn % CW_LAB_MATCH_KEPT];
    cw_lab_latencies_add(viewer == player ? &seen->own : &seen->others,
                         (double)ticks / CW_LAB_MATCH_TICKS_PER_SECOND);
}

void cw_lab_match_keep(struct cw_lab_match *match, uint32_t player, uint32_t turns,
                       const struct cw_lab_pitch *pitch)
{
    match->hashes[player][turns % CW_LAB_MATCH_KEPT] =
        (struct cw_lab_kept_hash){turns, cw_lab_pitch_hash(pitch)};
}

/* A datagram has come to the end of a player's line. */
static void arrive(struct cw_lab_match *match, uint32_t player, bool up, const uint8_t *datagram,
                   size_t size, double now)
{
    if (match->config.prediction && up)
        cw_lab_prediction_serve(match, player, datagram, size, now);
    else if (match->config.prediction)
        cw_lab_prediction_receive(match, player, datagram);
    else if (!up)
        cw_lab_lockstep_receive(match, player, datagram);
    else
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
            if (i != player)
                cw_simulator_receive(match->down[i], datagram, size, now);
}

/* Brings every datagram that is due by now to its end, in order and each at its own time. */
static void carry(struct cw_lab_match *match, double now)
{
    uint8_t datagram[MOST_BYTES];
    for (;;) {
        struct cw_simulator *next = NULL;
        double due = INFINITY;
        uint32_t line = 0;
        for (uint32_t i = 0; i < 2 * CW_LAB_PLAYERS; i++) {
            struct cw_simulator *one = i % 2 ? match->down[i / 2] : match->up[i / 2];
            if (cw_simulator_due(one) < due) {
                due = cw_simulator_due(one);
                next = one;
                line = i;
            }
        }
        if (!next || due > now)
            return;
        const size_t size = cw_simulator_transmit(next, datagram, sizeof datagram, due);
        arrive(match, line / 2, line % 2 == 0, datagram, size, due);
    }
}

/* Counts a tick in which a player who had moves before made none. */
static void note_stall(struct cw_lab_seen *seen, uint32_t moves)
{
    if (moves == 0 || seen->moves > moves) {
        seen->stall = 0;
        return;
    }
    seen->stalled_ticks++;
    if (++seen->stall > seen->longest_stall)
        seen->longest_stall = seen->stall;
}

void cw_lab_match_step(struct cw_lab_match *match, uint32_t ticks)
{
    for (uint32_t tick = 0; match && tick < ticks; tick++) {
        const double now = (double)match->ticks / CW_LAB_MATCH_TICKS_PER_SECOND;
        carry(match, now);
        if (match->config.prediction)
            cw_lab_prediction_turn(match, now);
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
            const uint32_t moves = match->seen[i].moves;
            if (match->config.prediction)
                cw_lab_prediction_tick(match, i, now);
            else
                cw_lab_lockstep_tick(match, i, now);
            note_stall(&match->seen[i], moves);
        }
        match->ticks++;
    }
}

void cw_lab_match_look(const struct cw_lab_match *match, uint32_t viewer, uint32_t player,
                       struct cw_lab_spot *spot)
{
    if (!match || !spot)
        return;
    *spot = (struct cw_lab_spot){0, 0};
    if (viewer >= CW_LAB_PLAYERS || player > CW_LAB_PLAYERS)
        return;
    const struct cw_lab_predictor *predictor = &match->predictors[viewer];
    const struct cw_lab_pitch *pitch =
        match->config.prediction ? &predictor->pitch : &match->lockstep[viewer].pitch;
    if (player == CW_LAB_PLAYERS)
        *spot = pitch->ball;
    else if (match->config.prediction && player == viewer)
        *spot = predictor->own;
    else
        *spot = pitch->players[player];
}

void cw_lab_match_get_stats(const struct cw_lab_match *match, uint32_t player,
                            struct cw_lab_match_stats *stats)
{
    if (!match || !stats)
        return;
    *stats = (struct cw_lab_match_stats){0};
    if (player >= CW_LAB_PLAYERS)
        return;
    const struct cw_lab_seen *seen = &match->seen[player];
    struct cw_prediction_stats prediction = {0};
    cw_prediction_get_stats(match->predictors[player].prediction, &prediction);
    stats->turns = seen->turns;
    stats->late = seen->late;
    stats->corrections = (uint32_t)prediction.corrections;
    stats->own_seconds = cw_lab_latencies_mean(&seen->own);
    stats->own_p99_seconds = cw_lab_latencies_quantile(&seen->own, 0.99);
    stats->others_seconds = cw_lab_latencies_mean(&seen->others);
    stats->stalled_seconds = (double)seen->stalled_ticks / CW_LAB_MATCH_TICKS_PER_SECOND;
    stats->longest_stall_seconds = (double)seen->longest_stall / CW_LAB_MATCH_TICKS_PER_SECOND;
}

uint64_t cw_lab_match_hash(const struct cw_lab_match *match, uint32_t player, uint32_t turns)
{
    if (!match || player > CW_LAB_PLAYERS || turns == 0)
        return 0;
    const struct cw_lab_kept_hash kept = match->hashes[player][turns % CW_LAB_MATCH_KEPT];
    return kept.turns == turns ? kept.hash : 0;
}
