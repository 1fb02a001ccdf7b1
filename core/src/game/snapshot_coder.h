/* Changes of entities through a range coder, whose models begin anew with each snapshot. It codes
   only things that models can learn: which entities have changed, and plain fields (see
   schema_plain.h). */
#ifndef CAUSEWAY_SNAPSHOT_CODER_H
#define CAUSEWAY_SNAPSHOT_CODER_H

#include "base/range_coder.h"
#include "game/snapshot_predict.h"

#define CW_SNAPSHOT_CODER_MOTIONS 8
#define CW_SNAPSHOT_CODER_PLACES  14

struct cw_snapshot_coder {
    struct cw_range_coder range;
    bool last_changed;
    /* The models are indexed by whether the entity changed in the baseline, and whether the one
       before it has changed now. */
    struct cw_range_model changed[2][2];
    struct cw_range_model plain; /* the entry is one of plain fields */

    /* Fields share models by their index. */
    struct cw_range_model kept[CW_SCHEMA_GROUP];
    struct cw_range_model small[CW_SCHEMA_GROUP][16];
    struct cw_range_model field[CW_SCHEMA_GROUP][CW_SNAPSHOT_CODER_PLACES];
    /* The models of motion are indexed by the bits of the distance that the field is expected to
       move. */
    struct cw_range_model motion[CW_SNAPSHOT_CODER_MOTIONS][CW_SNAPSHOT_CODER_PLACES];
};

/* Begins a snapshot. */
void cw_snapshot_coder_start(struct cw_snapshot_coder *coder, struct cw_range_coder range);

/* Codes whether the next entity has changed, one after the other. did_before says that it had
   changed in the baseline. */
bool cw_snapshot_code_changed(struct cw_snapshot_coder *coder, bool did_before, bool *changed);

/* Codes whether the entity's fields follow here, or its change is in an entry. */
bool cw_snapshot_code_is_plain(struct cw_snapshot_coder *coder, bool *plain);

/* Codes the fields of a plain struct against those of the baseline, which may be the same memory
   when reading. */
bool cw_snapshot_code_fields(struct cw_snapshot_coder *coder, const struct cw_schema_steps *steps,
                             const struct cw_snapshot_motion *motion, const uint8_t *baseline,
                             uint8_t *state);

#endif
