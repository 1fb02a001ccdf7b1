/* The body of a snapshot at the receiver. */
#ifndef CAUSEWAY_SNAPSHOT_READER_H
#define CAUSEWAY_SNAPSHOT_READER_H

#include "game/snapshot_coder.h"
#include "game/snapshot_wire.h"

/* A snapshot that was received, as the server meant it: later ones are differences from it. */
struct cw_snapshot_received {
    uint32_t number; /* 0: none */
    uint32_t tick;
    uint32_t baseline;  /* the number of its baseline, 0: none */
    uint32_t *types;    /* for each entity its type plus 1, 0 when there is none */
    uint8_t *states;    /* for each entity its struct, quantized */
    uint64_t *mentions; /* the entities that it mentions; NULL without the range coder */
};

/* A snapshot that is being read, with its baseline and that one's own, or NULL. */
struct cw_snapshot_reading {
    const struct cw_snapshot_received *baseline, *before;
    struct cw_snapshot_received *snapshot;
    struct cw_snapshot_head head;
};

struct cw_snapshot_mention {
    uint32_t entity;
    bool whole;
    uint8_t incarnation; /* the incarnation of an entity that is sent whole */
};

/* Facts about a type that reading a snapshot needs often. */
struct cw_snapshot_kind {
    const struct cw_schema_steps *steps;
    bool plain;  /* see cw_schema_is_plain; sent as differences */
    bool floats; /* quantizing changes it */
};

/* The tools that read bodies. */
struct cw_snapshot_reader {
    struct cw_snapshot_wire wire;
    struct cw_snapshot_kind *kinds;       /* for each type of a snapshot; all false for 0 */
    struct cw_snapshot_mention *mentions; /* the entities that the snapshot being read has */
    struct cw_snapshot_coder *coder;      /* NULL without the range coder */
    size_t stride;                        /* bytes from one struct to the next */
};

static inline uint8_t *cw_snapshot_state_in(const struct cw_snapshot_reader *reader,
                                            const struct cw_snapshot_received *snapshot,
                                            uint32_t entity)
{
    return snapshot->states + (size_t)entity * reader->stride;
}

/* Reads a body, and nothing but zero bits after it, into the snapshot, which begins as a copy of
   the baseline; fills in its tick and the head. Returns false when the body is malformed; the
   snapshot and `mentions` are then in any state. */
bool cw_snapshot_read_body(const struct cw_snapshot_reader *with,
                           struct cw_snapshot_reading *reading, const uint8_t *data, size_t size);

#endif
