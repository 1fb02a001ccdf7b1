/* Text that grows as it is written. */
#ifndef CAUSEWAY_RELAY_TEXT_H
#define CAUSEWAY_RELAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A text; all zero is empty. */
struct text {
    char *bytes;
    size_t size;
    size_t capacity;
    bool failed; /* there was no memory, and something is missing */
};

/* Adds to the end of a text, as printf does. */
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds bytes as they are. */
void text_add_bytes(struct text *text, const void *bytes, size_t size);

/* Empties a text and frees its memory. */
void text_free(struct text *text);

#endif
