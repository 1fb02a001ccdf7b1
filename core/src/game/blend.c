#include "causeway/interpolation.h"

#include <math.h>
#include <string.h>

#define TURN         6.283185307179586f
#define MAX_FRACTION 16.0f

float cw_lerp(float from, float to, float fraction)
{
    return from + (to - from) * fraction;
}

float cw_lerp_angle(float from, float to, float fraction)
{
    const float way = to - from;
    return from + (way - TURN * floorf(way / TURN + 0.5f)) * fraction;
}

float cw_hermite(float from, float from_velocity, float to, float to_velocity, float seconds,
                 float fraction)
{
    if (fraction > 1)
        return to + to_velocity * seconds * (fraction - 1);
    const float t = fraction;
    const float rest = 1 - t;
    return (1 + 2 * t) * rest * rest * from + t * rest * rest * seconds * from_velocity +
           t * t * (3 - 2 * t) * to - t * t * rest * seconds * to_velocity;
}

/* Sines differ from one C library to the next. This is a normalized lerp whose fraction is bent by
   a polynomial, fitted to make the angle nearly even. */
void cw_slerp(const float from[4], const float to[4], float fraction, float out[4])
{
    if (!from || !to || !out)
        return;
    float a[4], b[4], length = 0, cosine = 0;
    memcpy(a, from, sizeof a);
    memcpy(b, to, sizeof b);
    for (int i = 0; i < 4; i++)
        cosine += a[i] * b[i];
    /* A quaternion and its opposite are the same rotation. */
    for (int i = 0; cosine < 0 && i < 4; i++)
        b[i] = -b[i];
    cosine = cosine < 1 ? fabsf(cosine) : 1;
    /* A fraction above 1 goes on along the same circle. */
    for (fraction = fminf(fraction, MAX_FRACTION); fraction > 1; fraction -= 1)
        for (int i = 0; i < 4; i++) {
            const float next = 2 * cosine * b[i] - a[i];
            a[i] = b[i];
            b[i] = next;
        }
    const float middle = fraction - 0.5f;
    const float bend = 1.0904f + cosine * (-3.2452f + cosine * (3.55645f - cosine * 1.43519f));
    const float rest = 0.848013f + cosine * (-1.06021f + cosine * 0.215638f);
    const float even =
        fraction + fraction * middle * (fraction - 1) * (bend * middle * middle + rest);
    for (int i = 0; i < 4; i++) {
        out[i] = cw_lerp(a[i], b[i], even);
        length += out[i] * out[i];
    }
    length = sqrtf(length);
    for (int i = 0; length > 0 && i < 4; i++)
        out[i] /= length;
}
