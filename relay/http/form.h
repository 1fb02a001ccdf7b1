/* Parameters in the query of a request, or in its body. */
#ifndef CAUSEWAY_RELAY_FORM_H
#define CAUSEWAY_RELAY_FORM_H

#include <stdbool.h>
#include <stddef.h>

/* Finds a parameter in text of the form "a=1&b=2" and copies its value, decoded; "" when there is
   none. Returns false when the value is malformed or does not fit. */
bool form_value(const char *text, const char *name, char *out, size_t capacity);

#endif
