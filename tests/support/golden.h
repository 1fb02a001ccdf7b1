/* Golden bytes: those that the code wrote when it was known to be right, one `name hex` per line.
   They guard a clone that does not have the shared vectors. A test program that finds
   CAUSEWAY_WRITE_GOLDEN in its environment writes its file anew. */
#ifndef CAUSEWAY_TESTS_GOLDEN_H
#define CAUSEWAY_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden {
    FILE *file;
    bool write;
};

/* Opens the file at path, which is CAUSEWAY_GOLDEN, the folder, and the file's name. */
static inline struct golden golden_open(const char *path)
{
    const bool write = getenv("CAUSEWAY_WRITE_GOLDEN") != NULL;
    struct golden golden = {fopen(path, write ? "w" : "r"), write};
    if (!golden.file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    return golden;
}

/* Returns true when these are the bytes of the next line, or when the line was written. */
static inline bool golden_bytes(struct golden *golden, const char *name, const void *bytes,
                                size_t size)
{
    const size_t capacity = strlen(name) + 2 * size + 3;
    char *line = malloc(2 * capacity), *found = line + capacity;
    size_t used = (size_t)snprintf(line, capacity, "%s ", name);
    for (size_t i = 0; i < size; i++)
        used += (size_t)snprintf(line + used, capacity - used, "%02x",
                                 ((const unsigned char *)bytes)[i]);
    memcpy(line + used, "\n", 2);
    bool same = true;
    if (golden->write)
        fputs(line, golden->file);
    else
        same = fgets(found, (int)capacity, golden->file) && strcmp(found, line) == 0;
    if (!same)
        fprintf(stderr, "differs from the golden bytes: %s", line);
    free(line);
    return same;
}

/* Returns true when the file ended where it should. */
static inline bool golden_close(struct golden *golden)
{
    const bool end = golden->write || fgetc(golden->file) == EOF;
    fclose(golden->file);
    return end;
}

#endif
