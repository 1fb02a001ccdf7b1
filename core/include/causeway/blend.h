/* What is between two states. fraction 0 is from and 1 is to; a fraction above 1 goes on beyond
   to. */
#ifndef CAUSEWAY_BLEND_H
#define CAUSEWAY_BLEND_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

float cw_lerp(float from, float to, float fraction);

/* Angles in radians, the shorter way round. */
float cw_lerp_angle(float from, float to, float fraction);

/* A cubic that leaves from and reaches to with the velocities given, per second; seconds is the
   time from one to the other. Beyond to it goes on straight. */
float cw_hermite(float from, float from_velocity, float to, float to_velocity, float seconds,
                 float fraction);

/* Rotations as quaternions of length 1: turns from into to evenly, the shorter way round, off by at
   most 0.001 radians between them. Beyond to, up to a fraction of 16, it turns on. out may be one
   of the others. */
void cw_slerp(const float from[4], const float to[4], float fraction, float out[4]);

CW_END_DECLARATIONS

#endif
