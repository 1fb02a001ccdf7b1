/* A view of the cubes (cubes_server.h): it asks for a coding, reads the snapshots that come and
   acks them. Time and datagrams come from the caller. */
#ifndef CAUSEWAY_LAB_CUBES_VIEW_H
#define CAUSEWAY_LAB_CUBES_VIEW_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The figures of a cube, one after the other: the position in metres, the orientation as a unit
   quaternion (x, y, z, w), and 1 when the player has touched it, else 0. */
#define CW_LAB_CUBES_FIGURES 8

struct cw_lab_cubes_view;

/* *view is set only on CW_OK. Error: CW_ERROR_NO_MEMORY. The key is a random number for each view.
 */
enum cw_error cw_lab_cubes_view_create(uint32_t key, struct cw_lab_cubes_view **view);

/* NULL is allowed. */
void cw_lab_cubes_view_destroy(struct cw_lab_cubes_view *view);

/* Returns how many codings there are. They are numbered from 0, and each takes fewer bytes than the
   one before. */
uint32_t cw_lab_cubes_view_codings(void);

/* Asks for a coding; the snapshots of another are ignored from now on. */
void cw_lab_cubes_view_choose(struct cw_lab_cubes_view *view, uint32_t coding);

/* Takes a datagram that arrived. Returns false when it is not from the server of this view, or not
   of use. */
bool cw_lab_cubes_view_receive(struct cw_lab_cubes_view *view, const uint8_t *data, size_t size);

/* Writes the datagram of this tick to out, and returns its size; 0 when capacity is too small. The
   player shall go east and north, each from -127 to 127; 0 and 0: by itself. */
size_t cw_lab_cubes_view_transmit(struct cw_lab_cubes_view *view, int32_t east, int32_t north,
                                  uint8_t *out, size_t capacity);

/* Returns the figures of all cubes in turn as floats, valid as long as the view. */
const float *cw_lab_cubes_view_figures(const struct cw_lab_cubes_view *view);

struct cw_lab_cubes_view_stats {
    uint32_t datagrams; /* datagrams of the coding that came since it was chosen */
    uint32_t bytes;     /* their bytes, without UDP and IP headers */
    uint32_t snapshots; /* snapshots of which everything came */
    uint32_t first;     /* the ticks of the first and of the newest snapshot */
    uint32_t newest;
    bool full; /* the server has no place left */
};

void cw_lab_cubes_view_get_stats(const struct cw_lab_cubes_view *view,
                                 struct cw_lab_cubes_view_stats *stats);

CW_END_DECLARATIONS

#endif
