/* The knowledge with which a connection decides what is due: how long to wait for acks, and what
   the path loses. */
#include "message/connection_answers.h"

#define BEFORE_SAMPLES 1.0  /* seconds that stand for an unknown RTT or silence */
#define DEVIATIONS     2    /* deviations of the RTT by which an answer may be late */
#define MAX_SLACK      0.02 /* seconds by which an ack may be given up early */
#define REPEAT_TICKS   24   /* ticks: rarer headers pass packets by, as one reports 32 */

/* The shares of recent losses, and of losses over a longer time, above which a path is lossy. */
#define LOSSY         0.03
#define LASTING_LOSSY 0.0065

/* The round trips after which copies leave where losses come in bursts: the first one, and each
   further one. Two of them and the ticks for which they wait take no longer than an ack. */
#define FIRST_COPY     0.45
#define NEXT_COPY      0.5
#define TICKS_OF_EARLY 3 /* ticks in a round trip from which on a block may begin early */

/* Notes what the other end's headers have reported. Some ticks before its next round there is still
   room in that round's header for packets that were passed by. Where headers come rarely and
   packets get lost, one that does not come counts as lost: the next one would bring the news too
   late. */
void cw_connection_set_headers(struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    const double silence = sent->silence.usual;
    c->timing.last_arrival = sent->silence.last_arrival;
    c->timing.newest_reported = sent->header_ack;
    c->timing.refused = sent->header_arrived && !(sent->header_ack_bits & 1);
    if (c->timing.lossy && silence > c->timing.answer &&
        c->timing.now - c->timing.last_arrival >= CW_SILENCES * silence)
        c->timing.last_arrival = c->timing.now;
    c->timing.rare = silence > REPEAT_TICKS * c->interval && sent->header_known;
    if (!c->timing.rare)
        return;
    c->timing.oldest_reported = (uint16_t)(sent->header_ack - (CW_ACKS_PER_HEADER - 1));
    c->timing.repeat = sent->silence.last_arrival + silence - REPEAT_TICKS * c->interval;
}

/* Notes what is lost. Losses come in bursts when a packet next to a lost one is lost more often
   than not, beyond chance. Copies then leave twice in a round trip, the first a bit early, so that
   two of them and the ticks for which they wait take no longer than an ack. Where next to nothing
   is lost, a block has arrived by the time the next one does, so the next one may begin early. With
   one packet a round, as the reference sends, its order is kept too. On a short path, the fragments
   that have to go twice then cost more than the wait. */
static void set_losses(struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    c->timing.loss = sent->loss;
    c->timing.known_loss = sent->loss > sent->lasting_loss ? sent->loss : sent->lasting_loss;
    c->timing.paired_loss = sent->paired_loss;
    c->timing.lossy = sent->loss > LOSSY || sent->lasting_loss > LASTING_LOSSY;
    c->timing.early = !c->timing.lossy && c->config.max_packets_per_update > 1 &&
                      sent->rtt.smoothed >= TICKS_OF_EARLY * c->interval;
    c->timing.bursts = c->timing.lossy && sent->paired_loss > (1 + sent->loss) / 2;
    if (!c->timing.bursts)
        return;
    c->timing.copy = FIRST_COPY * sent->rtt.smoothed;
    c->timing.copies = NEXT_COPY * sent->rtt.smoothed;
}

/* Sets the time to wait for acks. A second stands for an unknown value, while there is no RTT or no
   two packets in a row have arrived. While the other end has only a few messages of ours to answer,
   its silence tells that they were lost; else it may be the path that is silent, and patience saves
   bytes. Anything that would fall due within half the time to the next round, ours or the other
   end's, whichever is shorter, is due now. */
void cw_connection_set_timing(struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    const double silence = sent->silence.usual;
    double answer = BEFORE_SAMPLES, longer = BEFORE_SAMPLES, slack = c->interval / 2;
    if (sent->rtt.smoothed > 0)
        answer = sent->rtt.smoothed + DEVIATIONS * sent->rtt.deviation;
    if (silence > 0) {
        longer = CW_SILENCES * silence;
        if (slack > silence / 2)
            slack = silence / 2;
    }
    if (longer < answer && (c->fragments > 0 || cw_connection_unanswered(c) > CW_FEW_PACKETS))
        longer = answer;
    if (slack > MAX_SLACK)
        slack = MAX_SLACK;
    c->timing.answer = answer - slack;
    c->timing.patience = answer + longer - slack;
    if (c->timing.patience > CW_LONGEST_TIMEOUT)
        c->timing.patience = CW_LONGEST_TIMEOUT;
    set_losses(c);
    c->timing.interval = (float)c->interval;
}
