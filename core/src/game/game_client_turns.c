/* The turns of a game's client: which tick is played next, from which state, with which input. */
#include "game/game_client_internal.h"

#include "game/game_fit.h"

#include <math.h>
#include <string.h>

static const struct cw_message_type *input_of(const struct cw_game_client *c)
{
    return cw_schema_type(c->config.schema, c->config.input_type);
}

void cw_game_client_correct(struct cw_game_client *client, uint32_t tick, const void *state)
{
    struct cw_game_client *const c = client;
    if (!state) {
        c->playing = false;
        cw_game_group_set_own(&c->group, c->own, false);
        cw_prediction_reset(c->prediction);
        return;
    }
    const bool wrong = cw_prediction_correct(c->prediction, tick, state);
    if (c->playing && cw_tick_difference(tick, c->tick) <= 0) {
        if (c->group.chosen > 0 && (wrong || cw_prediction_again(c->prediction)))
            cw_game_group_start(&c->group, c->snapshots);
        return;
    }
    /* The prediction has nothing to play again: the state is the newest. */
    uint32_t none;
    cw_prediction_replay(c->prediction, c->state, &none, c->again);
    cw_game_group_set_own(&c->group, c->own, true);
    cw_game_group_start(&c->group, c->snapshots);
    cw_game_group_finish(&c->group);
    cw_game_group_begin(&c->group);
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
static void take_state(struct cw_game_client *c)
{
    const struct cw_game_member *const member = cw_game_group_open(&c->group);
    uint32_t field;
    bool mended = true;
    if (cw_game_fit(c->config.schema, member->type, member->state, &field, &mended) != CW_OK)
        cw_game_blame(&c->fault, c->open_tick, member->entity, member->type, field);
    if (!mended)
        memcpy(member->state, member->before, cw_schema_type(c->config.schema, member->type)->size);
}

/* Takes over what the application has done in its turn. */
static void close_turn(struct cw_game_client *c)
{
    if (c->open == CW_GAME_OPEN_INPUT) {
        c->open = CW_GAME_OPEN_NOTHING;
        take_input(c);
    } else if (c->open != CW_GAME_OPEN_NOTHING) {
        take_state(c);
    }
}

/* Ends the tick that was played, if there is one. */
static void end_tick(struct cw_game_client *c)
{
    const enum cw_game_open open = c->open;
    c->open = CW_GAME_OPEN_NOTHING;
    if (open != CW_GAME_OPEN_DUE && open != CW_GAME_OPEN_MISSED)
        return;
    c->tick = c->open_tick;
    cw_prediction_add(c->prediction, c->tick, open == CW_GAME_OPEN_DUE ? c->input : c->again,
                      c->state);
}

void cw_game_client_close(struct cw_game_client *client)
{
    close_turn(client);
    end_tick(client);
}

static bool give_input(struct cw_game_client *c, struct cw_game_turn *turn)
{
    c->open = CW_GAME_OPEN_INPUT;
    *turn = (struct cw_game_turn){
        .type = CW_GAME_TURN_INPUT, .tick = c->due_tick, .entity = c->own, .input = c->input};
    return true;
}

/* Gives the next entity that is to be stepped in this tick. Returns false when there is none. */
static bool give_step(struct cw_game_client *c, struct cw_game_turn *turn)
{
    if (c->open == CW_GAME_OPEN_NOTHING)
        return false;
    const struct cw_game_member *const member = cw_game_group_next(&c->group);
    if (!member)
        return false;
    const bool is_due = c->open == CW_GAME_OPEN_DUE;
    *turn = (struct cw_game_turn){
        .type = CW_GAME_TURN_STEP,
        .tick = c->open_tick,
        .again = !is_due,
        .entity = member->entity,
        .entity_type = member->type,
        .input = member != c->group.members ? NULL
                 : is_due                   ? c->input
                                            : c->again,
        .state = member->state,
    };
    return true;
}

void cw_game_client_emit(struct cw_game_client *client, uint8_t kind)
{
    struct cw_game_client *const c = client;
    if (c && c->open > CW_GAME_OPEN_INPUT && cw_game_group_open(&c->group) == c->group.members)
        cw_game_events_predict(&c->events, c->open_tick, c->own, kind);
}

/* Begins to play a tick. */
static bool give_tick(struct cw_game_client *c, struct cw_game_turn *turn, enum cw_game_open open,
                      uint32_t tick)
{
    c->open = open;
    c->open_tick = tick;
    cw_game_group_begin(&c->group);
    return give_step(c, turn);
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
    close_turn(c);
    if (give_step(c, turn))
        return true;
    end_tick(c);
    if (cw_prediction_replay(c->prediction, c->state, &tick, c->again))
        return give_tick(c, turn, CW_GAME_OPEN_AGAIN, tick);
    cw_game_group_finish(&c->group);
    c->correcting = false;
    while (c->due || c->filled || take_due(c)) {
        const int32_t ahead = cw_tick_difference(c->due_tick, c->tick);
        if (c->due && c->playing && ahead > 1 && ahead <= (int32_t)cw_game_kept_ticks(&c->config)) {
            miss(c);
            return give_tick(c, turn, CW_GAME_OPEN_MISSED, c->tick + 1);
        }
        if (c->due)
            return give_input(c, turn);
        c->filled = false;
        if (c->playing && ahead == 1)
            return give_tick(c, turn, CW_GAME_OPEN_DUE, c->due_tick);
    }
    return false;
}
