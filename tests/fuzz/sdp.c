/* SDP offers of any bytes are refused, or accepted and can then be answered. */
#include "relay/rtc/sdp.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sdp_offer offer;
    if (sdp_read_offer(&offer, (const char *)data, size) != SDP_OK)
        return 0;
    if (strlen(offer.ufrag) < 4 || strlen(offer.mid) < 1 || offer.sctp_port == 0)
        abort();
    const struct sdp_answer answer = {
        .ufrag = "abcd",
        .password = "0123456789012345678901",
        .fingerprint = offer.fingerprint,
        .mid = offer.mid,
        .bundle = offer.bundle,
        .sctp_port = 5000,
        .candidate_count = 1,
        .candidates = {{"192.0.2.1", 8081}},
    };
    char out[1024];
    if (sdp_write_answer(out, sizeof out, &answer) == 0)
        abort();
    return 0;
}
