/* Where an object's memory comes from. */
#ifndef CAUSEWAY_ALLOCATOR_H
#define CAUSEWAY_ALLOCATOR_H

#include "causeway/linkage.h"

#include <stddef.h>

CW_BEGIN_DECLARATIONS

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
