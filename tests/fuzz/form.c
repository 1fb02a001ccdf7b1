/* Fuzzes the reader of parameters, which gets the queries and bodies of requests. It neither reads
   nor writes beyond its texts, and a value that it accepts is text. */
#include "http/form.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The size of a value's buffer, so small that some values do not fit. */
#define VALUE_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    char *value = malloc(VALUE_MAX);
    memcpy(text, data, size);
    text[size] = '\0';
    memset(value, 'x', VALUE_MAX);
    if (form_value(text, "a", value, VALUE_MAX) && !memchr(value, '\0', VALUE_MAX))
        abort();
    free(value);
    free(text);
    return 0;
}
