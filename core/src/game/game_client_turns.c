/* The turns of a game's client: which tick is played next, from which state, with which input. */
#include "game/game_client_internal.h"

#include "game/game_fit.h"

#include <math.h>
#include <string.h>

static const struct cw_message_type *player_of(const struct cw_game_client *c)
{
    return cw_schema_type(c->config.schema, c->config.player_type);
}

static const struct cw_message_type *input_of(const struct cw_game_client *c)
{
    return cw_schema_type(c->config.schema, c->config.input_type);
}

void cw_game_client_correct(struct cw_game_client *client, uint32_t tick, const void *state)
{
    struct cw_game_client *const c = client;
    if (!state) {
        c->playing = false;
        cw_prediction_reset(c->prediction);
        return;
    }
    cw_prediction_correct(c->prediction, tick, state);
    if (c->playing && cw_tick_difference(tick, c->tick) <= 0)
        return;
    /* The prediction has nothing to play again: the state is the newest. */
    uint32_t none;
    cw_prediction_replay(c->prediction, c->state, &none, c->again);
    memcpy(c->before, c->state, player_of(c)->size);
    c->playing = true;
    c->tick = tick;
}

/* Takes over the input of the tick that is due, as the wire carries it. */
static void take_input(struct cw_game_client *c)
{
    uint32_t field;
    bool mended = true;
    if (cw_game_fit(c->config.schema, c->config.input_type, c->input, &field, &mended) != CW_OK)
        cw_game_blame(&c->fault, c->due_tick, CW_FIELD_NONE, c->config.input_type, field);
    if (!mended)
        memset(c->input, 0, input_of(c)->size);
    const struct cw_view now = {.from = c->due_tick, .to = c->due_tick};
    cw_game_set_view(c->carried, c->input, c->due_tick, c->viewed ? &c->view : &now);
    cw_input_sender_add(c->inputs, c->due_tick, c->input);
    c->input_tick = c->due_tick;
    c->missed = 0;
    c->due = false;
    c->filled = true;
}

/* Takes over the state to which a step has led, as the wire carries it. */
static void take_state(struct cw_game_client *c, uint32_t tick)
{
    uint32_t field;
    bool mended = true;
    if (cw_game_fit(c->config.schema, c->config.player_type, c->state, &field, &mended) != CW_OK)
        cw_game_blame(&c->fault, tick, c->own, c->config.player_type, field);
    if (!mended)
        memcpy(c->state, c->before, player_of(c)->size);
}

void cw_game_client_close(struct cw_game_client *client)
{
    struct cw_game_client *const c = client;
    const enum cw_game_open open = c->open;
    c->open = CW_GAME_OPEN_NOTHING;
    if (open == CW_GAME_OPEN_INPUT) {
        take_input(c);
    } else if (open == CW_GAME_OPEN_AGAIN) {
        take_state(c, c->tick);
    } else if (open != CW_GAME_OPEN_NOTHING) {
        c->tick++;
        take_state(c, c->tick);
        cw_prediction_add(c->prediction, c->tick, open == CW_GAME_OPEN_DUE ? c->input : c->again,
                          c->state);
    }
}

static bool give(struct cw_game_client *c, struct cw_game_turn *turn, enum cw_game_open open,
                 uint32_t tick)
{
    const bool is_input = open == CW_GAME_OPEN_INPUT;
    const bool own = is_input || open == CW_GAME_OPEN_DUE;
    c->open = open;
    if (!is_input)
        memcpy(c->before, c->state, player_of(c)->size);
    *turn = (struct cw_game_turn){
        .type = is_input ? CW_GAME_TURN_INPUT : CW_GAME_TURN_STEP,
        .tick = tick,
        .again = !own,
        .input = own ? c->input : c->again,
        .state = is_input ? NULL : c->state,
    };
    return true;
}

/* Puts the input of a missed tick into `again`: as the server, it repeats the last one for a
   while. */
static void miss(struct cw_game_client *c)
{
    c->missed++;
    if (c->missed > (uint32_t)c->config.ticks_per_second)
        memset(c->input, 0, input_of(c)->size);
    memcpy(c->again, c->input, input_of(c)->size);
}

/* Begins anew, from the server's newest state of the own entity. */
static void start_over(struct cw_game_client *c)
{
    uint32_t tick, type;
    const void *const state = cw_snapshot_client_state(c->snapshots, c->own, &type);
    cw_game_client_correct(c, 0, NULL);
    if (c->told && state && type == c->config.player_type &&
        cw_snapshot_client_tick(c->snapshots, &tick))
        cw_game_client_correct(c, tick, state);
}

/* Takes the next tick that is due from the clock. Returns false when there is none. */
static bool take_due(struct cw_game_client *c)
{
    struct cw_clock_sync_event event = {.type = CW_CLOCK_SYNC_EVENT_RESTART};
    while (event.type == CW_CLOCK_SYNC_EVENT_RESTART)
        if (!cw_clock_sync_next(c->clock, &event))
            return false;
    c->due = true;
    c->due_tick = event.tick;
    const int32_t ahead = cw_tick_difference(event.tick, c->tick);
    if (c->playing && (ahead <= 0 || ahead > (int32_t)cw_game_kept_ticks(&c->config)))
        start_over(c);
    return true;
}

void cw_game_client_update(struct cw_game_client *client, double now)
{
    if (!client || !isfinite(now))
        return;
    cw_game_client_close(client);
    cw_clock_sync_update(client->clock, cw_game_client_time(client, now));
}

bool cw_game_client_next_turn(struct cw_game_client *client, struct cw_game_turn *turn)
{
    struct cw_game_client *const c = client;
    uint32_t tick;
    if (!c || !turn)
        return false;
    cw_game_client_close(c);
    if (cw_prediction_replay(c->prediction, c->state, &tick, c->again))
        return give(c, turn, CW_GAME_OPEN_AGAIN, tick);
    c->correcting = false;
    while (c->due || c->filled || take_due(c)) {
        const int32_t ahead = cw_tick_difference(c->due_tick, c->tick);
        if (c->due && c->playing && ahead > 1 && ahead <= (int32_t)cw_game_kept_ticks(&c->config)) {
            miss(c);
            return give(c, turn, CW_GAME_OPEN_MISSED, c->tick + 1);
        }
        if (c->due)
            return give(c, turn, CW_GAME_OPEN_INPUT, c->due_tick);
        c->filled = false;
        if (c->playing && ahead == 1)
            return give(c, turn, CW_GAME_OPEN_DUE, c->due_tick);
    }
    return false;
}
