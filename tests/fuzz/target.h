/* Every fuzz target may use these: a check, and an input that is read piece by piece. */
#ifndef CAUSEWAY_TESTS_TARGET_H
#define CAUSEWAY_TESTS_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void expect(bool condition)
{
    if (!condition)
        abort();
}

/* An input that is read as a list of numbers. */
struct input {
    const uint8_t *data;
    size_t size;
};

/* Takes a number of so many bytes; those that are missing count as if the number were shorter. */
static inline unsigned take(struct input *input, unsigned bytes)
{
    unsigned value = 0;
    for (; bytes && input->size; bytes--, input->size--)
        value = value << 8 | *input->data++;
    return value;
}

/* Takes as many bytes as are left, at most `size`; returns their number. */
static inline unsigned take_bytes(struct input *input, unsigned size, const uint8_t **out)
{
    if (size > input->size)
        size = (unsigned)input->size;
    *out = input->data;
    input->data += size;
    input->size -= size;
    return size;
}

#endif
