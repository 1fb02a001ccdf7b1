/* The request-based protocol of rudp.h as one of the lab. */
#ifndef CAUSEWAY_LAB_PEER_RUDP_H
#define CAUSEWAY_LAB_PEER_RUDP_H

#include "causeway/lab/peer.h"

CW_BEGIN_DECLARATIONS

/* It has one stream for everything: each state and message is a package, and a block is cut into
   some. Packages are kept for 30 seconds. */
extern const struct cw_lab_peer_type cw_lab_peer_rudp;

CW_END_DECLARATIONS

#endif
