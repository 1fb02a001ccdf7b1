#include "module.h"
#include "error_tables.h"

#include <stdlib.h>

/* Emscripten's libc calls this after the memory grew. JavaScript sees by itself that its views are
   detached, so this does nothing and needs no import. */
void emscripten_notify_memory_growth(size_t index)
{
    (void)index;
}

void *allocate(size_t size)
{
    return malloc(size);
}

void release(void *memory)
{
    free(memory);
}

const char *error_string(enum cw_error error)
{
#ifdef CW_MODULE_ERROR_TABLES
    static const struct cw_error_texts *const tables[] = {
        CW_MODULE_ERROR_TABLES(CW_ERROR_TABLE_ADDRESS)};
    const char *text = cw_error_text(error, tables, sizeof tables / sizeof *tables);
    return text ? text : "unknown error";
#else
    return cw_error_string(error);
#endif
}
