/* The errors that a correction leaves in what is shown. Each number of a struct has one, the shown
   value minus the true one, and it fades away. */
#ifndef CAUSEWAY_SMOOTHING_H
#define CAUSEWAY_SMOOTHING_H

#include "base/memory.h"
#include "message/schema_numbers.h"

/* The numbers of a type, and for each field the largest error that is smoothed. */
struct cw_smoothing {
    struct cw_schema_numbers numbers;
    const float *limits;
};

/* Takes the parts from the arena. The limits are copied; NULL: all are 0. smoothing is NULL while
   measuring. */
void cw_smoothing_layout(struct cw_smoothing *smoothing, struct cw_arena *arena,
                         const struct cw_schema *schema, uint32_t type, const float *limits);

/* Copies one amount for each field; there are zeros when amounts is NULL. Returns NULL while
   measuring. */
const float *cw_smoothing_amounts(struct cw_arena *arena, const struct cw_message_type *type,
                                  const float *amounts);

/* Returns the difference of two structs in a number; 0 when one of them does not have it. */
double cw_smoothing_difference(const struct cw_smoothing *smoothing,
                               const struct cw_schema_number *number, const void *a, const void *b);

/* Sets the errors so that the new state together with them gives what the old state was shown
   as. */
void cw_smoothing_correct(const struct cw_smoothing *smoothing, double *errors, const void *old,
                          const void *state);

/* Adds the errors to a state that will be shown. Integers are rounded. */
void cw_smoothing_add(const struct cw_smoothing *smoothing, const double *errors, void *state);

#endif
