#include "base/utf8.h"

#include <stdint.h>

/* Returns the number of bytes of the code point at text, 0 when it is no valid UTF-8 or a NUL. */
static size_t code_point_size(const uint8_t *text, size_t left)
{
    const uint8_t lead = text[0];
    if (lead < 0x80)
        return lead != 0;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    const size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (left < size)
        return 0;
    /* the limits of the second byte exclude forms longer than needed, surrogates and code points
       above U+10FFFF */
    const uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < size; ++i)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

bool cw_utf8_valid(const char *text, size_t length)
{
    const uint8_t *const bytes = (const uint8_t *)text;
    if (!text && length > 0)
        return false;
    for (size_t at = 0; at < length;) {
        const size_t size = code_point_size(bytes + at, length - at);
        if (size == 0)
            return false;
        at += size;
    }
    return true;
}
