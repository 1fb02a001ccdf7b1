/* Declarations that the two ends of inputs share. */
#ifndef CAUSEWAY_INPUT_INTERNAL_H
#define CAUSEWAY_INPUT_INTERNAL_H

#include "causeway/input.h"

/* The parts of a tick in which the wire says, in 16 bits, by how much an input was early. */
#define CW_INPUT_EARLY_PARTS 256.0

enum cw_error cw_input_config_check(const struct cw_input_config *config);

/* The bytes of the struct, rounded up so that any type is aligned. */
size_t cw_input_stride(const struct cw_input_config *config);

/* Serializes the head of a body: the newest tick and the number of inputs. */
bool cw_input_serialize_head(struct cw_stream *stream, uint16_t *newest, uint32_t *count);

/* Serializes one input of a body. before is the input of the previous tick, NULL for the first. For
   reading, input must be all zero. */
bool cw_input_serialize(const struct cw_input_config *config, struct cw_stream *stream,
                        const void *before, void *input);

/* Returns the tick with these low 16 bits that is nearest to a known one. */
static inline uint32_t cw_input_unwrap(uint16_t low, uint32_t known)
{
    const int32_t ahead = (int16_t)(uint16_t)(low - known);
    return known + (uint32_t)ahead;
}

#endif
