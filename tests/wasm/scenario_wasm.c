/* The scenarios as a WebAssembly module of their own, on the same core. */
#include "prediction_scenario.h"
#include "scenario.h"

#include <stddef.h>

/* emscripten's libc calls this when the memory grew; nobody here keeps a view of it. */
void emscripten_notify_memory_growth(size_t index)
{
    (void)index;
}

__attribute__((export_name("packets"))) uint64_t packets(uint32_t seed, uint32_t count)
{
    return scenario_run(seed, count);
}

__attribute__((export_name("prediction"))) uint64_t prediction(uint32_t seed, uint32_t ticks)
{
    return prediction_scenario_run(seed, ticks).hash;
}
