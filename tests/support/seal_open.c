#include "seal_open.h"

#include "netcode/secure_packet.h"

#include <string.h>

bool seal_open(uint32_t size, uint32_t rounds)
{
    static const uint8_t key[CW_KEY_BYTES] = {2, 7, 1, 8};
    uint8_t payload[CW_PAYLOAD_MAX], packet[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_replay replay = {0};
    struct cw_secure_packet read;
    memset(payload, 0x5a, sizeof payload);
    for (uint32_t i = 0; i < rounds; i++) {
        payload[0] = (uint8_t)i;
        const size_t sealed = cw_secure_write(
            &(struct cw_secure_packet){
                .type = CW_SECURE_PAYLOAD, .sequence = i, .body = payload, .size = size},
            &(struct cw_secure_key){.protocol_id = 7, .bytes = key}, packet, sizeof packet);
        if (cw_secure_read(
                packet, sealed,
                &(struct cw_secure_key){.protocol_id = 7, .direction = CW_TO_CLIENT, .bytes = key},
                &replay, body, &read) != CW_OK ||
            read.size != size || body[0] != payload[0])
            return false;
    }
    return true;
}
