/* The errors of all layers, which is why this lies above them. */
#include "error_tables.h"

#include <stdio.h>
#include <string.h>

static const char *find(enum cw_error error)
{
    static const struct cw_error_texts *const tables[] = {CW_ERROR_TABLES(CW_ERROR_TABLE_ADDRESS)};
    return cw_error_text(error, tables, sizeof tables / sizeof *tables);
}

const char *cw_error_string(enum cw_error error)
{
    const char *const text = find(error);
    return text ? text : "unknown error";
}

/* The sentence about a field begins with its name. */
bool cw_error_field(enum cw_error error, char out[CW_ERROR_FIELD_SIZE])
{
    const char *const text = out && error >= CW_ERROR_CONFIG ? find(error) : NULL;
    if (out)
        snprintf(out, CW_ERROR_FIELD_SIZE, "%.*s", text ? (int)strcspn(text, " ") : 0,
                 text ? text : "");
    return text != NULL;
}
