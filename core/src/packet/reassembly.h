/* Packets that arrive in fragments, put together in memory that is bounded from the start. */
#ifndef CAUSEWAY_REASSEMBLY_H
#define CAUSEWAY_REASSEMBLY_H

#include "packet/packet_header.h"

#include "causeway/base.h"

#define CW_REASSEMBLY_MAX_SLOTS     64
#define CW_REASSEMBLY_MAX_FRAGMENTS 256

struct cw_reassembly {
    struct cw_packet_header header; /* sequence from the first fragment seen, acks from fragment
                                       0 */
    uint32_t count;
    uint32_t received;
    size_t size;                                      /* known once the last fragment has arrived */
    uint8_t present[CW_REASSEMBLY_MAX_FRAGMENTS / 8]; /* a bit for each fragment */
    uint8_t *payload;
};

/* The first `active` entries of order are the slots in use. */
struct cw_reassemblies {
    struct cw_reassembly *slots;
    uint8_t order[CW_REASSEMBLY_MAX_SLOTS];
    uint32_t active;
    uint32_t capacity;
    uint32_t fragment_size;
    uint32_t max_fragments;
    uint32_t max_packet_size;
    uint64_t abandoned;
    uint64_t fragments;
};

void cw_reassemblies_reset(struct cw_reassemblies *reassemblies);

/* Takes a fragment. data begins with its header, which has been read already. Sets *complete to the
   packet when this was the last missing fragment, otherwise to NULL. Hand the packet back with
   cw_reassemblies_release. Errors: CW_ERROR_MALFORMED, CW_ERROR_DUPLICATE, or CW_ERROR_STALE when
   every slot holds a newer packet. */
enum cw_error cw_reassemblies_receive(struct cw_reassemblies *reassemblies,
                                      const struct cw_fragment_header *fragment,
                                      const uint8_t *data, size_t size,
                                      struct cw_reassembly **complete);

void cw_reassemblies_release(struct cw_reassemblies *reassemblies, struct cw_reassembly *packet);

/* Gives up packets older than oldest. */
void cw_reassemblies_expire(struct cw_reassemblies *reassemblies, uint16_t oldest);

#endif
