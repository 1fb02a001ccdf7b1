#include "exports/exports.h"

#include "causeway/allocator.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

union cw_scratch cw_scratch;

static void set_u32(uint32_t *field, double value, uint32_t no_fit)
{
    if (!isnan(value))
        *field = value >= 0 && value < CW_AUTO && value == floor(value) ? (uint32_t)value : no_fit;
}

void cw_set_u32(uint32_t *field, double value)
{
    set_u32(field, value, 0);
}

void cw_set_u32_or_0(uint32_t *field, double value)
{
    set_u32(field, value, UINT32_MAX);
}

void cw_set_f64(double *field, double value)
{
    if (!isnan(value))
        *field = value;
}

/* Emscripten's libc calls this after the memory grew. JavaScript sees by itself that its views are
   detached, so this does nothing and needs no import. */
void emscripten_notify_memory_growth(size_t index)
{
    (void)index;
}

CW_EXPORT(scratch) union cw_scratch *scratch(void)
{
    return &cw_scratch;
}

CW_EXPORT(allocate) void *allocate(size_t size)
{
    return malloc(size);
}

CW_EXPORT(release) void release(void *memory)
{
    free(memory);
}
