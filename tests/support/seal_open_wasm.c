/* seal_open as a WebAssembly module of its own, on the same core. */
#include "seal_open.h"

#include <stddef.h>

/* emscripten's libc calls this when the memory grew; nobody here keeps a view of it. */
void emscripten_notify_memory_growth(size_t index)
{
    (void)index;
}

__attribute__((export_name("seal_open"))) bool run(uint32_t size, uint32_t rounds)
{
    return seal_open(size, rounds);
}
