/* The sender's half of coded repair: the number of combinations in the next packet, and their
   bytes. */
#ifndef CAUSEWAY_REPAIR_SENDER_H
#define CAUSEWAY_REPAIR_SENDER_H

#include "message/repair.h"

#include "causeway/stream.h"

struct cw_repair_symbol {
    uint16_t id;
    uint16_t size; /* 0: the message is too long */
    uint8_t bytes[CW_REPAIR_BYTES];
};

struct cw_repair_sender {
    struct cw_repair_symbol symbols[CW_REPAIR_WINDOW];
    double due;    /* combinations to be sent */
    double earned; /* combinations for the messages first sent in this round, due from the next one
                      on */
    double share;  /* combinations for each new message, set by the owner; 0 while hardly any packet
                      is  lost */
    uint8_t seed;
    uint32_t combinations; /* combinations in the packet being made */
    struct cw_repair_range range;
    bool apart; /* the range does not end at the newest message of the packet */
};

void cw_repair_sender_reset(struct cw_repair_sender *sender);

/* Begins a packet, the first of its round or a further one. */
void cw_repair_sender_begin(struct cw_repair_sender *sender, bool first);

/* Returns a place for the bytes of a message that is sent for the first time, all zero. The caller
   sets the size, unless the message is too long. */
struct cw_repair_symbol *cw_repair_sender_add(struct cw_repair_sender *sender, uint16_t id,
                                              bool is_long);

/* Picks combinations for the packet being made, of the messages from oldest on that were sent
   before end, as many as fit into bits_left. ids are those of the count messages that are in the
   packet too. Returns the bits that the combinations take, 0 when there are none. */
uint32_t cw_repair_sender_pick(struct cw_repair_sender *sender, uint16_t oldest, uint16_t end,
                               const uint16_t *ids, uint32_t count, uint32_t bits_left);

/* Writes the combinations that were picked. */
bool cw_repair_sender_write(struct cw_repair_sender *sender, struct cw_stream *stream);

#endif
