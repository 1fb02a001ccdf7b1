#include "lab/match_internal.h"

#include "base/prng.h"

/* A player goes so far in a turn, and kicks a ball that is not farther away than REACH. */
#define PACE  6
#define REACH 70
#define KICK  18

/* A player goes one way for so many turns, and then back. */
#define STROLL 40

struct cw_lab_pitch cw_lab_pitch_begin(void)
{
    struct cw_lab_pitch pitch = {.ball = {CW_LAB_PITCH_WIDTH / 2, CW_LAB_PITCH_HEIGHT / 2}};
    for (int32_t i = 0; i < CW_LAB_PLAYERS; i++)
        pitch.players[i] = (struct cw_lab_spot){CW_LAB_PITCH_WIDTH * (i + 1) / (CW_LAB_PLAYERS + 1),
                                                CW_LAB_PITCH_HEIGHT * (1 + i % 2) / 3};
    return pitch;
}

struct cw_lab_push cw_lab_pitch_push(uint64_t seed, uint32_t player, uint32_t turn)
{
    const uint32_t stroll = turn / STROLL;
    struct cw_prng random = {seed ^ (uint64_t)(player + 1) << 32 ^ stroll / 2};
    const int32_t way = stroll % 2 ? -1 : 1;
    const int32_t x = (int32_t)cw_prng_below(&random, 3) - 1;
    const int32_t y = (int32_t)cw_prng_below(&random, 3) - 1;
    return (struct cw_lab_push){way * x, way * y};
}

static int32_t within(int32_t value, int32_t most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

void cw_lab_pitch_move(struct cw_lab_spot *player, struct cw_lab_push push)
{
    player->x = within(player->x + PACE * push.x, CW_LAB_PITCH_WIDTH);
    player->y = within(player->y + PACE * push.y, CW_LAB_PITCH_HEIGHT);
}

/* The ball rolls on in one direction, slows down, and comes back from the edge. */
static void roll(int32_t *at, int32_t *speed, int32_t most)
{
    const int32_t next = *at + *speed;
    *at = within(next, most);
    *speed -= *speed / 16 + (*speed > 0) - (*speed < 0);
    if (next != *at)
        *speed = -*speed;
}

void cw_lab_pitch_step(struct cw_lab_pitch *pitch, const struct cw_lab_push *pushes)
{
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++) {
        struct cw_lab_spot *player = &pitch->players[i];
        cw_lab_pitch_move(player, pushes[i]);
        const int32_t x = pitch->ball.x - player->x, y = pitch->ball.y - player->y;
        if (x * x + y * y <= REACH * REACH)
            pitch->ball_speed =
                (struct cw_lab_spot){x / 4 + KICK * pushes[i].x, y / 4 + KICK * pushes[i].y};
    }
    roll(&pitch->ball.x, &pitch->ball_speed.x, CW_LAB_PITCH_WIDTH);
    roll(&pitch->ball.y, &pitch->ball_speed.y, CW_LAB_PITCH_HEIGHT);
}

static uint64_t add(uint64_t hash, struct cw_lab_spot spot)
{
    const uint64_t bits = (uint64_t)(uint32_t)spot.x << 32 | (uint32_t)spot.y;
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ (bits >> i & 0xff)) * 0x100000001b3u;
    return hash;
}

/* FNV-1a. */
uint64_t cw_lab_pitch_hash(const struct cw_lab_pitch *pitch)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < CW_LAB_PLAYERS; i++)
        hash = add(hash, pitch->players[i]);
    return add(add(hash, pitch->ball), pitch->ball_speed);
}
