/* Measures what requests cost an end of the request-based protocol whose window is as large as can
   be: a datagram asks for all that it keeps, the newest first, and all is sent again.
     lab_requests ROUNDS    handles ROUNDS datagrams
     lab_requests           says what tests/bench/run shall count */
#include "causeway/protocols/rudp.h"

#include <stdio.h>
#include <stdlib.h>

#define PACKAGES 16384
#define REQUEST  2

static void transmit_all(struct cw_rudp *rudp)
{
    uint8_t out[CW_RUDP_DATAGRAM_SIZE];
    cw_rudp_update(rudp, 1);
    while (cw_rudp_transmit(rudp, out, sizeof out) > 0)
        ;
}

int main(int argc, char **argv)
{
    static uint8_t requests[3 * PACKAGES];
    struct cw_rudp_config config = cw_rudp_config_default();
    struct cw_rudp *rudp;
    struct cw_rudp_stats stats;
    if (argc != 2) {
        printf("count rudp_request_instructions %d: 9 - 1\n", 8 * PACKAGES);
        return 0;
    }
    const uint32_t rounds = (uint32_t)atol(argv[1]);
    config.send_window = PACKAGES;
    config.max_package_size = 0;
    if (cw_rudp_create(&config, &rudp) != CW_PROTOCOL_OK)
        abort();
    for (uint32_t i = 0; i < PACKAGES; i++) {
        const uint32_t id = PACKAGES - 1 - i;
        requests[3 * i] = REQUEST;
        requests[3 * i + 1] = (uint8_t)(id >> 8);
        requests[3 * i + 2] = (uint8_t)id;
        if (cw_rudp_send(rudp, NULL, 0) != CW_PROTOCOL_OK)
            abort();
    }
    transmit_all(rudp);
    for (uint32_t i = 0; i < rounds; i++) {
        if (cw_rudp_receive(rudp, requests, sizeof requests) != CW_PROTOCOL_OK)
            abort();
        transmit_all(rudp);
    }
    cw_rudp_get_stats(rudp, &stats);
    if (stats.packages_resent != (uint64_t)rounds * PACKAGES)
        abort();
    cw_rudp_destroy(rudp);
    return 0;
}
