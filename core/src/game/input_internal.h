/* What the two ends of inputs have in common. */
#ifndef CAUSEWAY_INPUT_INTERNAL_H
#define CAUSEWAY_INPUT_INTERNAL_H

#include "causeway/input.h"

/* How early an input was is on the wire in 16 bits, in parts of a tick. */
#define CW_INPUT_EARLY_PARTS 256.0

enum cw_error cw_input_config_check(const struct cw_input_config *config);

/* Bytes of the struct, rounded up to what aligns any type. */
size_t cw_input_stride(const struct cw_input_config *config);

/* The head of a body: the newest tick and how many inputs it has. */
bool cw_input_serialize_head(struct cw_stream *stream, uint16_t *newest, uint32_t *count);

/* One of its inputs; before is the one of the tick before, NULL for the first. To read into, input
   was set to zero before. */
bool cw_input_serialize(const struct cw_input_config *config, struct cw_stream *stream,
                        const void *before, void *input);

/* The tick nearest to one that is known, from its low 16 bits. */
static inline uint32_t cw_input_unwrap(uint16_t low, uint32_t known)
{
    const int32_t ahead = (int16_t)(uint16_t)(low - known);
    return known + (uint32_t)ahead;
}

#endif
