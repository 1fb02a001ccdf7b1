#include "base/error_texts.h"

#include <stddef.h>
#include <string.h>

/* The name that the list needs. */
#define CW_ERROR_NONE CW_OK

#define BASE_ERRORS(ERROR)                                                                         \
    ERROR(NONE, "no error")                                                                        \
    ERROR(INVALID_ARGUMENT, "an argument is out of range or NULL")                                 \
    ERROR(NO_MEMORY, "there is no memory")                                                         \
    ERROR(ADDRESS, "this is not an address; write 1.2.3.4:5 or [::1]:5")                           \
    ERROR(MALFORMED, "the datagram breaks the protocol")
CW_ERROR_LIST(cw_base_errors, CW_OK, BASE_ERRORS)

const char *cw_error_text(enum cw_error error, const struct cw_error_texts *const *tables,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *text = tables[i]->texts;
        for (uint32_t at = tables[i]->first; *text; at++, text += strlen(text) + 1)
            if (at == (uint32_t)error)
                return text;
    }
    return NULL;
}
