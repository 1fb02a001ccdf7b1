/* Where an object's memory comes from. */
#ifndef CAUSEWAY_ALLOCATOR_H
#define CAUSEWAY_ALLOCATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All zero means malloc and free. A create function calls allocate once, for exactly the size that
   its cw_X_memory() tells, and nothing allocates after that; destroy calls release once.
   allocate returns memory aligned for any type, or NULL when there is none. */
struct cw_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

#ifdef __cplusplus
}
#endif

#endif
