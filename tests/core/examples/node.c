/* The node of core/examples: two of them hear each other and themselves, a packet a second. */
#define _XOPEN_SOURCE 700

#include "program.h"

#include <stdlib.h>

static void write_addresses(const char *path, const char *own, const char *other)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n\n%s\n", own, other);
    fclose(file);
}

TEST(nodes_hear_each_other)
{
    static const char where[] = "listening on ";
    char path[] = "/tmp/causeway-nodes-XXXXXX", first[256], text[300];
    pid_t a, b;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    /* The first one has nobody to send to. It tells where it is, and hears the second. */
    FILE *listener = program_start(NODE, "127.0.0.1:0", path, &a);
    snprintf(first, sizeof first, "%s", program_says(listener, where) + strlen(where));
    assert_non_null(strstr(first, ", without encryption"));
    *strchr(first, ',') = 0;

    write_addresses(path, first, "127.0.0.1:9");
    FILE *output = program_start(NODE, "127.0.0.1:0", path, &b);
    snprintf(text, sizeof text, "6 bytes from %s", program_says(output, where) + strlen(where));
    *strchr(text, ',') = 0;
    for (int i = 0; i < 2; i++)
        assert_string_equal(program_says(listener, "bytes from"), text);
    program_stop(a);
    program_stop(b);
    fclose(listener);
    fclose(output);
    unlink(path);
}
