#include "rtc/big_endian.h"
#include "rtc/dcep.h"
#include "rtc/peer_internal.h"

static void channel_opens(struct peer *peer, uint16_t stream)
{
    peer->channel = stream;
    peer->state = PEER_OPEN;
    peer->expires = INFINITY;
}

static void refuse(struct peer *peer, const char *reason, double now)
{
    peer_end(peer, reason, now);
}

static void take_dcep(struct peer *peer, const struct sctp_event *event, double now)
{
    struct dcep_message message;
    uint8_t ack[DCEP_ACK_SIZE];
    switch (dcep_read(&message, event->data, event->size)) {
    case DCEP_MALFORMED:
        refuse(peer, "malformed data channel message", now);
        return;
    case DCEP_ACK:
        return;
    case DCEP_OPEN:
        break;
    }
    if (!message.unordered || !message.unreliable) {
        refuse(peer, "the data channel must have ordered: false and maxRetransmits: 0", now);
    } else if (peer->channel != PEER_NO_CHANNEL && peer->channel != event->stream) {
        refuse(peer, "one data channel per connection", now);
    } else {
        dcep_write_ack(ack);
        sctp_send_reliable(peer->sctp, event->stream, PPID_DCEP, ack, sizeof ack);
        channel_opens(peer, event->stream);
    }
}

/* Takes a message that is no DCEP. Returns false when there is nothing to hand on. */
static bool take_message(struct peer *peer, const struct sctp_event *event,
                         struct peer_datagram *datagram, double now)
{
    if (peer->channel == PEER_NO_CHANNEL) {
        /* A negotiated channel has no OPEN: its first message opens it. The other kind may send
           ordered messages until its OPEN is answered, and one may overtake a lost OPEN, but the
           OPEN is the first of them. */
        if (!event->unordered && event->order == 0)
            refuse(peer, "the data channel must have ordered: false and maxRetransmits: 0", now);
        if (!event->unordered)
            return false;
        channel_opens(peer, event->stream);
    } else if (peer->channel != event->stream) {
        refuse(peer, "one data channel per connection", now);
        return false;
    }
    const bool empty = event->ppid == PPID_STRING_EMPTY || event->ppid == PPID_BINARY_EMPTY;
    *datagram = (struct peer_datagram){
        .data = event->data,
        .size = empty ? 0 : event->size,
        .text = event->ppid == PPID_STRING || event->ppid == PPID_STRING_EMPTY,
    };
    return true;
}

/* Closes our side when the browser has closed its streams: without this, it would wait for the end
   of its channel. */
static void take_reset(struct peer *peer, const struct sctp_event *event, double now)
{
    bool ours = event->stream_count == 0;
    for (size_t i = 0; i < event->stream_count; i++)
        ours = ours || load16(event->streams + i * 2) == peer->channel;
    if (!ours || peer->channel == PEER_NO_CHANNEL)
        return;
    sctp_reset(peer->sctp, (uint16_t)peer->channel);
    peer_flush(peer, now);
    peer_end(peer, "the data channel was closed", now);
    peer->left = true;
}

bool peer_take_event(struct peer *peer, const struct sctp_event *event,
                     struct peer_datagram *datagram, double now)
{
    switch (event->type) {
    case SCTP_ESTABLISHED:
        return false;
    case SCTP_HEARTBEAT:
        paths_answer(&peer->paths, peer->from, event->data, event->size, now);
        return false;
    case SCTP_MESSAGE:
        if (event->ppid != PPID_DCEP)
            return take_message(peer, event, datagram, now);
        take_dcep(peer, event, now);
        return false;
    case SCTP_RESET:
        take_reset(peer, event, now);
        return false;
    case SCTP_ENDED:
        peer_flush(peer, now);
        dtls_close(peer->dtls);
        peer_has_left(peer, event->reason);
        return false;
    }
    return false;
}
