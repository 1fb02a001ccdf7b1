/* What the configs of all rooms have in common.

   cw_X_config_default() fills in every default, so that you change what you want to be otherwise.
   0 is a real zero: none, off, or a number that create refuses; each field says which. The two
   structs that say where memory and random bytes come from, struct cw_allocator and struct
   cw_random, are the exception: filled with zeros they mean malloc and the operating system. */
#ifndef CAUSEWAY_CONFIG_H
#define CAUSEWAY_CONFIG_H

#include <stdint.h>

/* Defaults that follow from other fields of the config, whatever they are set to: the second is for
   fingerprints, which have 64 bits. */
#define CW_AUTO             UINT32_MAX
#define CW_FINGERPRINT_AUTO UINT64_MAX

#endif
