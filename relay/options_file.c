#include "options_internal.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

struct file {
    FILE *stream;
    unsigned line;
    struct options *options;
    struct options_error *error;
    bool failed; /* *error says why */
};

static void fail(struct file *file, const char *why, const char *what)
{
    if (!file->failed)
        options_fail(file->error, "%s:%u: %s%s", file->options->config, file->line, why, what);
    file->failed = true;
}

static void fail_to_read(struct file *file)
{
    file->failed = true;
    options_fail(file->error, "cannot read %s: %s", file->options->config, strerror(errno));
}

/* The next line, without what stands before its first character: to the library that would be the
   line before going on. A line that it would cut, or read to a zero, fails. */
static char *next_line(char *out, int capacity, void *context)
{
    struct file *file = context;
    int size = 0;
    int c;
    file->line++;
    while ((c = getc(file->stream)) != EOF) {
        if (size == 0 && (c == ' ' || c == '\t'))
            continue;
        if (c == '\0' || size == capacity - 1) {
            fail(file, c ? "the line is too long" : "there is a zero byte", "");
            break;
        }
        out[size++] = (char)c;
        if (c == '\n')
            break;
    }
    if (c == EOF && ferror(file->stream))
        fail_to_read(file);
    out[size] = '\0';
    return file->failed || (c == EOF && size == 0) ? NULL : out;
}

static int on_pair(void *context, const char *section, const char *name, const char *value)
{
    struct file *file = context;
    const struct option_row *row = options_find(name, strlen(name));
    if (section[0] != '\0')
        fail(file, "there are no sections: ", section);
    else if (!row)
        fail(file, "no such option: ", name);
    else if (row->not_in_file)
        fail(file, "not in a file: ", name);
    else if (!options_give(file->options, OPTIONS_FILE, row, value, file->line))
        fail(file, "no memory", "");
    return !file->failed;
}

bool options_take_file(struct options *options, struct options_error *error)
{
    struct file file = {.options = options, .error = error};
    file.stream = fopen(options->config, "re");
    if (!file.stream) {
        fail_to_read(&file);
        return false;
    }
    const int bad_line = ini_parse_stream(next_line, &file, on_pair, &file);
    fclose(file.stream);
    if (file.failed)
        return false;
    return bad_line == 0 ||
           options_fail(error, "%s:%d: this is not name = value", options->config, bad_line);
}
