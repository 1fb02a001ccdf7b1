/* The datagrams between the server of the cubes (cubes_server.h) and a view of them (cubes_view.h),
   and the codings in them. These are the steps of Glenn Fiedler's "Snapshot Compression". */
#ifndef CAUSEWAY_LAB_CUBES_WIRE_H
#define CAUSEWAY_LAB_CUBES_WIRE_H

#include "causeway/snapshot.h"
#include "causeway/stream.h"
#include "lab/cubes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The codings, in the article's order, each for fewer bits than the one before. The first five send
   every cube, always. */
enum cw_lab_cubes_coding {
    CW_LAB_CUBES_FLOATS,         /* position, orientation and velocity in floats, and a bit */
    CW_LAB_CUBES_SMALLEST_THREE, /* orientation in 29 bits */
    CW_LAB_CUBES_AT_REST,        /* velocity in 33 bits, and only of cubes that are not at rest */
    CW_LAB_CUBES_NO_VELOCITY,    /* no velocity */
    CW_LAB_CUBES_BOUNDED,        /* position in 50 bits */
    CW_LAB_CUBES_CHANGED,     /* cubes that differ from the newest snapshot acked, and a bit each */
    CW_LAB_CUBES_DIFFERENCES, /* the codings of snapshot.h */
    CW_LAB_CUBES_PREDICTED,
    CW_LAB_CUBES_RANGE_CODED,
    CW_LAB_CUBES_CODING_COUNT
};

/* A view's datagram, little-endian:

       1 byte    CW_LAB_CUBES_VERSION
       4 bytes   the key: a random number, which another view does not have
       8 bytes   the cookie that the server has given it; 0 before that
       1 byte    the enum cw_lab_cubes_coding that it wants
       1 byte    how often it has changed that, so that late datagrams are known as such
       1 byte    1 when an ack follows, or 0
       2 bytes   the tick or, in the codings of snapshot.h, the number of the newest snapshot
       2 bytes   where the player shall go, east and north, from -127 to 127; 0 and 0: by itself

   The server's:

       1 byte    CW_LAB_CUBES_VERSION
       4 bytes   the key
       1 byte    the coding, or CW_LAB_CUBES_COOKIE: the cookie follows; or CW_LAB_CUBES_FULL
       1 byte    the number of the change
       2 bytes   the tick
       then, in the first codings: 1 byte with the number of the part, and bits: whether the
       snapshot has a baseline, 7 bits with how many ticks older it is, 10 bits with the first cube,
       10 bits with the count, and the cubes. In those of snapshot.h: a snapshot. */
#define CW_LAB_CUBES_VERSION       0xC1
#define CW_LAB_CUBES_COOKIE        0xFF
#define CW_LAB_CUBES_FULL          0xFE
#define CW_LAB_CUBES_VIEW_SIZE     20
#define CW_LAB_CUBES_SERVER_HEADER 9
#define CW_LAB_CUBES_MAX_DATAGRAM  1100
#define CW_LAB_CUBES_MAX_BODY      (CW_LAB_CUBES_MAX_DATAGRAM - CW_LAB_CUBES_SERVER_HEADER)

#define CW_LAB_CUBES_VIEWS     8             /* views of one server */
#define CW_LAB_CUBES_KEPT      64            /* ticks back that a baseline may be */
#define CW_LAB_CUBES_PARTS     64            /* the most datagrams of a snapshot */
#define CW_LAB_CUBES_CUBE_BITS (10 * 32 + 1) /* no cube takes more */

/* A cube as the first codings know it. quantized has what BOUNDED and CHANGED send, the rest of it
   what the others do. */
struct cw_lab_cubes_state {
    float position[3], velocity[3], orientation[4];
    struct cw_lab_cube quantized;
    bool at_rest;
};

void cw_lab_cubes_state_of(const struct cw_lab_cubes_body *body, struct cw_lab_cubes_state *state);

/* Sets position and orientation to what the quantized cube says. */
void cw_lab_cubes_restore(struct cw_lab_cubes_state *state);

/* The part of a snapshot that a datagram has, in the first codings. */
struct cw_lab_cubes_part {
    bool has_baseline;
    uint32_t ago; /* the baseline's ticks before the snapshot, below CW_LAB_CUBES_KEPT */
    uint32_t first, count;
};

bool cw_lab_cubes_serialize_part(struct cw_stream *stream, struct cw_lab_cubes_part *part);

/* Serializes a cube in one of the first codings. baseline is NULL without one, and only CHANGED
   uses it. */
bool cw_lab_cubes_serialize_cube(struct cw_stream *stream, enum cw_lab_cubes_coding coding,
                                 struct cw_lab_cubes_state *state,
                                 const struct cw_lab_cube *baseline);

/* Returns the config of both ends for a coding of snapshot.h. */
struct cw_snapshot_config cw_lab_cubes_snapshots(const struct cw_schema *schema,
                                                 enum cw_lab_cubes_coding coding,
                                                 const struct cw_allocator *allocator);

CW_END_DECLARATIONS

#endif
