#include "protocols/notify_internal.h"

#include "base/little_endian.h"

#include <string.h>

void cw_notify_history_advance(struct cw_notify_history *history, uint32_t count)
{
    const uint32_t words = count / 32, bits = count % 32;
    for (uint32_t i = CW_NOTIFY_WORDS; i-- > 0;) {
        const uint32_t high = i >= words ? history->words[i - words] : 0;
        const uint32_t low = i > words ? history->words[i - words - 1] : 0;
        history->words[i] = bits ? high << bits | low >> (32 - bits) : high;
    }
}

bool cw_notify_history_has(const struct cw_notify_history *history, uint32_t age)
{
    return age < CW_NOTIFY_HISTORY && history->words[age / 32] >> age % 32 & 1;
}

size_t cw_notify_header_write(const struct cw_notify_header *header, uint8_t *out)
{
    uint8_t *at = out;
    const uint32_t numbers = (uint32_t)header->sequence << 18 | (uint32_t)header->acked << 4;
    cw_little_endian_put(&at, numbers | (header->words - 1), 4);
    for (uint32_t i = 0; i < header->words; i++)
        cw_little_endian_put(&at, header->history.words[i], 4);
    return (size_t)(at - out);
}

size_t cw_notify_header_read(const uint8_t *data, size_t size, struct cw_notify_header *header)
{
    if (size < 4)
        return 0;
    const uint8_t *at = data;
    const uint32_t numbers = (uint32_t)cw_little_endian_get(&at, 4);
    *header = (struct cw_notify_header){.sequence = (uint16_t)(numbers >> 18),
                                        .acked = numbers >> 4 & (CW_NOTIFY_SEQUENCES - 1),
                                        .words = (numbers & 15) + 1};
    if (header->words > CW_NOTIFY_WORDS || size < 4 + 4 * (size_t)header->words)
        return 0;
    for (uint32_t i = 0; i < header->words; i++)
        header->history.words[i] = (uint32_t)cw_little_endian_get(&at, 4);
    return (size_t)(at - data);
}
