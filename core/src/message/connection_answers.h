/* The answers that the two ends of a connection owe each other: which packets are sent only for
   their headers, and for how long the other end may be silent. */
#ifndef CAUSEWAY_CONNECTION_ANSWERS_H
#define CAUSEWAY_CONNECTION_ANSWERS_H

#include "base/shared.h"
#include "message/connection_internal.h"

/* The most answers that are still to follow, of which an idle end needs few. */
#define CW_ANSWERS_MOST 255

/* The further answers to a packet where all of ours get lost, and less where fewer do: where nine
   in ten do, one of them arrives three times in four. */
#define CW_ANSWERS_FOR_LOSS 16

/* The packets with entries for which one answer in time is enough. */
#define CW_FEW_PACKETS 4

/* While our latest packet is not older than this in seconds, nor than an RTT, an answer for which
   nobody waits goes with our next one: so those of an end that sends 20 a second take all answers
   along. TCP may delay an ack for 0.5 (RFC 9293), and Linux does for 0.04 to 0.2.
   The other end waits for two RTTs before it believes a packet to be lost. */
#define CW_ANSWER_DELAY 0.06

/* Returns the record of a packet in the endpoint's window. */
CW_SHARED struct cw_carried *cw_carried_by(const struct cw_connection *c, uint16_t packet)
{
    return &c->carried[packet & (c->config.sent_window - 1)];
}

/* Returns the number of packets with entries that the other end has not seen yet. */
CW_SHARED uint16_t cw_connection_unanswered(const struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    return CW_LIKELY(sent->unseen <= sent->window.mask) ? (uint16_t)(c->spoken - c->spoken_seen)
                                                        : (uint16_t)(sent->window.mask + 1);
}

/* Notes that this packet of ours with entries, the oldest that the other end has not seen yet, was
   sent then: it owes an answer about a round trip later, and may be idle until then. Where we speak
   in every round, it owes one all the time. */
CW_SHARED void cw_connection_ask(struct cw_connection *c, uint16_t packet, double sent_at)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    double idle = sent_at + sent->rtt.smoothed - sent->silence.last_arrival;
    if (!(idle < c->config.idle_interval_seconds)) /* nothing has arrived yet */
        idle = c->config.idle_interval_seconds;
    if (idle < 2 * c->interval && cw_connection_unanswered(c) > CW_FEW_PACKETS)
        cw_endpoint_expect_idle(c->endpoint, 0);
    else
        cw_endpoint_expect_answer(c->endpoint, packet, idle);
}

/* Notes for how long the other end may be silent, now that it was heard. */
CW_SHARED void cw_connection_expect(struct cw_connection *c)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    uint16_t packet = (uint16_t)(sent->window.next - sent->unseen);
    if (sent->unseen <= sent->window.mask)
        c->spoken_seen = cw_carried_by(c, (uint16_t)(packet - 1))->spoken;
    if (c->spoken == c->spoken_seen || sent->unseen > sent->window.mask) {
        cw_endpoint_expect_idle(c->endpoint, c->config.idle_interval_seconds);
        return;
    }
    while (!cw_carried_by(c, packet)->speaks)
        packet++;
    cw_connection_ask(c, packet, cw_sent_packets_at(sent, packet)->time);
}

/* Returns whether an end that waits for acks goes on although it has nothing to send. Where it
   waits for more than a few answers, or does not know the RTT, losses show sooner so; but such
   packets fill no more than a quarter of the window, whose rest is for messages. It is heard of at
   least as often as where its packets are spread (cw_sent_packets_spread). */
CW_SHARED bool cw_connection_goes_on(const struct cw_connection *c, double silence)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    if (silence >= CW_LONGEST_INTERVAL)
        return true;
    return sent->unseen <= sent->window.mask / 4 &&
           (cw_connection_unanswered(c) > CW_FEW_PACKETS || !(sent->rtt.smoothed > 0));
}

/* Notes that a packet is sent, whose header answers everything that has arrived. */
CW_SHARED void cw_connection_note_answer(struct cw_connection *c, uint32_t entries, double now)
{
    if (entries == 0 && c->owes == CW_OWES_NOTHING && c->answers > 0)
        c->answers--;
    c->owes = CW_OWES_NOTHING;
    c->sent = now;
}

/* A packet with entries whose acks nobody waits for is answered once, soon. */
CW_SHARED void cw_connection_note_heard(struct cw_connection *c)
{
    c->owes |= CW_OWES_SOON;
}

/* Each packet with reliable entries is answered at once, and once more in a later round that has
   nothing else to say, more often where our packets get lost: so an end that is seldom spoken to
   says little, and one that was spoken to in every round answers for as long as the last answer may
   be lost. */
CW_SHARED void cw_connection_note_spoken_to(struct cw_connection *c, double now)
{
    const struct cw_sent_packets *sent = cw_endpoint_sent(c->endpoint);
    if (now - c->spoken_to >= sent->loss_timeout)
        c->answers = 0;
    const uint32_t answers = c->answers + 1 + (uint32_t)(CW_ANSWERS_FOR_LOSS * sent->loss);
    c->answers = answers < CW_ANSWERS_MOST ? (uint8_t)answers : CW_ANSWERS_MOST;
    c->owes = CW_OWES_NOW;
    c->spoken_to = now;
}

#endif
