/* The server of the cubes: one world, and up to CW_LAB_CUBES_VIEWS views of it (cubes_view.h), each
   of which gets 60 snapshots per second in the coding that it asks for. Time and datagrams come
   from the caller. A stranger gets no more bytes than it has sent until it returns a cookie. */
#ifndef CAUSEWAY_LAB_CUBES_SERVER_H
#define CAUSEWAY_LAB_CUBES_SERVER_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

struct cw_lab_cubes_server;

/* *server is set only on CW_OK. Errors: CW_ERROR_NO_MEMORY, CW_ERROR_INVALID_ARGUMENT when random
   has no function. The seed is that of the world. Cookies come from random, which nobody may be
   able to guess. A zero allocator is malloc. */
enum cw_error cw_lab_cubes_server_create(uint64_t seed, const struct cw_random *random,
                                         const struct cw_allocator *allocator,
                                         struct cw_lab_cubes_server **server);

/* NULL is allowed. */
void cw_lab_cubes_server_destroy(struct cw_lab_cubes_server *server);

/* Returns whether a datagram is for this server; the lab has others. */
bool cw_lab_cubes_server_wants(const uint8_t *data, size_t size);

/* Takes a datagram that arrived. Writes an answer to out, which has room for size bytes, and
   returns its size; 0 when there is none. */
size_t cw_lab_cubes_server_receive(struct cw_lab_cubes_server *server,
                                   const struct cw_address *from, const uint8_t *data, size_t size,
                                   double now, uint8_t *out);

/* Lets a tick pass, of which there are CW_LAB_CUBES_RATE per second. The world stands still while
   nobody looks. */
void cw_lab_cubes_server_step(struct cw_lab_cubes_server *server, double now);

/* Writes the next datagram of this tick to out, which has room for CW_LAB_CUBES_MAX_DATAGRAM bytes,
   sets *to, and returns its size; 0 when there is none. */
size_t cw_lab_cubes_server_transmit(struct cw_lab_cubes_server *server, uint8_t *out,
                                    struct cw_address *to);

CW_END_DECLARATIONS

#endif
