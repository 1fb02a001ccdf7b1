/* The modes that cw_congestion_* choose among, each in a source of its own. */
#ifndef CAUSEWAY_CONGESTION_INTERNAL_H
#define CAUSEWAY_CONGESTION_INTERNAL_H

#include "causeway/congestion.h"

void cw_delay_init(struct cw_congestion *congestion);
void cw_delay_update(struct cw_congestion *congestion, double rtt, double tick_seconds, double now);
void cw_delay_sent(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes);
void cw_delay_acked(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes,
                    double sent, double now);
void cw_delay_arrived(struct cw_congestion *congestion, uint32_t bytes, double rtt);
void cw_delay_lost(struct cw_congestion *congestion, uint16_t sequence, uint32_t bytes, double now);

void cw_binary_init(struct cw_congestion *congestion);
void cw_binary_update(struct cw_congestion *congestion, double rtt, double now);
void cw_binary_sent(struct cw_congestion *congestion);
bool cw_binary_allows(const struct cw_congestion *congestion);

#endif
