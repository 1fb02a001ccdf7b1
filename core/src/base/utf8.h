/* Text off the network is checked here, for the fields of messages and the words of a disconnect.
 */
#ifndef CAUSEWAY_UTF8_H
#define CAUSEWAY_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true when the length bytes at text are valid UTF-8 and hold no NUL. */
bool cw_utf8_valid(const char *text, size_t length);

#endif
