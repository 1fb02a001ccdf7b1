/* The articles' world of cubes: 900 lie on a plane and the player's own, larger one rolls among
   them, pushes, tips and throws them. They are rigid bodies with gravity, collisions and friction;
   a cube that has come to rest sleeps. The same seed gives the same run. */
#ifndef CAUSEWAY_TESTS_CUBES_H
#define CAUSEWAY_TESTS_CUBES_H

#include "causeway/schema.h"

#include <stdbool.h>
#include <stdint.h>

#define CUBES_COUNT 901 /* number 0 is the player's */
#define CUBES_RATE  60  /* steps per second */

/* Figures are taken over the worlds of the seeds 1 to CUBES_SEEDS, each from its beginning. */
#ifndef CUBES_SEEDS
#define CUBES_SEEDS   4
#define CUBES_SECONDS 40
#endif

struct cubes;

/* Returns NULL without memory. */
struct cubes *cubes_create(uint64_t seed);
void cubes_destroy(struct cubes *cubes);

/* Advances the world by a sixtieth of a second. */
void cubes_step(struct cubes *cubes);

/* The state of a cube, in metres, metres per second and radians per second. */
struct cubes_body {
    double position[3], velocity[3];
    double orientation[4]; /* a unit quaternion: x, y, z, w */
    double spin[3];
    bool touched; /* the player's cube has touched it since it last rested */
    bool asleep;
};

void cubes_body(const struct cubes *cubes, uint32_t number, struct cubes_body *body);

/* A cube as it is sent: 18 + 18 + 14 bits of position in 1/512 metre, the smallest three components
   of the quaternion in 9 bits each, for -1/sqrt(2) to 1/sqrt(2), and which one is left out. */
#define CUBE_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_INT(-131072, 131071))                                                              \
    FIELD(y, CW_INT(-131072, 131071))                                                              \
    FIELD(z, CW_UINT(0, 16383))                                                                    \
    FIELD(largest, CW_UINT(0, 3))                                                                  \
    FIELD(a, CW_UINT(0, 511))                                                                      \
    FIELD(b, CW_UINT(0, 511))                                                                      \
    FIELD(c, CW_UINT(0, 511))                                                                      \
    FIELD(touched, CW_BOOL)
CW_MESSAGE(cube, CUBE_FIELDS)

void cubes_quantize(const struct cubes_body *body, struct cube *cube);

#endif
