/* The functions of a module of WebAssembly beside those of the core's headers. */
#ifndef CAUSEWAY_WASM_MODULE_H
#define CAUSEWAY_WASM_MODULE_H

#include "causeway/base.h"

#include <stddef.h>

/* These are malloc and free. */
void *allocate(size_t size);
void release(void *memory);

/* The same as cw_error_string, but a page's module contains only the sentences that a client needs,
   and a module of the game kit only those of its functions. */
const char *error_string(enum cw_error error);

#endif
