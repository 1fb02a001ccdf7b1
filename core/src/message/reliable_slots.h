/* The messages of a reliable channel that are not acked, in the order in which they fall due. Each
   is in one of three lists, so that messages that are not due cost nothing. */
#ifndef CAUSEWAY_RELIABLE_SLOTS_H
#define CAUSEWAY_RELIABLE_SLOTS_H

#include "base/shared.h"
#include "message/resend.h"

struct cw_message;

/* The lists of slots. In each, messages that are due come first. */
enum cw_reliable_list {
    CW_LIST_SENT,   /* messages sent: lost ones, then the others by the time of their latest send */
    CW_LIST_COPIES, /* messages with copies still to follow, by the time of their latest send */
    CW_LIST_UNSENT, /* messages never sent, in the order of their ids */
    /* These are for the fragments of large messages, which go after all others. */
    CW_LIST_FRAGMENTS,
    CW_LIST_FRAGMENT_COPIES,
    CW_LIST_UNSENT_FRAGMENTS,
    CW_RELIABLE_LISTS
};

struct cw_reliable_slot {
    struct cw_message *message; /* NULL: acked */
    double queued;              /* when the application sent it */
    uint32_t bits;           /* the most that type and body need; of a large message, its bytes */
    uint16_t next, previous; /* slots in its list, a ring that is closed by one slot more */
    uint16_t count; /* fragments of the large message of which this is one; 0: it is whole */
    uint16_t index; /* the fragment's index */
    uint16_t left;  /* in the slot of the last fragment: those that are not acked yet */
    struct cw_transmission transmission;
};

/* A queue of size slots, and CW_RELIABLE_LISTS more at the end, one to close each list. */
struct cw_reliable_slots {
    struct cw_reliable_slot *items;
    uint16_t size; /* a power of two */
};

CW_SHARED uint16_t cw_reliable_slots_end(const struct cw_reliable_slots *slots,
                                         enum cw_reliable_list list)
{
    return (uint16_t)(slots->size + list);
}

CW_SHARED void cw_reliable_slots_reset(struct cw_reliable_slots *slots)
{
    for (uint16_t end = slots->size; end < slots->size + CW_RELIABLE_LISTS; end++)
        slots->items[end].next = slots->items[end].previous = end;
}

CW_SHARED void cw_reliable_slots_unlink(struct cw_reliable_slots *slots, uint16_t slot)
{
    const uint16_t next = slots->items[slot].next, previous = slots->items[slot].previous;
    slots->items[previous].next = next;
    slots->items[next].previous = previous;
}

/* Puts a slot that is in no list behind another. */
CW_SHARED void cw_reliable_slots_link(struct cw_reliable_slots *slots, uint16_t slot,
                                      uint16_t previous)
{
    const uint16_t next = slots->items[previous].next;
    slots->items[slot].next = next;
    slots->items[slot].previous = previous;
    slots->items[previous].next = slot;
    slots->items[next].previous = slot;
}

CW_SHARED void cw_reliable_slots_append(struct cw_reliable_slots *slots, uint16_t slot,
                                        enum cw_reliable_list list)
{
    cw_reliable_slots_link(slots, slot, slots->items[cw_reliable_slots_end(slots, list)].previous);
}

CW_SHARED void cw_reliable_slots_prepend(struct cw_reliable_slots *slots, uint16_t slot,
                                         enum cw_reliable_list list)
{
    cw_reliable_slots_link(slots, slot, cw_reliable_slots_end(slots, list));
}

#endif
