/* The numbers of the format in record.h, which the writer and the reader of a recording share. */
#ifndef CAUSEWAY_RECORD_INTERNAL_H
#define CAUSEWAY_RECORD_INTERNAL_H

#include "packet/endpoint_internal.h"

#include "causeway/record.h"

#include <string.h>

#define CW_RECORD_MAGIC       "CWREC\1"
#define CW_RECORD_HEADER_SIZE 52
#define CW_RECORD_SECOND      1048576.0 /* units of time */
#define CW_RECORD_KIND_BITS   4
#define CW_RECORD_IN_TURN     6 /* the place in the header */

enum {
    CW_RECORD_KIND_STATE,
    CW_RECORD_KIND_CONGESTION = CW_ENDPOINT_CALL_COUNT,
    CW_RECORD_KIND_NOTE
};

#define CW_RECORD_CONFIG(FIELD)                                                                    \
    FIELD(max_packet_size)                                                                         \
    FIELD(fragment_size)                                                                           \
    FIELD(max_send_size)                                                                           \
    FIELD(fragment_above)                                                                          \
    FIELD(sent_window)                                                                             \
    FIELD(received_window)                                                                         \
    FIELD(max_reassemblies)                                                                        \
    FIELD(rtt_smoothing)                                                                           \
    FIELD(min_loss_timeout_seconds)

/* All that the statistics follow from, but for the packets in the windows: those of the replay know
   them by the time of the second state. The rest of an endpoint follows from these packets. */
#define CW_RECORD_STATE(FIELD)                                                                     \
    FIELD(sent.window.next)                                                                        \
    FIELD(received.window.next)                                                                    \
    FIELD(received.history)                                                                        \
    FIELD(received.counted)                                                                        \
    FIELD(received.missed)                                                                         \
    FIELD(received.loss)                                                                           \
    FIELD(sent.silence.last_arrival)                                                               \
    FIELD(sent.silence.usual)                                                                      \
    FIELD(sent.silence.excess)                                                                     \
    FIELD(sent.silence.idle)                                                                       \
    FIELD(sent.silence.due)                                                                        \
    FIELD(sent.silence.asked)                                                                      \
    FIELD(sent.rtt.smoothed)                                                                       \
    FIELD(sent.rtt.min)                                                                            \
    FIELD(sent.rtt.deviation)                                                                      \
    FIELD(sent.rtt.jitter)                                                                         \
    FIELD(sent.rtt.last)                                                                           \
    FIELD(sent.rtt.sampled)                                                                        \
    FIELD(sent.late_samples)                                                                       \
    FIELD(sent.short_samples)                                                                      \
    FIELD(sent.short_until)                                                                        \
    FIELD(sent.short_most)                                                                         \
    FIELD(sent.loss_timeout)                                                                       \
    FIELD(sent.loss)                                                                               \
    FIELD(sent.lasting_loss)                                                                       \
    FIELD(sent.paired_loss)                                                                        \
    FIELD(sent.acked)                                                                              \
    FIELD(sent.lost)                                                                               \
    FIELD(sent.bytes_acked)                                                                        \
    FIELD(reassemblies.abandoned)                                                                  \
    FIELD(reassemblies.fragments)                                                                  \
    FIELD(rate_sent.bytes_before)                                                                  \
    FIELD(rate_sent.bytes_per_second)                                                              \
    FIELD(rate_received.bytes_before)                                                              \
    FIELD(rate_received.bytes_per_second)                                                          \
    FIELD(rate_acked.bytes_before)                                                                 \
    FIELD(rate_acked.bytes_per_second)                                                             \
    FIELD(rates_refreshed)                                                                         \
    FIELD(rates_started)                                                                           \
    FIELD(stats.packets_sent)                                                                      \
    FIELD(stats.packets_received)                                                                  \
    FIELD(stats.packets_duplicate)                                                                 \
    FIELD(stats.packets_stale)                                                                     \
    FIELD(stats.packets_malformed)                                                                 \
    FIELD(stats.fragments_sent)                                                                    \
    FIELD(stats.datagrams_sent)                                                                    \
    FIELD(stats.datagrams_received)                                                                \
    FIELD(stats.bytes_sent)                                                                        \
    FIELD(stats.bytes_received)                                                                    \
    FIELD(received.untold)

#define CW_RECORD_SIZE_OF(field) +sizeof((struct cw_endpoint *)0)->field
#define CW_RECORD_STATE_SIZE     (0 CW_RECORD_STATE(CW_RECORD_SIZE_OF))

/* The last field differs from the replay's between begin and commit, which are one event. */
#define CW_RECORD_COMPARED_SIZE (CW_RECORD_STATE_SIZE - sizeof(uint32_t))

/* Copies a number between memory and the little-endian bytes of a recording. */
CW_SHARED void cw_record_copy(void *to, const void *from, size_t size)
{
    const uint16_t one = 1;
    memcpy(to, from, size);
    for (size_t i = 0; i < size && !*(const uint8_t *)&one; i++)
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[size - 1 - i];
}

CW_SHARED void cw_record_save_state(const struct cw_endpoint *endpoint, uint8_t *at)
{
#define CW_RECORD_SAVE(field)                                                                      \
    cw_record_copy(at, &endpoint->field, sizeof endpoint->field);                                  \
    at += sizeof endpoint->field;
    CW_RECORD_STATE(CW_RECORD_SAVE)
}

/* Returns the bytes that the headers of a datagram of size bytes may take, by its first byte. */
CW_SHARED size_t cw_record_headers(uint8_t prefix, size_t size)
{
    size_t most = CW_PACKET_HEADER_MIN_SIZE + !(prefix & CW_PACKET_PREFIX_SHORT_ACK);
    for (unsigned n = 0; n < 4; n++)
        most += prefix >> n & CW_PACKET_PREFIX_ACK_BYTE ? 1 : 0;
    if (prefix & CW_PACKET_PREFIX_FRAGMENT)
        most = CW_FRAGMENT_HEADER_SIZE + CW_PACKET_HEADER_MAX_SIZE;
    return most < size ? most : size;
}

#endif
