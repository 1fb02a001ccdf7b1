#include "rtc/dcep.h"

#include "rtc/big_endian.h"

#define ACK         2
#define OPEN        3
#define OPEN_HEADER 12

enum { RELIABLE = 0, LIMITED_REPEATS = 1, LIMITED_LIFETIME = 2, UNORDERED = 0x80 };

enum dcep_type dcep_read(struct dcep_message *message, const uint8_t *data, size_t size)
{
    *message = (struct dcep_message){.type = DCEP_MALFORMED};
    if (size == DCEP_ACK_SIZE && data[0] == ACK)
        return message->type = DCEP_ACK;
    if (size < OPEN_HEADER || data[0] != OPEN)
        return DCEP_MALFORMED;
    const uint8_t kind = data[1] & 0x7f;
    const size_t label = load16(data + 8);
    const size_t protocol = load16(data + 10);
    if (kind > LIMITED_LIFETIME || OPEN_HEADER + label + protocol != size)
        return DCEP_MALFORMED;

    message->unordered = (data[1] & UNORDERED) != 0;
    message->unreliable = kind != RELIABLE;
    message->reliability = load32(data + 4);
    message->label = (const char *)data + OPEN_HEADER;
    message->label_size = label;
    return message->type = DCEP_OPEN;
}

void dcep_write_ack(uint8_t *out)
{
    out[0] = ACK;
}
