/* A conversation that visits all of the core, made from one number: the same on every platform. */
#ifndef CAUSEWAY_TESTS_SCENARIO_H
#define CAUSEWAY_TESTS_SCENARIO_H

#include <stdint.h>

/* Returns a hash over every datagram, every event and the statistics of two endpoints that send
   each other that many packets through simulators with loss, bursts, duplicates, jitter and
   reorder, some of them in fragments. Returns 0 when something could not be made. */
uint64_t scenario_run(uint64_t seed, uint32_t packets);

#endif
