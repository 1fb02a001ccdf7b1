#include "packet/sent_packets.h"

#include "packet/received_packets.h"

#include "causeway/bits.h"

#include <math.h>

#define EVENTS_AT_MOST       2  /* the most events of one packet */
#define LATE_SAMPLES_REFUSED 16 /* one late sample in this many counts */
#define SHORT_SAMPLE         1.5 /* a short sample is at least this many times shorter than the mean */
#define SHORT_SAMPLES        3           /* the mean follows at least this many short samples */
#define LASTING_WEIGHT       (1.0 / 768) /* weight of a packet in lasting_loss */
#define PAIRED_WEIGHT        (1.0 / 32)  /* weight of a loss in paired_loss */

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

static void push_event(struct cw_sent_packets *sent, uint32_t event)
{
    sent->events[sent->events_written++ & sent->events_mask] = event;
    sent->events_promised--;
}

/* Returns a packet that is in the window. oldest_pending is in it unless it is next, because
   packets that leave the window are settled first. */
static struct cw_sent_packet *in_window(const struct cw_sent_packets *sent, uint16_t sequence)
{
    return (struct cw_sent_packet *)(void *)sent->window.entries + (sequence & sent->window.mask);
}

static void skip_settled(struct cw_sent_packets *sent)
{
    while (sent->oldest_pending != sent->window.next &&
           in_window(sent, sent->oldest_pending)->fate != CW_PACKET_PENDING)
        sent->oldest_pending++;
}

/* Returns whether the packet before or after that one is known to be lost. A pair counts once, when
   the second of the two is judged, so that the share of pairs among losses at random equals the
   share of losses. */
static bool lost_beside(const struct cw_sent_packets *sent, uint16_t sequence)
{
    const struct cw_sent_packet *before =
        cw_sequence_buffer_find(&sent->window, (uint16_t)(sequence - 1));
    const struct cw_sent_packet *after =
        cw_sequence_buffer_find(&sent->window, (uint16_t)(sequence + 1));
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
    push_event(sent, CW_SENT_EVENT_LOST | sequence);
    sent->lost++;
    if (passed_by(sent, sequence))
        return;
    sent->loss = cw_loss_sample(sent->loss, true);
    sent->lasting_loss += (1 - sent->lasting_loss) * LASTING_WEIGHT;
    sent->paired_loss +=
        ((lost_beside(sent, sequence) ? 1.0 : 0.0) - sent->paired_loss) * PAIRED_WEIGHT;
}

/* Lowers the mean when for a whole round trip no sample was nearly as long: the longest of these
   samples replaces it, because the mean would forget an outage only slowly. */
static void follow_down(struct cw_sent_packets *sent, uint16_t sequence, double sample)
{
    if (sample * SHORT_SAMPLE > sent->rtt.smoothed) {
        sent->short_samples = 0;
        return;
    }
    if (sent->short_samples++ == 0 || sample * SHORT_SAMPLE < sent->short_most) {
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

/* Takes a sample of the RTT. When a header of the other end was lost, the next one reports late
   what the lost one would have reported. Such a sample counts only where others are rare. A header
   that arrives after an unusual silence may have waited for all of it: its sample says only that
   the RTT is not shorter than the rest. */
static void take_sample(struct cw_sent_packets *sent, uint16_t sequence, double sample, bool prompt)
{
    struct cw_rtt *rtt = &sent->rtt;
    const double excess = sent->silence.excess;
    if (!prompt && rtt->sampled && ++sent->late_samples < LATE_SAMPLES_REFUSED)
        return;
    sent->late_samples = 0;
    if (excess > 0 && rtt->sampled && sample > rtt->smoothed) {
        sample -= excess;
        if (sample <= rtt->smoothed)
            return;
    }
    cw_rtt_sample(rtt, sample, sent->rtt_smoothing);
    follow_down(sent, sequence, sample);
    sent->loss_timeout = cw_rtt_timeout(rtt, sent->min_loss_timeout_seconds);
}

static void take_ack(struct cw_sent_packets *sent, uint16_t sequence, bool is_newest, bool prompt,
                     double now)
{
    struct cw_sent_packet *packet = cw_sequence_buffer_find(&sent->window, sequence);
    if (!packet || packet->fate == CW_PACKET_ACKED)
        return;
    if (packet->fate == CW_PACKET_LOST) {
        sent->lost--;
        sent->loss = sent->loss > CW_LOSS_WEIGHT ? sent->loss - CW_LOSS_WEIGHT : 0;
        sent->lasting_loss =
            sent->lasting_loss > LASTING_WEIGHT ? sent->lasting_loss - LASTING_WEIGHT : 0;
    } else {
        sent->events_promised--; /* it will not be reported lost any more */
        sent->loss = cw_loss_sample(sent->loss, false);
        sent->lasting_loss -= sent->lasting_loss * LASTING_WEIGHT;
    }
    packet->fate = CW_PACKET_ACKED;
    push_event(sent, sequence);
    sent->acked++;
    sent->bytes_acked += packet->bytes;
    if (is_newest)
        take_sample(sent, sequence, now - packet->time, prompt);
}

/* Goes back from the newest packet that the other end has seen through those that are still
   pending, as far as its header reports them. */
static void find_lost(struct cw_sent_packets *sent)
{
    uint32_t acked_later = 0;
    for (uint16_t sequence = sent->header_ack;
         !cw_sequence_newer(sent->oldest_pending, sequence) && !passed_by(sent, sequence);
         sequence--) {
        struct cw_sent_packet *packet = in_window(sent, sequence);
        if (packet->fate == CW_PACKET_ACKED)
            acked_later++;
        else if (packet->fate == CW_PACKET_PENDING && acked_later >= CW_ACKS_THAT_TELL_LOSS)
            declare_lost(sent, sequence, packet);
    }
}

/* A header repeats most of the acks of the one before. These are left out, so that only new ones
   cost work, and so that, when nothing of ours has arrived for a whole lap of the numbers, old acks
   do not count for the packets that have these numbers now. */
void cw_sent_packets_take_acks(struct cw_sent_packets *sent, uint16_t ack, uint32_t ack_bits,
                               bool prompt, double now)
{
    if (!cw_sequence_buffer_exists(&sent->window, ack))
        return;
    uint32_t known = 0;
    bool is_newer = true;
    if (sent->header_arrived) {
        const int ahead = cw_sequence_difference(ack, sent->header_ack);
        if (ahead >= 0 && ahead < CW_ACKS_PER_HEADER)
            known = sent->header_ack_bits << ahead;
        else if (ahead < 0 && ahead > -CW_ACKS_PER_HEADER)
            known = sent->header_ack_bits >> -ahead;
        is_newer = ahead >= 0 || !sent->header_known;
    }
    uint32_t news = ack_bits & ~known;
    if (is_newer) {
        sent->header_ack = ack;
        sent->header_ack_bits = ack_bits | known;
        sent->header_known = sent->header_arrived = true;
        sent->unseen = (uint16_t)(sent->window.next - 1 - ack);
    }
    if (!news)
        return;
    do {
        const unsigned behind = cw_lowest_bit(news);
        news &= news - 1;
        take_ack(sent, (uint16_t)(ack - behind), behind == 0, prompt, now);
    } while (news);
    skip_settled(sent);
    if (cw_sequence_newer(sent->header_ack, sent->oldest_pending)) {
        find_lost(sent);
        skip_settled(sent);
    }
}

/* Returns the packet that leaves the window when one more is sent; NULL when its fate is settled
   for good. */
static struct cw_sent_packet *leaving_packet(const struct cw_sent_packets *sent)
{
    const uint16_t leaving = (uint16_t)(sent->window.next - (sent->window.mask + 1));
    struct cw_sent_packet *last = cw_sequence_buffer_find(&sent->window, leaving);
    return last && last->fate != CW_PACKET_ACKED ? last : NULL;
}

/* The packet that leaves needs room for one event less: its ack comes too late. */
bool cw_sent_packets_have_room(const struct cw_sent_packets *sent)
{
    const uint32_t waiting = sent->events_written - sent->events_read;
    const uint32_t needed = waiting + sent->events_promised + EVENTS_AT_MOST;
    const uint32_t room = sent->events_mask + 1;
    return needed <= room || (needed == room + 1 && leaving_packet(sent));
}

struct cw_sent_packet *cw_sent_packets_add(struct cw_sent_packets *sent)
{
    if (!cw_sent_packets_have_room(sent))
        return NULL;
    const uint16_t leaving = (uint16_t)(sent->window.next - (sent->window.mask + 1));
    struct cw_sent_packet *last = leaving_packet(sent);
    if (last) {
        if (last->fate == CW_PACKET_PENDING)
            declare_lost(sent, leaving, last);
        sent->events_promised--;
        skip_settled(sent);
    }
    if (sent->header_ack == leaving)
        sent->header_known = false;
    struct cw_sent_packet *packet = cw_sequence_buffer_append(&sent->window);
    *packet = (struct cw_sent_packet){.fate = CW_PACKET_PENDING};
    sent->events_promised += EVENTS_AT_MOST;
    sent->unseen++;
    return packet;
}

bool cw_sent_packets_spread(const struct cw_sent_packets *sent, uint32_t parts, double now)
{
    const uint32_t most = sent->window.mask + 1;
    const uint16_t first =
        (uint16_t)(sent->window.next - (sent->unseen < most ? sent->unseen : most));
    const uint16_t latest = (uint16_t)(sent->window.next - 1);
    double round_trip = now - in_window(sent, first)->time;
    if (round_trip < sent->rtt.smoothed)
        round_trip = sent->rtt.smoothed;
    double interval = round_trip / parts;
    if (interval > CW_LONGEST_INTERVAL)
        interval = CW_LONGEST_INTERVAL;
    return now - in_window(sent, latest)->time >= interval;
}

/* Returns the timeout of a patient sender: the other end's next packet, which reports this one, may
   be long in coming, and longer while the other end is idle. */
static double patient_timeout(const struct cw_sent_packets *sent)
{
    double timeout = sent->rtt.smoothed + sent->silence.idle + CW_SILENCES * sent->silence.usual;
    if (timeout > CW_LONGEST_TIMEOUT)
        timeout = CW_LONGEST_TIMEOUT;
    return timeout > sent->loss_timeout ? timeout : sent->loss_timeout;
}

void cw_sent_packets_update(struct cw_sent_packets *sent, double now)
{
    const double timeout = sent->patient ? patient_timeout(sent) : sent->loss_timeout;
    while (sent->oldest_pending != sent->window.next) {
        struct cw_sent_packet *packet = in_window(sent, sent->oldest_pending);
        if (now - packet->time < timeout)
            return;
        declare_lost(sent, sent->oldest_pending, packet);
        skip_settled(sent);
    }
}
