/* The step of one player for the page, from the same C code as the server's, compiled to
   WebAssembly. */
#include "arena.h"

#define EXPORT(name) __attribute__((export_name(#name)))

/* The numbers that the page exchanges with the step: a player's x, y, speed, aim, stun, reload;
   then a command's move, aim, fire. */
static int32_t numbers[13];

EXPORT(numbers) int32_t *page_numbers(void)
{
    return numbers;
}

EXPORT(step) void page_step(void)
{
    struct player player = {.at = {(uint32_t)numbers[0], (uint32_t)numbers[1]},
                            .speed = {numbers[2], numbers[3]},
                            .aim = {numbers[4], numbers[5]},
                            .stun = (uint32_t)numbers[6],
                            .reload = (uint32_t)numbers[7]};
    const struct command command = {.move = {numbers[8], numbers[9]},
                                    .aim = {numbers[10], numbers[11]},
                                    .fire = numbers[12] != 0};
    arena_step_player(&player, &command);
    numbers[0] = (int32_t)player.at.x;
    numbers[1] = (int32_t)player.at.y;
    numbers[2] = player.speed.x;
    numbers[3] = player.speed.y;
    numbers[4] = player.aim.x;
    numbers[5] = player.aim.y;
    numbers[6] = (int32_t)player.stun;
    numbers[7] = (int32_t)player.reload;
}
