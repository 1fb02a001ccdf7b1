/* The function seals a payload packet and opens it again, over and over: the same work natively and
   in WASM. */
#ifndef SEAL_OPEN_H
#define SEAL_OPEN_H

#include <stdbool.h>
#include <stdint.h>

/* Returns false when a packet did not come out as it went in. */
bool seal_open(uint32_t size, uint32_t rounds);

#endif
