/* Declarations that all configs have in common, and the source of an object's memory.

   cw_X_config_default() fills in every default; change only the fields you want. 0 is a real zero:
   none, off, or a number that create refuses. Each field says which. There are three exceptions: a
   struct cw_allocator of zeros means malloc, a struct cw_random of zeros means the operating
   system, and a socket's address of type CW_ADDRESS_NONE means every address of the machine. */
#ifndef CAUSEWAY_ALLOCATOR_H
#define CAUSEWAY_ALLOCATOR_H

#include "causeway/linkage.h"

#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* Defaults that are computed from other fields of the config. The second is for fingerprints, which
   have 64 bits. */
#define CW_AUTO             UINT32_MAX
#define CW_FINGERPRINT_AUTO UINT64_MAX

/* All zero means malloc and free. A create function calls allocate once, for exactly the size that
   its cw_X_memory() returns. Nothing allocates after that, and destroy calls release once. allocate
   must return memory that is aligned for any type, or NULL when there is none. */
struct cw_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

CW_END_DECLARATIONS

#endif
