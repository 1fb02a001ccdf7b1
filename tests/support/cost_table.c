#include "cost_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tolerance is a share of the figure: another compiler or libc makes some percent of
   difference, a change that matters makes more. */
#define TOLERANCE 0.33

#define GUIDE_MAX 65536

static void fail(const char *what)
{
    fprintf(stderr, "cost_table: %s " SECURITY_GUIDE "\n", what);
    exit(1);
}

static void read_guide(char text[GUIDE_MAX])
{
    FILE *file = fopen(SECURITY_GUIDE, "r");
    if (!file)
        fail("cannot read");
    const size_t size = fread(text, 1, GUIDE_MAX - 1, file);
    text[size] = '\0';
    fclose(file);
    if (size == GUIDE_MAX - 1)
        fail("too long:");
}

/* Replaces the characters from `at` to `end`. */
static void write_guide(const char *text, const char *at, const char *figure, const char *end)
{
    FILE *file = fopen(SECURITY_GUIDE, "w");
    if (!file)
        fail("cannot write");
    fwrite(text, 1, (size_t)(at - text), file);
    fputs(figure, file);
    fputs(end, file);
    fclose(file);
}

/* Writes millions with two significant digits. */
static void format(double instructions, char out[32])
{
    const double millions = instructions / 1e6;
    const int decimals = (int)fmax(1.0 - floor(log10(millions)), 0.0);
    snprintf(out, 32, "%.*f", decimals, millions);
}

/* Returns whether this processor runs the code that was counted: OpenSSL has other code for others.
   Valgrind shows a program the same processor on all that have AVX2. */
static bool is_comparable(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

bool cost_table_row(const char *name, double instructions, bool write)
{
    static char text[GUIDE_MAX];
    char begin[256];
    char figure[32];
    read_guide(text);
    snprintf(begin, sizeof begin, "\n| %s | ", name);
    format(instructions, figure);
    char *at = strstr(text, begin);
    if (!at) {
        printf("SECURITY.md has no row \"%s\": NO\n", name);
        return false;
    }
    at += strlen(begin);
    char *end;
    const double value = strtod(at, &end) * 1e6;
    if (write)
        write_guide(text, at, figure, end);
    const bool right =
        write || !is_comparable() ||
        (instructions <= value * (1.0 + TOLERANCE) && value <= instructions * (1.0 + TOLERANCE));
    printf("%s: %s million instructions, %.*s in SECURITY.md%s\n", name, figure, (int)(end - at),
           at, right ? "" : ": NO (write it anew with --write)");
    return right;
}

bool cost_table_asked(int argc, char **argv)
{
    return argc > 2 && strcmp(argv[2], "--write") == 0;
}
