/* A snapshot on the wire:

       3 bytes  the snapshot's number, 16 bits; the number of snapshots back to the baseline,
                7 bits, 0: none; and whether predicting needs the baseline's own baseline too
       head     the tick, from the baseline's; whether the client then has every entity that it
                should have; the number of entries
       entries  one per entity, by id: the step from the last id, the kind of change, and the struct

   The three bytes differ between clients. The body, which follows them, is the same for all clients
   with the same baseline.

   A body through the range coder begins with the number of bytes of head and entries, 16 bits. The
   range coder's part comes after these: for each entity whether there is an entry, and for each
   entry whether it is one of plain fields; their changes are there too. The entries before it are
   then only the others, without ids. With 65535 for the number, everything is in head and entries,
   and there is no such part. */
#ifndef CAUSEWAY_SNAPSHOT_WIRE_H
#define CAUSEWAY_SNAPSHOT_WIRE_H

#include "base/bits_ahead.h"
#include "game/snapshot_predict.h"

#include "causeway/snapshot.h"

#define CW_SNAPSHOT_HEADER_SIZE 3
#define CW_SNAPSHOT_PREDICTS    0x80 /* in the last byte of the header */

/* The bytes before those of a body through the range coder. */
#define CW_SNAPSHOT_SPLIT_SIZE 2
#define CW_SNAPSHOT_NOT_SPLIT  65535

/* The state that writing and reading a body need. */
struct cw_snapshot_wire {
    const struct cw_schema *schema; /* the quantized schema */
    enum cw_snapshot_coding coding;
    uint32_t max_entities;
    unsigned id_bits;
    uint32_t last_type;
};

struct cw_snapshot_wire cw_snapshot_wire_make(const struct cw_schema *quantized,
                                              const struct cw_snapshot_config *config);

/* Returns the fields of a type when they are sent by prediction, otherwise NULL. */
const struct cw_schema_steps *cw_snapshot_moving(const struct cw_snapshot_wire *wire,
                                                 uint32_t type);

struct cw_snapshot_head {
    uint32_t baseline_tick; /* the tick of the baseline */
    bool has_baseline;
    uint32_t tick;
    bool complete; /* the client has every entity that it should have, and no other */
    uint32_t count;
};

bool cw_snapshot_serialize_head(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                                struct cw_snapshot_head *head);

enum cw_snapshot_change {
    CW_SNAPSHOT_UPDATE, /* the entity is sent as a difference */
    CW_SNAPSHOT_WHOLE,
    CW_SNAPSHOT_REMOVE
};

struct cw_snapshot_entry {
    uint32_t id;
    enum cw_snapshot_change change;
    bool in_baseline; /* the baseline has an entity of that id */
    uint32_t type;
    uint32_t incarnation; /* for an entity that is sent whole, 8 bits that differ for another entity
                             with this id */
    const void *baseline; /* the struct in the baseline, for an update */
    struct cw_snapshot_motion motion; /* the motion up to it, for a type that is predicted */
    void *state;                      /* for reading it may be the baseline */
};

/* Serializes an entry after its id: the kind of change and the struct. For reading, baseline and
   its type are given, and the struct goes to state, which was set to zero when there is no
   baseline. */
bool cw_snapshot_serialize_entry(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                                 struct cw_snapshot_entry *entry);

/* Returns whether the next entry, for an entity of the baseline, is an update: it begins with a 0.
   The reader is filled. */
CW_INLINE bool cw_snapshot_is_update(const struct cw_bit_reader *reader)
{
    return reader->available > 0 && (reader->scratch & 1) == 0;
}

/* An id is sent as the step from the one before it: step - low in the bits of one of these forms,
   after a 1, and as many zeros before that as there are forms before this one. After three zeros
   comes the id itself. */
static const struct {
    uint32_t low;
    unsigned bits;
} cw_snapshot_steps[] = {{1, 0}, {2, 2}, {6, 4}};

#define CW_SNAPSHOT_STEPS (sizeof cw_snapshot_steps / sizeof cw_snapshot_steps[0])

/* The previous id before the first one. */
#define CW_SNAPSHOT_NO_ID UINT32_MAX

/* Writes or measures an id that is above previous. */
bool cw_snapshot_write_id(const struct cw_snapshot_wire *wire, struct cw_stream *stream,
                          uint32_t previous, uint32_t id);

/* Reads such an id, and leaves bits loaded ahead: see cw_bit_reader_settle. */
CW_INLINE bool cw_snapshot_read_id(const struct cw_snapshot_wire *wire,
                                   struct cw_bit_reader *reader, uint32_t previous, uint32_t *id)
{
    cw_bit_reader_fill(reader);
    const uint32_t ahead = (uint32_t)reader->scratch;
    const unsigned form = ahead & 1 ? 0 : cw_lowest_bit(ahead | 1u << CW_SNAPSHOT_STEPS);
    unsigned bits = CW_SNAPSHOT_STEPS;
    if (CW_LIKELY(form == 0)) {
        *id = previous + 1;
        bits = 1;
    } else if (form < CW_SNAPSHOT_STEPS) {
        bits = form + 1;
        const uint32_t mask = (1u << cw_snapshot_steps[form].bits) - 1;
        *id = previous + cw_snapshot_steps[form].low + (ahead >> bits & mask);
        bits += cw_snapshot_steps[form].bits;
    } else {
        *id = ahead >> bits & ((1u << wire->id_bits) - 1);
        bits += wire->id_bits;
        if (previous != CW_SNAPSHOT_NO_ID && *id <= previous)
            return cw_bit_reader_fail(reader);
    }
    return cw_bit_reader_skip(reader, bits) &&
           (*id < wire->max_entities || cw_bit_reader_fail(reader));
}

/* Returns the bits that an id takes. */
CW_INLINE unsigned cw_snapshot_bits_of_id(const struct cw_snapshot_wire *wire, uint32_t previous,
                                          uint32_t id)
{
    const uint32_t step = id - previous;
    for (unsigned i = 0; i < CW_SNAPSHOT_STEPS; ++i)
        if ((step - cw_snapshot_steps[i].low) >> cw_snapshot_steps[i].bits == 0)
            return i + 1 + cw_snapshot_steps[i].bits;
    return (unsigned)CW_SNAPSHOT_STEPS + wire->id_bits;
}

/* The most bits that an id can take. */
unsigned cw_snapshot_id_bits(const struct cw_snapshot_wire *wire);

#endif
