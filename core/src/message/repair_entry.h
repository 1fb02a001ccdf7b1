/* The part of a channel's entries and memory that coded repair needs. */
#ifndef CAUSEWAY_REPAIR_ENTRY_H
#define CAUSEWAY_REPAIR_ENTRY_H

#include "message/repair_receiver.h"
#include "message/repair_sender.h"
#include "message/resend.h"

struct cw_repair {
    struct cw_repair_sender sender;
    struct cw_repair_receiver receiver;
    uint32_t tell; /* first packets of rounds that will say which message is missing */
    bool may_tell; /* the packet being made is the first of its round */
    bool telling;  /* it says which message is missing */
    struct cw_timing timing;
    bool told;              /* the packet being read said so: */
    uint16_t first_missing; /* all messages before this one have arrived */
};

void cw_repair_reset(struct cw_repair *repair);

/* Begins a packet, the first of its round or a further one. */
void cw_repair_begin(struct cw_repair *repair, bool first);

/* Nothing tells the sender of a repaired message but the id of the first one that is missing. */
void cw_repair_tell(struct cw_repair *repair);

/* Returns when to send again: combinations, and the report of what they repaired, come first. The
   result is valid until the next call. */
const struct cw_timing *cw_repair_timing(struct cw_repair *repair, const struct cw_timing *timing);

/* Returns whether the other end has to be told what was repaired; repair may be NULL. */
static inline bool cw_repair_has_news(const struct cw_repair *repair)
{
    return repair && repair->tell > 0;
}

/* Returns whether lost messages are left to the combinations for now. */
static inline bool cw_repair_is_active(const struct cw_repair *repair)
{
    return repair && repair->sender.share > 0;
}

/* Picks what goes into the packet being made: the report if it is time for it, and combinations;
   see cw_repair_sender_pick. Returns the bits that the latter take. */
uint32_t cw_repair_pick(struct cw_repair *repair, uint16_t oldest, uint16_t end,
                        const uint16_t *ids, uint32_t count, uint32_t bits_left);

/* Returns whether combinations wait for another packet of this round. */
static inline bool cw_repair_waits(const struct cw_repair *repair)
{
    return repair->sender.due >= 1;
}

/* The part after the messages of an entry. newest and limit: see cw_repair_receiver_read. */
bool cw_repair_write(struct cw_repair *repair, struct cw_stream *stream, uint16_t first_missing);
bool cw_repair_read(struct cw_repair *repair, struct cw_stream *stream, const uint16_t *newest,
                    uint16_t limit);

#endif
