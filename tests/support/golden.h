/* Golden bytes: those that the code wrote when it was known to be right. They guard a clone that
   does not have the shared vectors. A file has a hash of so many lines of `name hex`, of which one
   that differs prints its lines. A test program that finds CAUSEWAY_WRITE_GOLDEN in its environment
   writes its file anew. */
#ifndef CAUSEWAY_TESTS_GOLDEN_H
#define CAUSEWAY_TESTS_GOLDEN_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
    FILE *file;
    bool write;
    unsigned together; /* lines that have one hash, or 0: the test calls golden_check */
    unsigned count;    /* lines since the last hash, and their characters in golden_text */
    size_t size;
};
static char golden_text[1 << 18];

/* Opens the file at path, which is CAUSEWAY_GOLDEN, the folder, and the file's name. */
static inline struct golden golden_open(const char *path, unsigned together)
{
    const bool write = getenv("CAUSEWAY_WRITE_GOLDEN") != NULL;
    struct golden golden = {fopen(path, write ? "w" : "r"), write, together, 0, 0};
    if (!golden.file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    return golden;
}

/* Returns true when the lines since the last check are as they were, or when their hash was
   written. */
static inline bool golden_check(struct golden *golden)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < golden->size; i++)
        hash = (hash ^ (uint8_t)golden_text[i]) * 1099511628211u;
    char line[18], found[18];
    snprintf(line, sizeof line, "%016" PRIx64 "\n", hash);
    bool same = true;
    if (golden->write)
        fputs(line, golden->file);
    else
        same = fgets(found, sizeof found, golden->file) && strcmp(found, line) == 0;
    if (!same)
        fprintf(stderr, "differs from the golden bytes:\n%.*s", (int)golden->size, golden_text);
    golden->count = 0;
    golden->size = 0;
    return same;
}

/* Adds a line. Returns false when it completes a hash that differs. */
static inline bool golden_bytes(struct golden *golden, const char *name, const void *bytes,
                                size_t size)
{
    if (golden->size + strlen(name) + 2 * size + 3 > sizeof golden_text)
        abort();
    char *at = golden_text + golden->size;
    at += sprintf(at, "%s ", name);
    for (size_t i = 0; i < size; i++)
        at += sprintf(at, "%02x", ((const unsigned char *)bytes)[i]);
    *at++ = '\n';
    golden->size = (size_t)(at - golden_text);
    return ++golden->count != golden->together || golden_check(golden);
}

/* Returns true when the file ended where it should. */
static inline bool golden_close(struct golden *golden)
{
    bool end = golden->count == 0 || golden_check(golden);
    end &= golden->write || fgetc(golden->file) == EOF;
    fclose(golden->file);
    return end;
}

#endif
