/* The articles' world of cubes: 900 lie on a plane and the player's own, larger one rolls among
   them, pushes, tips and throws them. They are rigid bodies with gravity, collisions and friction;
   a cube that has come to rest sleeps. The same seed gives the same run. */
#ifndef CAUSEWAY_LAB_CUBES_H
#define CAUSEWAY_LAB_CUBES_H

#include "causeway/schema.h"

#include <stdbool.h>
#include <stdint.h>

#define CW_LAB_CUBES_COUNT 901 /* number 0 is the player's */
#define CW_LAB_CUBES_RATE  60  /* steps per second */

struct cw_lab_cubes;

/* Returns NULL without memory. */
struct cw_lab_cubes *cw_lab_cubes_create(uint64_t seed);
void cw_lab_cubes_destroy(struct cw_lab_cubes *cubes);

/* Sends the player's cube this way for a tenth of a second: east and north, from -1 to 1. After
   that it runs on by itself, from one cube to another. */
void cw_lab_cubes_steer(struct cw_lab_cubes *cubes, double east, double north);

/* Advances the world by a sixtieth of a second. */
void cw_lab_cubes_step(struct cw_lab_cubes *cubes);

/* The state of a cube, in metres, metres per second and radians per second. */
struct cw_lab_cubes_body {
    double position[3], velocity[3];
    double orientation[4]; /* a unit quaternion: x, y, z, w */
    double spin[3];
    bool touched; /* the player's cube has touched it since it last rested */
    bool asleep;
};

void cw_lab_cubes_look(const struct cw_lab_cubes *cubes, uint32_t number,
                       struct cw_lab_cubes_body *body);

/* A cube as it is sent: 18 + 18 + 14 bits of position in 1/512 metre, the smallest three components
   of the quaternion in 9 bits each, for -1/sqrt(2) to 1/sqrt(2), and which one is left out. */
#define CW_LAB_CUBE_FIELDS(FIELD)                                                                  \
    FIELD(x, CW_INT(-131072, 131071))                                                              \
    FIELD(y, CW_INT(-131072, 131071))                                                              \
    FIELD(z, CW_UINT(0, 16383))                                                                    \
    FIELD(largest, CW_UINT(0, 3))                                                                  \
    FIELD(a, CW_UINT(0, 511))                                                                      \
    FIELD(b, CW_UINT(0, 511))                                                                      \
    FIELD(c, CW_UINT(0, 511))                                                                      \
    FIELD(touched, CW_BOOL)
CW_MESSAGE(cw_lab_cube, CW_LAB_CUBE_FIELDS)

void cw_lab_cubes_quantize(const struct cw_lab_cubes_body *body, struct cw_lab_cube *cube);

#endif
