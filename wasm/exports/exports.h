/* The flat face of the core for JavaScript: numbers in, numbers out. A file per room, a function
   per verb. What does not fit in one number goes through the scratch area. */
#ifndef CAUSEWAY_EXPORTS_H
#define CAUSEWAY_EXPORTS_H

#include "causeway/connection.h"

#include <stdint.h>

#define CW_EXPORT(name) __attribute__((export_name(#name)))

/* Results of the call before, until the next call. */
extern union cw_scratch {
    uint32_t u32[64];
    double f64[32];
    uint8_t bytes[256];
} cw_scratch;

/* The fields of a config come as doubles, of which NaN stands for the default. A number that does
   not fit becomes one that the field does not take: 0, or the largest where 0 is taken. */
void cw_set_u32(uint32_t *field, double value);
void cw_set_u32_or_0(uint32_t *field, double value);
void cw_set_f64(double *field, double value);

/* The numbers of an endpoint's config, in the order in which JavaScript writes them. */
#define CW_ENDPOINT_NUMBERS 9
void cw_set_endpoint(struct cw_endpoint_config *config, const double *numbers);

/* A config from what JavaScript gives of it: its own numbers, those of its endpoint and those of
   channel_count channels. */
struct cw_connection_config cw_make_connection_config(const struct cw_schema *schema,
                                                      const double *numbers,
                                                      uint32_t channel_count);

#endif
