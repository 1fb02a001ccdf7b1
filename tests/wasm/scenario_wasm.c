/* The scenario as a WebAssembly module of its own, on the same core. */
#include "scenario.h"

#include <stddef.h>

/* emscripten's libc tells when the memory grew; nobody here keeps a view. */
void emscripten_notify_memory_growth(size_t index)
{
    (void)index;
}

__attribute__((export_name("scenario"))) uint64_t scenario(uint32_t seed, uint32_t packets)
{
    return scenario_run(seed, packets);
}
