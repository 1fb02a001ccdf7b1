/* The UDP port gets any datagrams after a first verified check: for STUN, and for DTLS before and
   in its handshake, also embedded in checks, with time passing in between. */
#include "relay/rtc/peer.h"
#include "stun_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define UFRAG    "relayufrag"
#define PASSWORD "relaypassword/0123456789"

static size_t came; /* the count of bytes that came */
static size_t answered;

static void on_send(void *context, const struct udp_path *path, const uint8_t *data, size_t size)
{
    (void)context, (void)path;
    if (size > 1228 || !data)
        abort();
    answered += size;
    /* Until a check proves where the datagrams come from, amplification is limited to three times.
     */
    if (answered > 3 * came)
        abort();
}

static void give(struct peer *peer, const uint8_t *data, size_t size, double now)
{
    static const struct udp_path path = {.remote = {{0x20, 1}, 4000}};
    struct stun_request request;
    struct peer_datagram datagram;
    came += size;
    if (stun_is(data, size)) {
        if (stun_parse(&request, data, size))
            peer_check(peer, &request, data, size, &path, now);
        while (peer_next(peer, &datagram, now))
            abort(); /* nobody has the keys */
        return;
    }
    if (!dtls_is(data, size))
        return;
    const size_t before = answered;
    const bool verified = peer_state(peer) != PEER_OFFERED;
    peer_receive(peer, &path, data, size, now);
    while (peer_next(peer, &datagram, now))
        abort(); /* nobody has the keys */
    if (!verified && answered > before)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct dtls_identity *identity;
    if (!identity)
        identity = dtls_identity_create();
    static struct peer_common common;
    common = (struct peer_common){.identity = identity, .send = on_send};
    const struct sdp_offer offer = {.ufrag = "brow", .mid = "0", .sctp_port = 5000};
    double now = 1.0;
    came = answered = 0;
    struct peer *peer = peer_create(&common, &offer, UFRAG, PASSWORD, now);
    if (!peer || !identity)
        abort();
    if (size > 0 && data[0] & 1) {
        uint8_t check[STUN_REQUEST_SIZE];
        give(peer, check, stun_request(check, UFRAG ":brow", PASSWORD, 0, 0), now);
        if (peer_state(peer) != PEER_CONNECTING)
            abort();
    }
    while (size >= 3) {
        const size_t wanted = (size_t)data[1] << 8 | data[2];
        now += data[0] * 0.01;
        data += 3;
        size -= 3;
        const size_t length = wanted % 1500 < size ? wanted % 1500 : size;
        uint8_t *exact = malloc(length > 0 ? length : 1);
        if (!exact)
            break;
        memcpy(exact, data, length);
        uint8_t check[STUN_REQUEST_SIZE];
        if (wanted & 0x8000 && length <= 1200)
            give(peer, check, stun_request_embed(check, UFRAG ":brow", PASSWORD, exact, length),
                 now);
        else
            give(peer, exact, length, now);
        free(exact);
        peer_update(peer, now);
        data += length;
        size -= length;
    }
    if (peer_state(peer) != PEER_ENDED && peer_deadline(peer) == INFINITY)
        abort();
    peer_end(peer, "done", now);
    peer_destroy(peer);
    return 0;
}
