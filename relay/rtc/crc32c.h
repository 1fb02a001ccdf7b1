/* The checksum of SCTP packets (RFC 9260, appendix A). */
#ifndef CAUSEWAY_RELAY_RTC_CRC32C_H
#define CAUSEWAY_RELAY_RTC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC32c of size bytes. Continue over several pieces by handing in the last result; start
   with 0. The first call builds the tables: one thread only. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
