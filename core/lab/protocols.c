#include "causeway/lab/protocols.h"

#include "causeway/lab/peer_connection.h"
#include "causeway/lab/peer_notify.h"
#include "causeway/lab/peer_rudp.h"
#include "causeway/lab/peer_window.h"

static const struct cw_lab_peer_type *const protocols[] = {
    &cw_lab_peer_plain, &cw_lab_peer_redundancy, &cw_lab_peer_repair, &cw_lab_peer_binary,
    &cw_lab_peer_rudp,  &cw_lab_peer_notify,     &cw_lab_peer_window,
};

uint32_t cw_lab_protocol_count(void)
{
    return sizeof protocols / sizeof *protocols;
}

const struct cw_lab_peer_type *cw_lab_protocol(uint32_t protocol)
{
    return protocol < cw_lab_protocol_count() ? protocols[protocol] : NULL;
}

const char *cw_lab_protocol_name(uint32_t protocol)
{
    return protocol < cw_lab_protocol_count() ? protocols[protocol]->name : NULL;
}
