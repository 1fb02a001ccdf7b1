#include "arena.h"

#define TOP_SPEED (6 * METRE / TICKS_PER_SECOND)
#define SHOT_PUSH (9 * METRE / TICKS_PER_SECOND)

/* Returns the whole part of a square root. */
static int32_t root(int64_t square)
{
    int64_t result = 0;
    for (int64_t bit = (int64_t)1 << 30; bit > 0; bit >>= 1)
        if ((result + bit) * (result + bit) <= square)
            result += bit;
    return (int32_t)result;
}

static int32_t length(int32_t x, int32_t y)
{
    return root((int64_t)x * x + (int64_t)y * y);
}

static int32_t clamp(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void place_bodies(struct arena *arena)
{
    for (uint32_t i = 0; i < BODIES; i++)
        arena->bodies[i] = (struct loose_body){
            .at = {.x = (int32_t)(1 + i % 20) * ARENA_WIDTH / 21 + (int32_t)(i * 97 % 200) - 100,
                   .y = (int32_t)(1 + i / 20) * ARENA_HEIGHT / 11 + (int32_t)(i * 61 % 200) - 100}};
}

void arena_init(struct arena *arena)
{
    *arena = (struct arena){.round.ends = ROUND_TICKS};
    place_bodies(arena);
}

void arena_join(struct arena *arena, uint32_t player)
{
    arena->here[player] = true;
    arena->players[player] =
        (struct player){.at = {.x = (uint32_t)(1 + player % 8) * ARENA_WIDTH / 9,
                               .y = (uint32_t)(1 + player / 8 * 2 % 5) * ARENA_HEIGHT / 6},
                        .aim = {.x = 127}};
}

void arena_leave(struct arena *arena, uint32_t player)
{
    arena->here[player] = false;
    for (uint32_t i = 0; i < BODIES; i++)
        if (arena->bodies[i].owner == player + 1)
            arena->bodies[i].owner = 0;
}

/* Moves a player along one axis: the speed approaches what is wanted, and ends at the walls. */
static void step_axis(uint32_t *at, int32_t *speed, int32_t wanted, int32_t size)
{
    const int32_t change = (wanted - *speed) / 5;
    *speed = change != 0 ? *speed + change : wanted;
    const int32_t to = (int32_t)*at + *speed,
                  clamped = clamp(to, PLAYER_RADIUS, size - PLAYER_RADIUS);
    *at = (uint32_t)clamped;
    if (clamped != to)
        *speed = 0;
}

bool arena_step_player(struct player *player, const struct command *command)
{
    int32_t x = command->move.x, y = command->move.y;
    const int32_t far = length(x, y);
    if (player->stun > 0) {
        player->stun--;
        x = y = 0;
    } else if (far > 127) {
        x = x * 127 / far;
        y = y * 127 / far;
    }
    /* without one the last aim stays, so that there is always a direction to shoot in */
    if (command->aim.x != 0 || command->aim.y != 0) {
        player->aim.x = command->aim.x;
        player->aim.y = command->aim.y;
    }
    step_axis(&player->at.x, &player->speed.x, x * TOP_SPEED / 127, ARENA_WIDTH);
    step_axis(&player->at.y, &player->speed.y, y * TOP_SPEED / 127, ARENA_HEIGHT);
    if (player->reload > 0)
        player->reload--;
    if (!command->fire || player->reload > 0 || player->stun > 0)
        return false;
    player->reload = RELOAD_TICKS;
    return true;
}

/* Returns how far a ray gets before it meets a circle, or INT32_MAX when it does not meet it. scale
   is the length of direction. */
static int32_t meet(struct place from, struct place direction, int32_t scale, struct place circle,
                    int32_t radius)
{
    const int64_t x = circle.x - from.x, y = circle.y - from.y;
    const int64_t along = (x * direction.x + y * direction.y) / scale;
    const int64_t aside = x * x + y * y - along * along;
    if (along <= 0 || along > SHOT_RANGE || aside > (int64_t)radius * radius)
        return INT32_MAX;
    return (int32_t)along - root((int64_t)radius * radius - (aside > 0 ? aside : 0));
}

int32_t arena_aim(const struct player *from, uint32_t shooter, const struct targets *targets,
                  struct place *end)
{
    const struct place start = {(int32_t)from->at.x, (int32_t)from->at.y};
    const struct place direction = {from->aim.x, from->aim.y};
    const int32_t scale = length(direction.x, direction.y);
    int32_t hit = -1, distance = SHOT_RANGE;
    for (int32_t i = 0; i < MAX_PLAYERS + BODIES; i++) {
        if (i < MAX_PLAYERS && (!targets->here[i] || (uint32_t)i == shooter))
            continue;
        const int32_t far =
            i < MAX_PLAYERS
                ? meet(start, direction, scale, targets->players[i], PLAYER_RADIUS)
                : meet(start, direction, scale, targets->bodies[i - MAX_PLAYERS], BODY_RADIUS);
        if (far < distance) {
            distance = far;
            hit = i;
        }
    }
    end->x = clamp(start.x + direction.x * distance / scale, 0, ARENA_WIDTH);
    end->y = clamp(start.y + direction.y * distance / scale, 0, ARENA_HEIGHT);
    return hit;
}

void arena_hit(struct arena *arena, uint32_t shooter, int32_t hit)
{
    const struct player *from = &arena->players[shooter];
    const int32_t scale = length(from->aim.x, from->aim.y);
    const struct place push = {from->aim.x * SHOT_PUSH / scale, from->aim.y * SHOT_PUSH / scale};
    if (hit >= MAX_PLAYERS) {
        struct loose_body *body = &arena->bodies[hit - MAX_PLAYERS];
        body->speed.x += push.x;
        body->speed.y += push.y;
        body->owner = shooter + 1;
    } else if (hit >= 0) {
        struct player *target = &arena->players[hit];
        target->stun = STUN_TICKS;
        target->speed.x = clamp(target->speed.x + push.x, -SPEED_LIMIT, SPEED_LIMIT);
        target->speed.y = clamp(target->speed.y + push.y, -SPEED_LIMIT, SPEED_LIMIT);
    }
}

/* The way from one circle to another that it overlaps: x and y, its length, and the depth. */
struct overlap {
    int32_t x, y, length, depth;
};

static bool overlaps(struct place a, struct place b, int32_t reach, struct overlap *overlap)
{
    const int32_t x = b.x - a.x, y = b.y - a.y;
    if (x >= reach || x <= -reach || y >= reach || y <= -reach)
        return false;
    const int32_t far = length(x, y);
    if (far >= reach)
        return false;
    *overlap =
        far > 0 ? (struct overlap){x, y, far, reach - far} : (struct overlap){1, 0, 1, reach};
    return true;
}

/* Gives a body at least the speed along the overlap that its pusher has. */
static void push(struct loose_body *body, struct place speed, const struct overlap *by)
{
    const int32_t mine = (body->speed.x * by->x + body->speed.y * by->y) / by->length;
    const int32_t its = (speed.x * by->x + speed.y * by->y) / by->length;
    if (its > mine) {
        body->speed.x += (its - mine) * by->x / by->length;
        body->speed.y += (its - mine) * by->y / by->length;
    }
}

static void push_bodies(struct arena *arena, uint32_t number)
{
    const struct player *player = &arena->players[number];
    const struct place at = {(int32_t)player->at.x, (int32_t)player->at.y};
    const struct place speed = {player->speed.x, player->speed.y};
    for (uint32_t i = 0; i < BODIES; i++) {
        struct loose_body *body = &arena->bodies[i];
        struct overlap by;
        if (!overlaps(at, body->at, PLAYER_RADIUS + BODY_RADIUS, &by))
            continue;
        body->at.x += by.x * by.depth / by.length;
        body->at.y += by.y * by.depth / by.length;
        push(body, speed, &by);
        body->owner = number + 1;
    }
}

/* Parts two bodies, and swaps the speeds that they have towards each other. */
static void collide(struct loose_body *a, struct loose_body *b)
{
    struct overlap by;
    if (!overlaps(a->at, b->at, 2 * BODY_RADIUS, &by))
        return;
    const int32_t half_x = by.x * by.depth / by.length / 2,
                  half_y = by.y * by.depth / by.length / 2;
    a->at.x -= half_x;
    a->at.y -= half_y;
    b->at.x += half_x;
    b->at.y += half_y;
    const int32_t closing =
        ((a->speed.x - b->speed.x) * by.x + (a->speed.y - b->speed.y) * by.y) / by.length;
    if (closing <= 0)
        return;
    const struct place swap = {closing * by.x / by.length * 7 / 8,
                               closing * by.y / by.length * 7 / 8};
    a->speed.x -= swap.x;
    a->speed.y -= swap.y;
    b->speed.x += swap.x;
    b->speed.y += swap.y;
}

/* Moves a body along one axis: it slows down, and bounces off the walls. */
static void roll(int32_t *at, int32_t *speed, int32_t size)
{
    *at += *speed;
    const int32_t clamped = clamp(*at, BODY_RADIUS, size - BODY_RADIUS);
    if (clamped != *at)
        *speed = -*speed * 3 / 4;
    *at = clamped;
    *speed -= *speed / 48 + (*speed > 0) - (*speed < 0);
}

/* Keeps a body inside the arena, so that nobody can push it through a wall. */
static void keep_inside(struct place *body)
{
    body->x = clamp(body->x, BODY_RADIUS, ARENA_WIDTH - BODY_RADIUS);
    body->y = clamp(body->y, BODY_RADIUS, ARENA_HEIGHT - BODY_RADIUS);
}

static void part_players(struct arena *arena, uint32_t a, uint32_t b)
{
    struct player *first = &arena->players[a], *second = &arena->players[b];
    const struct place from = {(int32_t)first->at.x, (int32_t)first->at.y};
    const struct place to = {(int32_t)second->at.x, (int32_t)second->at.y};
    struct overlap by;
    if (!overlaps(from, to, 2 * PLAYER_RADIUS, &by))
        return;
    const int32_t x = by.x * by.depth / by.length / 2, y = by.y * by.depth / by.length / 2;
    const int32_t right = ARENA_WIDTH - PLAYER_RADIUS, bottom = ARENA_HEIGHT - PLAYER_RADIUS;
    first->at.x = (uint32_t)clamp(from.x - x, PLAYER_RADIUS, right);
    first->at.y = (uint32_t)clamp(from.y - y, PLAYER_RADIUS, bottom);
    second->at.x = (uint32_t)clamp(to.x + x, PLAYER_RADIUS, right);
    second->at.y = (uint32_t)clamp(to.y + y, PLAYER_RADIUS, bottom);
}

static void end_round(struct arena *arena)
{
    uint32_t scores[MAX_PLAYERS];
    arena_scores(arena, scores);
    arena->round = (struct round){.ends = arena->tick + ROUND_TICKS};
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        if (scores[i] > arena->round.bodies) {
            arena->round.bodies = scores[i];
            arena->round.winner = i + 1;
        }
    place_bodies(arena);
}

void arena_step(struct arena *arena)
{
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        for (uint32_t k = i + 1; arena->here[i] && k < MAX_PLAYERS; k++)
            if (arena->here[k])
                part_players(arena, i, k);
    for (uint32_t i = 0; i < BODIES; i++) {
        struct loose_body *body = &arena->bodies[i];
        roll(&body->at.x, &body->speed.x, ARENA_WIDTH);
        roll(&body->at.y, &body->speed.y, ARENA_HEIGHT);
    }
    for (uint32_t i = 0; i < BODIES; i++)
        for (uint32_t k = i + 1; k < BODIES; k++)
            collide(&arena->bodies[i], &arena->bodies[k]);
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        if (arena->here[i])
            push_bodies(arena, i);
    for (uint32_t i = 0; i < BODIES; i++)
        keep_inside(&arena->bodies[i].at);
    if (++arena->tick == arena->round.ends)
        end_round(arena);
}

/* Returns the direction to a place, as a joystick gives it. */
static struct place towards(const struct player *from, struct place to)
{
    const int32_t x = to.x - (int32_t)from->at.x, y = to.y - (int32_t)from->at.y;
    const int32_t far = length(x, y);
    return far > 0 ? (struct place){x * 127 / far, y * 127 / far} : (struct place){0, 0};
}

struct command arena_bot(const struct arena *arena, uint32_t player)
{
    const struct player *self = &arena->players[player];
    const struct loose_body *next = NULL;
    int32_t nearest = INT32_MAX;
    for (uint32_t i = 0; i < BODIES; i++) {
        const struct loose_body *body = &arena->bodies[i];
        const int32_t far =
            length(body->at.x - (int32_t)self->at.x, body->at.y - (int32_t)self->at.y);
        if (body->owner != player + 1 && far < nearest) {
            nearest = far;
            next = body;
        }
    }
    if (!next)
        return (struct command){0};
    const struct place way = towards(self, next->at);
    return (struct command){.move.x = way.x,
                            .move.y = way.y,
                            .aim.x = way.x,
                            .aim.y = way.y,
                            .fire = nearest > 2 * METRE && nearest < SHOT_RANGE / 2};
}

void arena_scores(const struct arena *arena, uint32_t scores[MAX_PLAYERS])
{
    for (uint32_t i = 0; i < MAX_PLAYERS; i++)
        scores[i] = 0;
    for (uint32_t i = 0; i < BODIES; i++)
        if (arena->bodies[i].owner > 0)
            scores[arena->bodies[i].owner - 1]++;
}
