/* The protocols of the lab. */
#ifndef CAUSEWAY_LAB_PROTOCOLS_H
#define CAUSEWAY_LAB_PROTOCOLS_H

#include "causeway/lab/peer.h"

CW_BEGIN_DECLARATIONS

/* Protocols are numbered from 0. */
uint32_t cw_lab_protocol_count(void);

/* NULL when there is none of that number. */
const struct cw_lab_peer_type *cw_lab_protocol(uint32_t protocol);

/* A short name in lower case, static; NULL when there is none of that number. */
const char *cw_lab_protocol_name(uint32_t protocol);

CW_END_DECLARATIONS

#endif
