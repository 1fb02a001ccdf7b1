/* Shared wire vectors: JSON files in the folder that CAUSEWAY_VECTORS names. */
#ifndef CAUSEWAY_TESTS_VECTORS_H
#define CAUSEWAY_TESTS_VECTORS_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the file, to be freed with cJSON_Delete. Without CAUSEWAY_VECTORS it says so on stdout
   and returns NULL. A file that should be there but cannot be read ends the program. */
static inline cJSON *vectors_load(const char *name)
{
    const char *folder = getenv("CAUSEWAY_VECTORS");
    if (!folder || !*folder) {
        printf("skipped: CAUSEWAY_VECTORS is not set, so %s is not read\n", name);
        return NULL;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(file);
    text[size] = 0;
    cJSON *json = cJSON_Parse(text);
    free(text);
    if (!json) {
        fprintf(stderr, "%s is not JSON\n", path);
        exit(1);
    }
    return json;
}

/* Returns the bytes of a hex string in a heap block of exactly their size, so that reading past it
   is seen. The caller frees it. */
static inline uint8_t *vectors_bytes(const cJSON *hex, size_t *size)
{
    const char *text = cJSON_GetStringValue(hex);
    *size = text ? strlen(text) / 2 : 0;
    uint8_t *bytes = malloc(*size);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte = 0;
        sscanf(text + 2 * i, "%2x", &byte);
        bytes[i] = (uint8_t)byte;
    }
    return bytes;
}

static inline const cJSON *vectors_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* Returns the number, 0 when there is none. */
static inline long vectors_int(const cJSON *object, const char *key)
{
    const cJSON *item = vectors_get(object, key);
    return item ? (long)cJSON_GetNumberValue(item) : 0;
}

#endif
