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
   not fit becomes 0, which no field of a config takes. */
void cw_set_u32(uint32_t *field, double value);
void cw_set_f64(double *field, double value);

/* A config from what JavaScript gives of it: the numbers of channel_count channels, and numbers of
   which NaN stands for the default. */
struct cw_connection_config cw_make_connection_config(const struct cw_schema *schema,
                                                      const double *channels,
                                                      uint32_t channel_count, double max_messages,
                                                      double max_packets_per_update);

#endif
