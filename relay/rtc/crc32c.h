/* The checksum of SCTP packets (RFC 9260, appendix A). */
#ifndef CAUSEWAY_RELAY_RTC_CRC32C_H
#define CAUSEWAY_RELAY_RTC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC32c of size bytes. Start with crc 0; to continue with another piece, pass the last
   result. The first call builds the tables, so it must not race with another. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
