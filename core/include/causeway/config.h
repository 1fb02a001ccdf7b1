/* What the configs of all rooms have in common.

   cw_X_config_default() fills in every default; change only the fields you want. 0 is a real zero:
   none, off, or a number that create refuses. Each field says which. There are three
   exceptions: a struct cw_allocator of zeros means malloc, a struct cw_random of zeros means the
   operating system, and a socket's address of type CW_ADDRESS_NONE means every address of the
   machine. */
#ifndef CAUSEWAY_CONFIG_H
#define CAUSEWAY_CONFIG_H

#include <stdint.h>

/* Defaults that are computed from other fields of the config. The second is for fingerprints, which
   have 64 bits. */
#define CW_AUTO             UINT32_MAX
#define CW_FINGERPRINT_AUTO UINT64_MAX

#endif
