/* The state that an entity will have if it goes on as before, along a line through its states in
   two snapshots that both ends have, and the differences from that state. All arithmetic is in
   integers, so that both ends expect the same. It works for plain structs: see schema_plain.h. */
#ifndef CAUSEWAY_SNAPSHOT_PREDICT_H
#define CAUSEWAY_SNAPSHOT_PREDICT_H

#include "message/schema_plain.h"

/* Integers of at most this many bits are expected to stay: they say what an entity does, not where
   it is. */
#define CW_SNAPSHOT_STILL_BITS 4

/* The most ticks for which a motion is expected to go on. */
#define CW_SNAPSHOT_MOST_TICKS 1024

/* The motion from one state to the baseline, and on from there. */
struct cw_snapshot_motion {
    const uint8_t *before; /* the struct, of the same type; NULL: not known */
    uint32_t took;         /* ticks from that state to the baseline, 1 to CW_SNAPSHOT_MOST_TICKS */
    uint32_t ahead;        /* ticks from the baseline to now, 0 to as many */
};

CW_INLINE bool cw_snapshot_can_predict(uint32_t took, uint32_t ahead)
{
    return took > 0 && took <= CW_SNAPSHOT_MOST_TICKS && ahead <= CW_SNAPSHOT_MOST_TICKS;
}

CW_INLINE unsigned cw_snapshot_field_bits(const struct cw_schema_step *step)
{
    return step->code == CW_CODE_PLAIN_BOOL ? 1 : step->bits;
}

/* Returns a plain field as an offset from its minimum. */
CW_INLINE uint32_t cw_snapshot_load(const struct cw_schema_step *step, const uint8_t *state)
{
    return step->code == CW_CODE_PLAIN_BOOL ? state[step->value] != 0
                                            : cw_schema_load_integer(step, state + step->value);
}

CW_INLINE void cw_snapshot_store(const struct cw_schema_step *step, uint32_t number, uint8_t *state)
{
    number += (uint32_t)step->min;
    if (step->code == CW_CODE_PLAIN_BOOL)
        state[step->value] = number != 0;
    else
        memcpy(state + step->value, &number, sizeof number);
}

/* Computes the expected fields, CW_SCHEMA_GROUP of them at most. */
void cw_snapshot_expect(const struct cw_schema_steps *steps,
                        const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                        uint32_t *expected);

/* Writes, reads or measures a plain struct by the fields that were not expected: a bit per field,
   then each of these, integers as exponential Golomb codes of the difference. For reading, state
   may be the baseline. Returns false as every function of a stream does. */
bool cw_snapshot_serialize_moved(struct cw_stream *stream, const struct cw_schema_steps *steps,
                                 const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                                 uint8_t *state);

#endif
