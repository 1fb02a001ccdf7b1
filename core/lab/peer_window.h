/* The byte stream of window.h as a protocol of the lab. */
#ifndef CAUSEWAY_LAB_PEER_WINDOW_H
#define CAUSEWAY_LAB_PEER_WINDOW_H

#include "causeway/lab/peer.h"

CW_BEGIN_DECLARATIONS

/* Each item, states too, is a frame on the one stream, as in a WebSocket: the lengths of frames are
   written as there. CUBIC and selective acks. */
extern const struct cw_lab_peer_type cw_lab_peer_window;

CW_END_DECLARATIONS

#endif
