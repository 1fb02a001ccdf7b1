/* Packets in fragments: those of an endpoint that are sent and received in parts. */
#include "packet/endpoint_internal.h"

#include <string.h>

#define REASSEMBLY_WINDOW 64 /* packets behind the newest that may still be incomplete */

size_t cw_endpoint_write_fragment(struct cw_endpoint *e, uint8_t *out, uint16_t sequence)
{
    const struct cw_fragment_header fragment = {
        .sequence = sequence, .id = e->outgoing_next, .count = e->outgoing_fragments};
    const size_t offset = (size_t)fragment.id * e->config.fragment_size;
    const size_t left = e->outgoing_size - offset;
    const size_t length = left < e->config.fragment_size ? left : e->config.fragment_size;
    cw_fragment_header_write(out, &fragment);
    size_t written = CW_FRAGMENT_HEADER_SIZE;
    if (fragment.id == 0)
        written += cw_endpoint_write_header(e, out + written, sequence);
    memcpy(out + written, e->outgoing + offset, length);
    e->outgoing_next++;
    e->stats.fragments_sent++;
    return written + length;
}

size_t cw_endpoint_commit_outgoing(struct cw_endpoint *e, struct cw_sent_packet *packet,
                                   size_t size, uint16_t sequence)
{
    uint8_t *const out = e->begun;
    e->begun = NULL;
    size_t written;
    if (size > e->config.fragment_above) {
        e->outgoing_size = size;
        e->outgoing_fragments =
            (uint32_t)((size + e->config.fragment_size - 1) / e->config.fragment_size);
        e->outgoing_next = 0;
        written = cw_endpoint_write_fragment(e, out, sequence);
    } else {
        written = cw_endpoint_write_header(e, out, sequence);
        memcpy(out + written, e->outgoing, size);
        written += size;
    }
    cw_endpoint_count_datagram(e, packet, written);
    return written;
}

/* Packets in fragments have a window of their own, as in the reference: it is smaller, because each
   of them holds memory while it is incomplete. */
static uint16_t oldest_reassembled(const struct cw_endpoint *e)
{
    const uint32_t window = e->config.received_window;
    return (uint16_t)(e->received.window.next -
                      (window < REASSEMBLY_WINDOW ? window : REASSEMBLY_WINDOW));
}

void cw_endpoint_expire_fragments(struct cw_endpoint *e)
{
    cw_reassemblies_expire(&e->reassemblies, oldest_reassembled(e));
}

void cw_endpoint_release_packet(struct cw_endpoint *e)
{
    cw_reassemblies_release(&e->reassemblies, e->packet_owner);
    e->packet_owner = NULL;
}

/* Sets *whole when the packet is whole; its header and payload are then given. */
static enum cw_error read_fragment(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                   struct cw_packet_header *header, bool *whole)
{
    struct cw_fragment_header fragment;
    if (!cw_fragment_header_read(&fragment, data, size))
        return CW_ERROR_MALFORMED;
    if (cw_sequence_newer(oldest_reassembled(e), fragment.sequence))
        return CW_ERROR_STALE;
    if (cw_sequence_buffer_exists(&e->received.window, fragment.sequence))
        return CW_ERROR_DUPLICATE;
    struct cw_reassembly *complete;
    const enum cw_error error =
        cw_reassemblies_receive(&e->reassemblies, &fragment, data, size, &complete);
    if (error != CW_OK)
        return error;
    *whole = complete != NULL;
    if (complete) {
        e->packet_owner = complete;
        *header = complete->header;
        e->packet.payload = complete->payload;
        e->packet.size = complete->size;
    } else {
        cw_received_packets_advance(&e->received, fragment.sequence);
        cw_reassemblies_expire(&e->reassemblies, oldest_reassembled(e));
    }
    return CW_OK;
}

enum cw_error cw_endpoint_receive_fragment(struct cw_endpoint *e, const uint8_t *data, size_t size,
                                           double now)
{
    struct cw_packet_header header;
    bool whole = false;
    const enum cw_error error = read_fragment(e, data, size, &header, &whole);
    if (error != CW_OK)
        return cw_endpoint_count_refused(e, error);
    if (whole)
        cw_endpoint_offer(e, &header, now);
    return CW_OK;
}
