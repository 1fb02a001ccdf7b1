#include "error_tables.h"
#include "exports/exports.h"

/* A page's module contains only the sentences that a client needs. */
CW_EXPORT(error_string) const char *error_string(enum cw_error error)
{
#ifdef CW_PAGE
    static const struct cw_error_texts *const tables[] = {
        CW_CLIENT_ERROR_TABLES(CW_ERROR_TABLE_ADDRESS)};
    const char *text = cw_error_text(error, tables, sizeof tables / sizeof *tables);
    return text ? text : "unknown error";
#else
    return cw_error_string(error);
#endif
}
