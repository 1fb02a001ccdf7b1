/* Packet notification with bunches as a protocol of the lab. */
#ifndef CAUSEWAY_LAB_PEER_NOTIFY_H
#define CAUSEWAY_LAB_PEER_NOTIFY_H

#include "causeway/lab/peer.h"

CW_BEGIN_DECLARATIONS

/* The state is a property, so that only its newest value is sent again. Messages are bunches on one
   channel, blocks on another. */
extern const struct cw_lab_peer_type cw_lab_peer_notify;

CW_END_DECLARATIONS

#endif
