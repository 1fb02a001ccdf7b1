/* Fuzzes the envelope of datagrams over WebTransport: whatever parts come, and whenever, none gives
   a datagram that is longer than one may be, or bytes that did not come. */
#include "target.h"
#include "webtransport/parts.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};
    struct parts parts = {0};
    double now = 0.0;
    while (input.size > 0) {
        uint8_t joined[SESSION_DATAGRAM_MAX];
        struct datagram out;
        const uint8_t *bytes;
        const unsigned length = take_bytes(&input, take(&input, 1) * 8, &bytes);
        uint8_t *copy = malloc(length + 1);
        memcpy(copy, bytes, length);
        now += take(&input, 1) * 0.01;
        if (parts_take(&parts, copy, length, now, joined, &out)) {
            expect(out.size > 0);
            expect(out.data == joined ? out.size <= sizeof joined : out.size < length);
        }
        free(copy);
    }
    free(parts.data);
    return 0;
}
