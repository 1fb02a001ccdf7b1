/* A program as a user of the installed library of protocols writes it: two ends, and a packet
   between them. */
#include <causeway/protocols/bunch.h>
#include <causeway/protocols/rudp.h>

#include <stdio.h>

int main(void)
{
    const struct cw_rudp_config rudp_config = cw_rudp_config_default();
    struct cw_bunch_config config = cw_bunch_config_default();
    struct cw_bunch *a, *b;
    struct cw_bunch_event event;
    uint8_t datagram[2048];
    if (!cw_rudp_memory(&rudp_config) || cw_bunch_create(&config, &a) != CW_PROTOCOL_OK ||
        cw_bunch_create(&config, &b) != CW_PROTOCOL_OK)
        return 1;
    cw_bunch_send(a, 0, (const uint8_t *)"hello", 5);
    cw_bunch_update(a, 1);
    cw_bunch_receive(b, datagram, cw_bunch_transmit(a, datagram, sizeof datagram));
    cw_bunch_update(b, 1);
    const int arrived = cw_bunch_next(b, &event) && event.size == 5;
    printf("%s\n", cw_protocol_error_string(arrived ? CW_PROTOCOL_OK : CW_PROTOCOL_ERROR_STALE));
    cw_bunch_destroy(a);
    cw_bunch_destroy(b);
    return !arrived;
}
