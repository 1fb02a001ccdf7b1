/* The body of a snapshot at the receiver. */
#ifndef CAUSEWAY_SNAPSHOT_READER_H
#define CAUSEWAY_SNAPSHOT_READER_H

#include "game/snapshot_coder.h"
#include "game/snapshot_wire.h"

/* A snapshot that was received, as it was meant: what later ones are told against. */
struct cw_snapshot_received {
    uint32_t number; /* 0: none */
    uint32_t tick;
    uint32_t baseline; /* the number of the snapshot that it was told against, 0: none */
    uint32_t *types;   /* per entity: 1 more than its type, 0 when there is none */
    uint8_t *states;   /* per entity: its struct, quantized */
    uint64_t *told;    /* entities that it told of; NULL without the range coder */
};

/* A snapshot that is being read, and those that it is told against, or NULL. */
struct cw_snapshot_reading {
    const struct cw_snapshot_received *baseline, *before;
    struct cw_snapshot_received *snapshot;
    struct cw_snapshot_head head;
};

struct cw_snapshot_told {
    uint32_t entity;
    bool whole;
    uint8_t incarnation; /* for an entity that is sent whole */
};

/* Facts about a type that reading a snapshot needs often. */
struct cw_snapshot_kind {
    const struct cw_schema_steps *steps;
    bool plain;  /* see cw_schema_is_plain; and is told by its differences */
    bool floats; /* is quantized into something else */
};

/* The tools that read bodies. */
struct cw_snapshot_reader {
    struct cw_snapshot_wire wire;
    struct cw_snapshot_kind *kinds;  /* per type of a snapshot; of 0, all false */
    struct cw_snapshot_told *told;   /* the entities that the snapshot being read has */
    struct cw_snapshot_coder *coder; /* NULL without the range coder */
    size_t stride;                   /* from one struct to the next */
};

static inline uint8_t *cw_snapshot_state_in(const struct cw_snapshot_reader *reader,
                                            const struct cw_snapshot_received *snapshot,
                                            uint32_t entity)
{
    return snapshot->states + (size_t)entity * reader->stride;
}

/* Reads a body, and nothing but zero bits after it, into the snapshot, which has what the baseline
   has; fills in its tick and the head. False, with the snapshot and what was told in any state,
   when it is malformed. */
bool cw_snapshot_read_body(const struct cw_snapshot_reader *with,
                           struct cw_snapshot_reading *reading, const uint8_t *data, size_t size);

#endif
