#include "os/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *text, size_t size)
{
    size_t capacity = text->capacity ? text->capacity : 4096;
    while (capacity - text->size < size)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (text->failed || size < 0 || !reserve(text, (size_t)size + 1)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->bytes + text->size, text->capacity - text->size, format, arguments);
    va_end(arguments);
    text->size += (size_t)size;
}

void text_add_bytes(struct text *text, const void *bytes, size_t size)
{
    if (text->failed || !reserve(text, size)) {
        text->failed = true;
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

void text_free(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
