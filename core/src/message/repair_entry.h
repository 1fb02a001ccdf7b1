/* The part of a channel's entries and memory that coded repair needs. */
#ifndef CAUSEWAY_REPAIR_ENTRY_H
#define CAUSEWAY_REPAIR_ENTRY_H

#include "base/shared.h"
#include "message/repair_receiver.h"
#include "message/repair_sender.h"
#include "message/resend.h"

struct cw_repair {
    struct cw_repair_sender sender;
    struct cw_repair_receiver receiver;
    uint32_t reports_due; /* first packets of rounds that will say which message is missing */
    bool may_report;      /* the packet being made is the first of its round */
    bool reports;         /* the packet being made says which message is missing */
    struct cw_timing timing;
    const struct cw_timing *plain; /* the timing of messages that no combination holds */
    bool has_report;               /* the packet being read reports first_missing */
    uint16_t first_missing;        /* all messages before this one have arrived */
};

void cw_repair_reset(struct cw_repair *repair);

/* Begins a packet, the first of its round or a further one. */
void cw_repair_begin(struct cw_repair *repair, bool first);

/* Has the next packets report the first message that is missing: the sender learns in no other way
   that a message was repaired. */
void cw_repair_report(struct cw_repair *repair);

/* Returns the timing for repeats, which come after combinations and the report of the messages that
   they repaired, where so many combinations are wanted for each message. The result is valid until
   the next call, and notes the timing given for messages that no combination holds. */
const struct cw_timing *cw_repair_timing(struct cw_repair *repair, const struct cw_timing *timing,
                                         double wanted);

/* Returns whether the other end has yet to learn of repaired messages; repair may be NULL. */
CW_SHARED bool cw_repair_must_report(const struct cw_repair *repair)
{
    return repair && repair->reports_due > 0;
}

/* Returns whether lost messages are left to the combinations for now. */
CW_SHARED bool cw_repair_is_active(const struct cw_repair *repair)
{
    return repair && repair->sender.share > 0;
}

/* Picks the parts of the packet being made: the report if it is time for it, and combinations; see
   cw_repair_sender_pick. Returns the bits that the combinations take. */
uint32_t cw_repair_pick(struct cw_repair *repair, uint16_t oldest, uint16_t end,
                        const uint16_t *ids, uint32_t count, uint32_t bits_left);

/* Returns whether combinations wait for another packet of this round, and may take so many bits. */
CW_SHARED bool cw_repair_waits(const struct cw_repair *repair, double budget)
{
    return repair->sender.due >= 1 && budget >= repair->sender.range.size * 8.0;
}

/* These write and read the part after the messages of an entry. For newest and limit see
   cw_repair_receiver_read. */
bool cw_repair_write(struct cw_repair *repair, struct cw_stream *stream, uint16_t first_missing);
bool cw_repair_read(struct cw_repair *repair, struct cw_stream *stream, const uint16_t *newest,
                    uint16_t limit);

#endif
