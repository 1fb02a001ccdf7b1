/* Two functions of the C library that are made for speed there. Short ones take 150 bytes less when
   gzipped, and the texts of messages and errors are short. */
#include <string.h>

void *memchr(const void *bytes, int byte, size_t size)
{
    const unsigned char *at = bytes;
    for (; size > 0; size--, at++) {
        if (*at == (unsigned char)byte)
            return (void *)at;
    }
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;
    while (*end)
        end++;
    return (size_t)(end - text);
}
