/* A server and prediction, with the game kit. A datagram to the server is what the sender of inputs
   gives. A datagram to a player has the turn, the report for the sender of inputs behind its size,
   and the state. */
#include "lab/match_internal.h"

#include "base/little_endian.h"
#include "causeway/schema.h"

#include <math.h>

/* Moves arrive so many ticks before the server needs them, so that a lost one comes again in time.
 */
#define MARGIN 3

#define PUSH_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-1, 1))                                                                        \
    FIELD(y, CW_INT(-1, 1))
CW_MESSAGE(push, PUSH_FIELDS)

#define PLACE_FIELDS(FIELD)                                                                        \
    FIELD(x, CW_INT(0, CW_LAB_PITCH_WIDTH))                                                        \
    FIELD(y, CW_INT(0, CW_LAB_PITCH_HEIGHT))
CW_MESSAGE(place, PLACE_FIELDS)

static enum cw_error make_player(struct cw_lab_match *match, uint32_t player, double rtt_seconds)
{
    struct cw_lab_predictor *own = &match->predictors[player];
    struct cw_input_config input = cw_input_config_default(match->schema);
    struct cw_prediction_config prediction = cw_prediction_config_default(match->schema);
    input.allocator = prediction.allocator = match->config.allocator;
    match->server = own->pitch = cw_lab_pitch_begin();
    own->own = own->pitch.players[player];
    own->lead = (uint32_t)ceil(rtt_seconds / 2 * CW_LAB_MATCH_TICKS_PER_SECOND) + MARGIN;
    if (own->lead > match->server_begins)
        match->server_begins = own->lead;
    enum cw_error error = cw_input_sender_create(&input, &own->sender);
    if (error == CW_OK)
        error = cw_prediction_create(&prediction, &own->prediction);
    if (error == CW_OK)
        error = cw_input_receiver_create(&input, &match->receivers[player]);
    return error;
}

enum cw_error cw_lab_prediction_begin(struct cw_lab_match *match)
{
    const struct cw_lab_match_config *config = &match->config;
    const struct cw_message_type types[] = {push_type, place_type};
    const struct cw_schema_config schema = {
        .types = types, .count = 2, .allocator = config->allocator};
    enum cw_error error = cw_schema_create(&schema, &match->schema);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS && error == CW_OK; i++) {
        const bool slow = i == CW_LAB_PLAYERS - 1;
        error = make_player(match, i, slow ? config->slow_rtt_seconds : config->rtt_seconds);
    }
    return error;
}

void cw_lab_prediction_end(struct cw_lab_match *match)
{
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        cw_input_sender_destroy(match->predictors[i].sender);
        cw_prediction_destroy(match->predictors[i].prediction);
        cw_input_receiver_destroy(match->receivers[i]);
    }
    cw_schema_destroy(match->schema);
}

void cw_lab_prediction_serve(struct cw_lab_match *match, uint32_t player, const uint8_t *data,
                             size_t size, double now)
{
    const double tick_time = now * CW_LAB_MATCH_TICKS_PER_SECOND - match->server_begins;
    cw_input_receiver_receive(match->receivers[player], data, size, tick_time);
}

static void put_spot(uint8_t **at, struct cw_lab_spot spot)
{
    cw_little_endian_put(at, (uint32_t)spot.x, 4);
    cw_little_endian_put(at, (uint32_t)spot.y, 4);
}

static struct cw_lab_spot get_spot(const uint8_t **at)
{
    const int32_t x = (int32_t)(uint32_t)cw_little_endian_get(at, 4);
    return (struct cw_lab_spot){x, (int32_t)(uint32_t)cw_little_endian_get(at, 4)};
}

/* Tells a player the state after a turn. */
static void tell(struct cw_lab_match *match, uint32_t player, uint32_t turn, double now)
{
    uint8_t datagram[5 + CW_INPUT_REPORT_SIZE + 8 * (CW_LAB_PLAYERS + 2)];
    uint8_t *at = datagram;
    cw_little_endian_put(&at, turn, 4);
    const size_t report =
        cw_input_receiver_transmit(match->receivers[player], at + 1, CW_INPUT_REPORT_SIZE);
    cw_little_endian_put(&at, report, 1);
    at += report;
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        put_spot(&at, match->server.players[i]);
    put_spot(&at, match->server.ball);
    put_spot(&at, match->server.ball_speed);
    cw_simulator_receive(match->down[player], datagram, (size_t)(at - datagram), now);
}

void cw_lab_prediction_turn(struct cw_lab_match *match, double now)
{
    if (match->ticks < match->server_begins)
        return;
    const uint32_t turn = match->ticks - match->server_begins;
    struct cw_lab_push pushes[CW_LAB_PLAYERS];
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        struct push push;
        if (!cw_input_receiver_take(match->receivers[i], turn, &push))
            match->seen[i].late++;
        pushes[i] = (struct cw_lab_push){push.x, push.y};
    }
    cw_lab_pitch_step(&match->server, pushes);
    cw_lab_match_keep(match, CW_LAB_SERVER, turn + 1, &match->server);
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        tell(match, i, turn, now);
}

/* Puts a player's prediction right when the server has it elsewhere after a turn. */
static void correct(struct cw_lab_predictor *own, uint32_t player, uint32_t turn)
{
    const struct cw_lab_spot said = own->pitch.players[player];
    struct place place = {said.x, said.y};
    struct push push;
    uint32_t tick;
    if (!cw_prediction_correct(own->prediction, turn, &place))
        return;
    while (cw_prediction_replay(own->prediction, &place, &tick, &push)) {
        struct cw_lab_spot spot = {place.x, place.y};
        cw_lab_pitch_move(&spot, (struct cw_lab_push){push.x, push.y});
        place = (struct place){spot.x, spot.y};
    }
    own->own = (struct cw_lab_spot){place.x, place.y};
}

void cw_lab_prediction_receive(struct cw_lab_match *match, uint32_t player, const uint8_t *data)
{
    struct cw_lab_predictor *own = &match->predictors[player];
    struct cw_lab_seen *seen = &match->seen[player];
    struct cw_input_report report;
    const uint32_t turn = (uint32_t)cw_little_endian_get(&data, 4);
    const size_t size = (size_t)cw_little_endian_get(&data, 1);
    cw_input_sender_receive(own->sender, data, size, &report);
    data += size;
    if (turn < seen->turns)
        return;
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        own->pitch.players[i] = get_spot(&data);
    own->pitch.ball = get_spot(&data);
    own->pitch.ball_speed = get_spot(&data);
    /* The times of moves that are too old are not known any more. */
    const uint32_t known = turn < CW_LAB_MATCH_KEPT / 2 ? 0 : turn - CW_LAB_MATCH_KEPT / 2;
    for (uint32_t of = seen->turns > known ? seen->turns : known; of <= turn; of++)
        for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
            if (i != player)
                cw_lab_match_see(match, player, i, of);
    seen->turns = turn + 1;
    cw_lab_match_keep(match, player, seen->turns, &own->pitch);
    correct(own, player, turn);
}

void cw_lab_prediction_tick(struct cw_lab_match *match, uint32_t player, double now)
{
    struct cw_lab_predictor *own = &match->predictors[player];
    if (match->ticks + own->lead < match->server_begins)
        return;
    const uint32_t turn = match->ticks + own->lead - match->server_begins;
    const struct cw_lab_push made = cw_lab_match_press(match, player, turn);
    struct push push = {made.x, made.y};
    cw_lab_pitch_move(&own->own, made);
    cw_input_sender_add(own->sender, turn, &push);
    cw_prediction_add(own->prediction, turn, &push, &(struct place){own->own.x, own->own.y});
    cw_lab_match_see(match, player, player, turn);
    match->seen[player].moves++;
    uint8_t datagram[256];
    const size_t size = cw_input_sender_transmit(own->sender, datagram, sizeof datagram);
    if (size > 0)
        cw_simulator_receive(match->up[player], datagram, size, now);
}
