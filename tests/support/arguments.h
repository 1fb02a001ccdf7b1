/* Helpers for tests that give public functions NULL wherever they take a pointer, with a check that
   none was forgotten. Include unit.h first. */
#ifndef CAUSEWAY_TESTS_ARGUMENTS_H
#define CAUSEWAY_TESTS_ARGUMENTS_H

#include "causeway/error.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* NULL of any type; the compiler does not know that it is. */
static void *nothing;

/* The names of the functions that were called, one for each call. */
static const char *called[1024];
static size_t called_count;

static void note(const char *name)
{
    assert_true(called_count < sizeof called / sizeof *called);
    called[called_count++] = name;
}

static bool was_called(const char *name)
{
    for (size_t i = 0; i < called_count; i++)
        if (strcmp(called[i], name) == 0)
            return true;
    return false;
}

#define REFUSES(function, ...)                                                                     \
    do {                                                                                           \
        note(#function);                                                                           \
        assert_int_equal(function(__VA_ARGS__), CW_ERROR_INVALID_ARGUMENT);                        \
    } while (0)
/* Checks that a call gives no result: no bytes, false, NULL, or an empty state. */
#define GIVES_NOTHING(function, ...)                                                               \
    do {                                                                                           \
        note(#function);                                                                           \
        assert_true((function(__VA_ARGS__)) == 0);                                                 \
    } while (0)
#define GIVES(value, function, ...)                                                                \
    do {                                                                                           \
        note(#function);                                                                           \
        assert_true(function(__VA_ARGS__) == (value));                                             \
    } while (0)
#define DOES_NOTHING(function, ...)                                                                \
    do {                                                                                           \
        note(#function);                                                                           \
        function(__VA_ARGS__);                                                                     \
    } while (0)

/* Finds the function that the line declares; returns false when it declares none. */
static bool declared(const char *line, char name[64])
{
    if (line[0] < 'a' || line[0] > 'z' || strncmp(line, "static", 6) == 0 ||
        strncmp(line, "typedef", 7) == 0)
        return false;
    const char *open = strchr(line, '(');
    const char *start = open;
    while (start && start > line &&
           (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z') ||
            (start[-1] >= '0' && start[-1] <= '9')))
        start--;
    if (!open || strncmp(start, "cw_", 3) != 0 || open - start > 60)
        return false;
    memcpy(name, start, (size_t)(open - start));
    name[open - start] = 0;
    return true;
}

static size_t check_header(const char *folder, const char *file, const char *without_pointers)
{
    char path[4096], line[512], name[64], wanted[70];
    size_t count = 0;
    bool exports = false;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *header = fopen(path, "r");
    assert_non_null(header);
    while (fgets(line, sizeof line, header)) {
        exports |= strncmp(line, "CW_BEGIN_DECLARATIONS", 21) == 0;
        if (!exports || !declared(line, name))
            continue;
        count++;
        snprintf(wanted, sizeof wanted, " %s ", name);
        if (!was_called(name) && !strstr(without_pointers, wanted) &&
            !strstr(name, "_config_default") && !strstr(name, "_grant_default"))
            fail_msg("%s of %s was not tried", name, file);
    }
    fclose(header);
    return count;
}

/* Fails when a function that a header of the folder exports was not called, unless it is in the
   list of those without pointers, which begins, ends and is separated with spaces. Returns how many
   functions there are. */
static size_t check_headers(const char *folder, const char *without_pointers)
{
    size_t count = 0;
    DIR *headers = opendir(folder);
    assert_non_null(headers);
    for (struct dirent *entry; (entry = readdir(headers)) != NULL;) {
        const size_t length = strlen(entry->d_name);
        if (length > 2 && strcmp(entry->d_name + length - 2, ".h") == 0)
            count += check_header(folder, entry->d_name, without_pointers);
    }
    closedir(headers);
    return count;
}

#endif
