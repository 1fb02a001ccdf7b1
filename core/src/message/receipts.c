#include "message/receipts.h"

#include <assert.h>

void cw_receipts_layout(struct cw_receipts *receipts, struct cw_arena *arena, uint32_t capacity)
{
    struct cw_receipt_entry *entries = cw_arena_take(arena, sizeof *entries * capacity);
    if (!receipts)
        return;
    receipts->entries = entries;
    receipts->capacity = capacity;
}

void cw_receipts_reset(struct cw_receipts *receipts)
{
    receipts->free = receipts->packet.first = receipts->settled.first = CW_RECEIPT_NONE;
    for (uint32_t i = 0; i < receipts->capacity; i++) {
        receipts->entries[i].next = receipts->free;
        receipts->free = (uint16_t)i;
    }
    receipts->used = 0;
    receipts->promised = 0;
}

static void append(struct cw_receipts *receipts, struct cw_receipt_list *list, uint16_t entry)
{
    if (list->first == CW_RECEIPT_NONE)
        list->first = entry;
    else
        receipts->entries[list->last].next = entry;
    list->last = entry;
    receipts->entries[entry].next = CW_RECEIPT_NONE;
}

/* Fills in the place that was promised. */
static void claim(struct cw_receipts *receipts, struct cw_receipt_list *list, uint32_t number,
                  bool acked)
{
    assert(receipts->promised > 0);
    if (receipts->promised == 0)
        return;
    receipts->promised--;
    receipts->used++;
    const uint16_t entry = receipts->free;
    receipts->free = receipts->entries[entry].next;
    receipts->entries[entry].number = number;
    receipts->entries[entry].acked = acked;
    receipts->entries[entry].leader = entry;
    receipts->entries[entry].parts = 1;
    append(receipts, list, entry);
}

static void release(struct cw_receipts *receipts, uint16_t entry)
{
    receipts->entries[entry].next = receipts->free;
    receipts->free = entry;
    receipts->used--;
}

void cw_receipts_carry(struct cw_receipts *receipts, uint32_t number)
{
    claim(receipts, &receipts->packet, number, true);
}

void cw_receipts_carry_part(struct cw_receipts *receipts, uint32_t number, uint32_t index,
                            uint32_t packets, uint16_t *leader)
{
    claim(receipts, &receipts->packet, number, true);
    const uint16_t entry = receipts->packet.last;
    if (index == 0) {
        *leader = entry;
        receipts->entries[entry].parts = (uint16_t)packets;
    }
    receipts->entries[entry].leader = *leader;
}

void cw_receipts_settle_parts(struct cw_receipts *receipts, uint32_t number, uint32_t packets)
{
    receipts->promised -= packets - 1;
    claim(receipts, &receipts->settled, number, false);
}

void cw_receipts_settle(struct cw_receipts *receipts, uint32_t number, bool acked)
{
    claim(receipts, &receipts->settled, number, acked);
}

void cw_receipts_settle_packet(struct cw_receipts *receipts, uint16_t first, bool acked)
{
    while (first != CW_RECEIPT_NONE) {
        const uint16_t next = receipts->entries[first].next;
        const uint16_t leader = receipts->entries[first].leader;
        receipts->entries[leader].acked = acked && receipts->entries[leader].acked;
        if (first != leader)
            release(receipts, first);
        if (--receipts->entries[leader].parts == 0)
            append(receipts, &receipts->settled, leader);
        first = next;
    }
}

bool cw_receipts_next(struct cw_receipts *receipts, struct cw_receipt *receipt)
{
    if (!cw_receipts_waiting(receipts))
        return false;
    const uint16_t entry = receipts->settled.first;
    *receipt = (struct cw_receipt){
        .number = receipts->entries[entry].number,
        .acked = receipts->entries[entry].acked,
    };
    receipts->settled.first = receipts->entries[entry].next;
    release(receipts, entry);
    return true;
}
