/* Turns a float from min to max into the number of a step, and back. Both sides must get the same
   bits, so every operation is rounded to a float, in this order. Each is a statement of its own,
   because within one statement a compiler may round once for two operations. */
#ifndef CAUSEWAY_COMPRESSED_FLOAT_H
#define CAUSEWAY_COMPRESSED_FLOAT_H

#include "base/shared.h"

#include <math.h>
#include <stdint.h>

/* The number of the last step, at least 1. The limits and the resolution must be usable. */
CW_SHARED float cw_compressed_float_steps(float min, float max, float resolution)
{
    const float delta = max - min;
    const float steps = delta / resolution;
    /* the largest float below 2^32 */
    return steps > 1 ? ceilf(steps < 4294967040.0f ? steps : 4294967040.0f) : 1;
}

/* The step that is nearest to the value. */
CW_SHARED uint32_t cw_compressed_float_step(float value, float min, float max, float steps)
{
    const float delta = max - min;
    float part = value - min;
    part /= delta;
    part = part > 0 ? part : 0;
    part = part < 1 ? part : 1;
    part *= steps;
    part += 0.5f;
    /* from 2^23 on, the added half can carry into the next step */
    return (uint32_t)(part < steps ? floorf(part) : steps);
}

/* The value of a step. */
CW_SHARED float cw_compressed_float_value(uint32_t step, float min, float max, float steps)
{
    const float delta = max - min;
    float part = (float)step / steps;
    part *= delta;
    part += min;
    return part;
}

#endif
