#include "http/form.h"

#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %41 and +. Returns false when the text is malformed, has a zero in it, or is too long. */
static bool decode(const char *text, size_t size, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            if (size - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
                return false;
            c = (char)(digit(text[i + 1]) << 4 | digit(text[i + 2]));
            i += 2;
        }
        if (!c || used + 1 >= capacity)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

bool form_value(const char *text, const char *name, char *out, size_t capacity)
{
    const size_t name_size = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "&"), at += *at == '&') {
        const size_t size = strcspn(at, "&");
        if (size > name_size && memcmp(at, name, name_size) == 0 && at[name_size] == '=')
            return decode(at + name_size + 1, size - name_size - 1, out, capacity);
    }
    out[0] = '\0';
    return true;
}
