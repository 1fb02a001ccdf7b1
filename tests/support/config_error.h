/* Checks for the errors of configs that cannot work. */
#ifndef CAUSEWAY_TESTS_CONFIG_ERROR_H
#define CAUSEWAY_TESTS_CONFIG_ERROR_H

#include "causeway/base.h"

#include "unit.h"

#include <ctype.h>
#include <string.h>

/* Returns whether the error names a field that is a word of the text, such as "channels[0].weight =
   0". */
static inline bool names_field(enum cw_error error, const char *text)
{
    char name[CW_ERROR_FIELD_SIZE];
    const size_t size = cw_error_field(error, name) ? strlen(name) : 0;
    for (const char *word = text; size > 0 && (word = strstr(word, name)) != NULL; word++)
        if ((word == text || !(isalnum((unsigned char)word[-1]) || word[-1] == '_')) &&
            !(isalnum((unsigned char)word[size]) || word[size] == '_'))
            return true;
    return false;
}

/* The error must name the field; an error that is not of a config must have the expected number. */
static inline void assert_error_names(enum cw_error error, const char *text)
{
    if (!names_field(error, text))
        fail_msg("%s: \"%s\" (%d)", text, cw_error_string(error), (int)error);
}

#endif
