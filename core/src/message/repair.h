/* Coded repair: the rules on which both ends of a reliable channel with the option `repair` agree.
   Messages of up to 256 bytes (type and body, from a byte boundary on) are also sent in
   combinations: sums over GF(256) of the bytes of a range of messages, each times a factor that
   follows from the numbers in the packet. A receiver that lacks n messages of the range learns them
   from any n combinations. */
#ifndef CAUSEWAY_REPAIR_H
#define CAUSEWAY_REPAIR_H

#include "base/shared.h"

#include <stdint.h>

#define CW_REPAIR_WINDOW 64  /* the number of newest messages of which combinations are made */
#define CW_REPAIR_BYTES  256 /* bytes of the longest message that they hold, a multiple of 8 */
#define CW_REPAIR_MOST   3   /* the most combinations in a packet */

/* The bits of the parts that follow the messages of an entry; see core/PROTOCOL.md. */
#define CW_REPAIR_MOST_BITS  2
#define CW_REPAIR_SIZE_BITS  8
#define CW_REPAIR_COUNT_BITS 6
#define CW_REPAIR_SEED_BITS  8
#define CW_REPAIR_ALIGN_BITS 7 /* the most padding before a message or a combination */

/* The bits of all parts but the bytes of the combinations, with two ids and two flags. */
#define CW_REPAIR_ENTRY_BITS                                                                       \
    (2 + 2 * 16 + CW_REPAIR_MOST_BITS + CW_REPAIR_SIZE_BITS + CW_REPAIR_COUNT_BITS +               \
     CW_REPAIR_SEED_BITS + CW_REPAIR_ALIGN_BITS)

/* The messages of which the combinations in a packet are sums. */
struct cw_repair_range {
    uint16_t end;   /* one past the newest id */
    uint16_t count; /* the number of ids: 1 to CW_REPAIR_WINDOW */
    uint16_t size;  /* bytes of a combination: 1 to CW_REPAIR_BYTES */
    uint8_t seed;   /* tells ranges of the same end apart */
};

CW_SHARED uint32_t cw_repair_slot(uint16_t id)
{
    return id % CW_REPAIR_WINDOW;
}

/* Computes the factors of the messages in the index-th combination of its packet, by slots: 1 to
   255, and 0 where the range has none. */
void cw_repair_factors(const struct cw_repair_range *range, uint32_t index, uint8_t *factors);

#endif
