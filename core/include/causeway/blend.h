/* Blends two states. fraction 0 is from and 1 is to; a fraction above 1 goes beyond to. */
#ifndef CAUSEWAY_BLEND_H
#define CAUSEWAY_BLEND_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

float cw_lerp(float from, float to, float fraction);

/* Angles in radians, the shorter way round. */
float cw_lerp_angle(float from, float to, float fraction);

/* A cubic that leaves from and reaches to with the given velocities, per second. seconds is the
   time between the two. Beyond to it continues in a straight line. */
float cw_hermite(float from, float from_velocity, float to, float to_velocity, float seconds,
                 float fraction);

/* Rotations as quaternions of length 1. Turns from into to at an even rate, the shorter way round,
   with an error of at most 0.001 radians between them. Beyond to it keeps turning, up to a fraction
   of 16. out may be from or to. */
void cw_slerp(const float from[4], const float to[4], float fraction, float out[4]);

CW_END_DECLARATIONS

#endif
