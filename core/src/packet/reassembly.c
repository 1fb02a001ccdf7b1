#include "packet/reassembly.h"

#include "base/sequence.h"

#include <string.h>

void cw_reassemblies_reset(struct cw_reassemblies *reassemblies)
{
    reassemblies->active = 0;
    reassemblies->abandoned = 0;
    reassemblies->fragments = 0;
    for (uint32_t i = 0; i < reassemblies->capacity; i++)
        reassemblies->order[i] = (uint8_t)i;
}

static struct cw_reassembly *active_at(struct cw_reassemblies *reassemblies, uint32_t i)
{
    return &reassemblies->slots[reassemblies->order[i]];
}

static void remove_at(struct cw_reassemblies *reassemblies, uint32_t i)
{
    const uint32_t last = --reassemblies->active;
    const uint8_t slot = reassemblies->order[i];
    reassemblies->order[i] = reassemblies->order[last];
    reassemblies->order[last] = slot;
}

static struct cw_reassembly *find(struct cw_reassemblies *reassemblies, uint16_t sequence)
{
    for (uint32_t i = 0; i < reassemblies->active; i++) {
        struct cw_reassembly *packet = active_at(reassemblies, i);
        if (packet->header.sequence == sequence)
            return packet;
    }
    return NULL;
}

/* Returns a slot for a new packet: when all are taken, the slot of the oldest packet, unless the
   new one is older still. */
static struct cw_reassembly *open_slot(struct cw_reassemblies *reassemblies, uint16_t sequence)
{
    if (reassemblies->active == reassemblies->capacity) {
        uint32_t oldest = 0;
        for (uint32_t i = 1; i < reassemblies->active; i++) {
            if (cw_sequence_newer(active_at(reassemblies, oldest)->header.sequence,
                                  active_at(reassemblies, i)->header.sequence))
                oldest = i;
        }
        if (!cw_sequence_newer(sequence, active_at(reassemblies, oldest)->header.sequence))
            return NULL;
        remove_at(reassemblies, oldest);
        reassemblies->abandoned++;
    }
    return active_at(reassemblies, reassemblies->active++);
}

enum cw_error cw_reassemblies_receive(struct cw_reassemblies *reassemblies,
                                      const struct cw_fragment_header *fragment,
                                      const uint8_t *data, size_t size,
                                      struct cw_reassembly **complete)
{
    *complete = NULL;
    if (fragment->count > reassemblies->max_fragments)
        return CW_ERROR_MALFORMED;

    struct cw_packet_header header = {.sequence = fragment->sequence};
    size_t skip = CW_FRAGMENT_HEADER_SIZE;
    if (fragment->id == 0) {
        const size_t embedded = cw_packet_header_read_canonical(&header, data + skip, size - skip);
        if (embedded == 0 || header.sequence != fragment->sequence)
            return CW_ERROR_MALFORMED;
        skip += embedded;
    }
    const bool is_last = fragment->id == fragment->count - 1;
    const size_t length = size - skip;
    const size_t offset = (size_t)fragment->id * reassemblies->fragment_size;
    if (length > reassemblies->fragment_size ||
        (!is_last && length < reassemblies->fragment_size) ||
        length > reassemblies->max_packet_size || offset > reassemblies->max_packet_size - length)
        return CW_ERROR_MALFORMED;

    struct cw_reassembly *packet = find(reassemblies, fragment->sequence);
    if (!packet) {
        packet = open_slot(reassemblies, fragment->sequence);
        if (!packet)
            return CW_ERROR_STALE;
        packet->header = header;
        packet->count = fragment->count;
        packet->received = 0;
        packet->size = 0;
        memset(packet->present, 0, sizeof packet->present);
    }
    if (packet->count != fragment->count)
        return CW_ERROR_MALFORMED;
    uint8_t *present = &packet->present[fragment->id / 8];
    const uint8_t bit = (uint8_t)(1u << (fragment->id % 8));
    if (*present & bit)
        return CW_ERROR_DUPLICATE;

    *present |= bit;
    packet->received++;
    reassemblies->fragments++;
    memcpy(packet->payload + offset, data + skip, length);
    if (fragment->id == 0)
        packet->header = header;
    if (is_last)
        packet->size = offset + length;
    if (packet->received == packet->count)
        *complete = packet;
    return CW_OK;
}

void cw_reassemblies_release(struct cw_reassemblies *reassemblies, struct cw_reassembly *packet)
{
    for (uint32_t i = 0; i < reassemblies->active; i++) {
        if (active_at(reassemblies, i) == packet) {
            remove_at(reassemblies, i);
            return;
        }
    }
}

void cw_reassemblies_expire(struct cw_reassemblies *reassemblies, uint16_t oldest)
{
    for (uint32_t i = reassemblies->active; i-- > 0;) {
        if (cw_sequence_newer(oldest, active_at(reassemblies, i)->header.sequence)) {
            remove_at(reassemblies, i);
            reassemblies->abandoned++;
        }
    }
}
