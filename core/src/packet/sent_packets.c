#include "packet/sent_packets.h"

#include <math.h>

#define SHORT_SAMPLES 3          /* the mean follows at least this many short samples */
#define PAIRED_WEIGHT (1.0 / 32) /* weight of a loss in paired_loss */

void cw_sent_packets_reset(struct cw_sent_packets *sent)
{
    cw_sequence_buffer_reset(&sent->window);
    sent->oldest_pending = 0;
    sent->unseen = 0;
    sent->header_known = sent->header_arrived = false;
    sent->events_read = sent->events_written = sent->events_promised = 0;
    sent->rtt = (struct cw_rtt){0};
    sent->silence = (struct cw_silence){.last_arrival = (double)NAN};
    sent->late_samples = sent->short_samples = 0;
    sent->loss_timeout = cw_rtt_timeout(&sent->rtt, sent->min_loss_timeout_seconds);
    sent->loss = sent->lasting_loss = sent->paired_loss = 0;
    sent->acked = 0;
    sent->lost = 0;
    sent->bytes_acked = 0;
}

/* Returns whether the packet before or after that one is known to be lost. A pair counts once, when
   the second of the two is judged, so that the share of pairs among losses at random equals the
   share of losses. */
static bool lost_beside(const struct cw_sent_packets *sent, uint16_t sequence)
{
    const struct cw_sent_packet *before = cw_sent_packets_find(sent, (uint16_t)(sequence - 1));
    const struct cw_sent_packet *after = cw_sent_packets_find(sent, (uint16_t)(sequence + 1));
    return (before && before->fate == CW_PACKET_LOST) || (after && after->fate == CW_PACKET_LOST);
}

/* Returns whether the packet is older than all packets that the other end's newest header reports.
   While the other end answers so rarely that there are more packets between two headers than one
   can report, the fate of the rest is unknown. */
static bool passed_by(const struct cw_sent_packets *sent, uint16_t sequence)
{
    return sent->patient && sent->header_known &&
           cw_sequence_difference(sent->header_ack, sequence) >= CW_ACKS_PER_HEADER;
}

/* Declares a packet lost. One that was passed by has most likely arrived, so it does not count as a
   loss of the path. */
static void declare_lost(struct cw_sent_packets *sent, uint16_t sequence,
                         struct cw_sent_packet *packet)
{
    packet->fate = CW_PACKET_LOST;
    cw_sent_packets_push_event(sent, CW_SENT_EVENT_LOST | sequence);
    sent->lost++;
    if (passed_by(sent, sequence))
        return;
    sent->loss = cw_loss_sample(sent->loss, true);
    sent->lasting_loss += (1 - sent->lasting_loss) * CW_LASTING_WEIGHT;
    sent->paired_loss +=
        ((lost_beside(sent, sequence) ? 1.0 : 0.0) - sent->paired_loss) * PAIRED_WEIGHT;
}

void cw_sent_packets_follow_down(struct cw_sent_packets *sent, uint16_t sequence, double sample)
{
    if (sent->short_samples++ == 0 || sample * CW_SHORT_SAMPLE < sent->short_most) {
        sent->short_samples = 1;
        sent->short_until = sent->window.next;
        sent->short_most = 0;
    }
    if (sent->short_most < sample)
        sent->short_most = sample;
    if (sent->short_samples < SHORT_SAMPLES || cw_sequence_newer(sent->short_until, sequence))
        return;
    sent->rtt.smoothed = sent->short_most;
    sent->short_samples = 0;
}

void cw_sent_packets_take_older(struct cw_sent_packets *sent, uint16_t ack, uint32_t new_acks)
{
    for (new_acks &= ~(uint32_t)1; new_acks; new_acks &= new_acks - 1) {
        const uint16_t sequence = (uint16_t)(ack - cw_lowest_bit(new_acks));
        struct cw_sent_packet *packet = cw_sent_packets_find(sent, sequence);
        if (packet && packet->fate != CW_PACKET_ACKED)
            cw_sent_packets_settle(sent, sequence, packet);
    }
}

void cw_sent_packets_found(struct cw_sent_packets *sent)
{
    sent->lost--;
    sent->loss = sent->loss > CW_LOSS_WEIGHT ? sent->loss - CW_LOSS_WEIGHT : 0;
    sent->lasting_loss =
        sent->lasting_loss > CW_LASTING_WEIGHT ? sent->lasting_loss - CW_LASTING_WEIGHT : 0;
}

/* Goes back from the newest packet that the other end has seen through those that are still
   pending, as far as its header reports them. */
void cw_sent_packets_find_lost(struct cw_sent_packets *sent)
{
    uint32_t acked_later = 0;
    for (uint16_t sequence = sent->header_ack;
         !cw_sequence_newer(sent->oldest_pending, sequence) && !passed_by(sent, sequence);
         sequence--) {
        struct cw_sent_packet *packet = cw_sent_packets_at(sent, sequence);
        if (packet->fate == CW_PACKET_ACKED)
            acked_later++;
        else if (packet->fate == CW_PACKET_PENDING && acked_later >= CW_ACKS_THAT_TELL_LOSS)
            declare_lost(sent, sequence, packet);
    }
    cw_sent_packets_skip_settled(sent);
}

bool cw_sent_packets_spread(const struct cw_sent_packets *sent, uint32_t parts, double now)
{
    const uint32_t most = sent->window.mask + 1;
    const uint16_t first =
        (uint16_t)(sent->window.next - (sent->unseen < most ? sent->unseen : most));
    const uint16_t latest = (uint16_t)(sent->window.next - 1);
    double round_trip = now - cw_sent_packets_at(sent, first)->time;
    if (round_trip < sent->rtt.smoothed)
        round_trip = sent->rtt.smoothed;
    double interval = round_trip / parts;
    if (interval > CW_LONGEST_INTERVAL)
        interval = CW_LONGEST_INTERVAL;
    return now - cw_sent_packets_at(sent, latest)->time >= interval;
}

void cw_sent_packets_let_leave(struct cw_sent_packets *sent, uint16_t sequence)
{
    struct cw_sent_packet *packet = cw_sent_packets_at(sent, sequence);
    if (packet->fate == CW_PACKET_PENDING)
        declare_lost(sent, sequence, packet);
    sent->events_promised--;
    cw_sent_packets_skip_settled(sent);
}

void cw_sent_packets_give_up(struct cw_sent_packets *sent, double timeout, double now)
{
    while (sent->oldest_pending != sent->window.next) {
        struct cw_sent_packet *packet = cw_sent_packets_at(sent, sent->oldest_pending);
        if (now - packet->time < timeout)
            return;
        declare_lost(sent, sent->oldest_pending, packet);
        cw_sent_packets_skip_settled(sent);
    }
}
