/* Runs the tests of the core that are linked into it, or those that the arguments name. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEST(name, parameters, arguments) int test_##name parameters;
#include "tests.h"
#undef TEST

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(name, argv[i]) == 0)
            return true;
    return argc <= 1;
}

int main(int argc, char **argv)
{
    int failed = 0;
#define TEST(name, parameters, arguments)                                                          \
    if (wanted(#name, argc, argv) && test_##name arguments != 0) {                                 \
        printf("FAILED: " #name "\n");                                                             \
        failed++;                                                                                  \
    }
#include "tests.h"
    return failed > 0;
}
