/* The fields whose differences are cheap to send: single bools, single integers of at most 32 bits,
   and floats as such integers. Everything is inline, so that a loop over many structs keeps its
   reader in registers. */
#ifndef CAUSEWAY_SCHEMA_PLAIN_H
#define CAUSEWAY_SCHEMA_PLAIN_H

#include "message/difference.h"
#include "message/schema_internal.h"

/* The number of fields in one group. Each group begins with a bit per field that tells whether it
   has changed. */
#define CW_SCHEMA_GROUP 32

CW_INLINE bool cw_schema_is_plain_integer(const struct cw_schema_step *step)
{
    return step->code == CW_CODE_PLAIN_RANGE || step->code == CW_CODE_PLAIN_32;
}

/* Returns whether the struct has only plain fields, and few enough for a filled reader to hold
   their bits and one more. */
CW_INLINE bool cw_schema_is_plain(const struct cw_schema_steps *steps)
{
    bool plain = steps->count >= 1 && steps->count < CW_SCHEMA_GROUP;
    for (uint32_t i = 0; i < steps->count; ++i)
        plain &=
            steps->at[i].code == CW_CODE_PLAIN_BOOL || cw_schema_is_plain_integer(&steps->at[i]);
    return plain;
}

CW_INLINE uint32_t cw_schema_load_integer(const struct cw_schema_step *step, const uint8_t *value)
{
    uint32_t number;
    memcpy(&number, value, sizeof number);
    return number - (uint32_t)step->min;
}

/* Reads an integer that has changed. The old one is at value, and the new one replaces it. Leaves
   bits loaded ahead. */
CW_INLINE bool cw_schema_read_integer(struct cw_bit_reader *reader,
                                      const struct cw_schema_step *step, uint8_t *value)
{
    uint32_t number;
    if (!cw_difference_read(reader, step->bits, cw_schema_load_integer(step, value), &number))
        return false;
    if (number > (uint32_t)step->range)
        return cw_bit_reader_fail(reader);
    number += (uint32_t)step->min;
    memcpy(value, &number, sizeof number);
    return true;
}

/* Returns whether a plain field is the same in two structs. */
CW_INLINE bool cw_schema_is_plain_same(const struct cw_schema_step *step, const uint8_t *a,
                                       const uint8_t *b)
{
    return step->code == CW_CODE_PLAIN_BOOL
               ? (a[step->value] != 0) == (b[step->value] != 0)
               : memcmp(a + step->value, b + step->value, sizeof(uint32_t)) == 0;
}

/* Writes the changes of a plain struct. */
CW_INLINE bool cw_schema_write_plain(struct cw_bit_writer *writer,
                                     const struct cw_schema_steps *steps, const uint8_t *baseline,
                                     const uint8_t *message)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < steps->count; ++i)
        mask |= (uint32_t)!cw_schema_is_plain_same(&steps->at[i], baseline, message) << i;
    if (!cw_bit_writer_bits(writer, mask, steps->count))
        return false;
    for (; mask > 0; mask &= mask - 1) {
        const struct cw_schema_step *const step = &steps->at[cw_lowest_bit(mask)];
        if (step->code != CW_CODE_PLAIN_BOOL &&
            !cw_difference_write(writer, step->bits,
                                 cw_schema_load_integer(step, baseline + step->value),
                                 cw_schema_load_integer(step, message + step->value)))
            return false;
    }
    return true;
}

/* Reads the changes of a plain struct in its place. The reader must have been filled, and no more
   than one bit taken since. Leaves bits loaded ahead. */
CW_INLINE bool cw_schema_read_plain(struct cw_bit_reader *reader,
                                    const struct cw_schema_steps *steps, uint8_t *message)
{
    /* a compiler cannot know that writing to message leaves steps as they are */
    const struct cw_schema_step *const fields = steps->at;
    uint32_t mask = cw_difference_low(reader->scratch, steps->count);
    if (!cw_bit_reader_skip(reader, steps->count))
        return false;
    for (; mask > 0; mask &= mask - 1) {
        const struct cw_schema_step *const step = &fields[cw_lowest_bit(mask)];
        uint8_t *const value = message + step->value;
        if (step->code == CW_CODE_PLAIN_BOOL)
            *value = *value == 0;
        else if (!cw_schema_read_integer(reader, step, value))
            return false;
    }
    return true;
}

#endif
