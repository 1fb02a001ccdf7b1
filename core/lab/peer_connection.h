/* Causeway's own connection as a protocol of the lab, in several modes. */
#ifndef CAUSEWAY_LAB_PEER_CONNECTION_H
#define CAUSEWAY_LAB_PEER_CONNECTION_H

#include "causeway/lab/peer.h"

CW_BEGIN_DECLARATIONS

extern const struct cw_lab_peer_type cw_lab_peer_plain;      /* the defaults */
extern const struct cw_lab_peer_type cw_lab_peer_redundancy; /* while packets are being lost, the
                                                                next packet repeats new messages */
extern const struct cw_lab_peer_type cw_lab_peer_repair;     /* coded repair of messages */
extern const struct cw_lab_peer_type cw_lab_peer_binary;     /* obeys the good and bad mode of
                                                                causeway/congestion.h */

CW_END_DECLARATIONS

#endif
