#include "options/options_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Bytes of the longest file, far more than all options need. */
#define FILE_MAX 1048576

struct file {
    const char *at; /* the start of the rest of the text */
    const char *end;
    unsigned line;
    struct options *options;
    struct options_error *error;
    bool failed; /* the reading has failed; *error says why */
};

static void fail(struct file *file, const char *why, const char *what)
{
    if (!file->failed)
        options_fail(file->error, "%s:%u: %s%s", file->options->config, file->line, why, what);
    file->failed = true;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t';
}

/* Gives the library the next line, without the white space before its first character, which the
   library would take for a continuation of the line before, and without a comment. Fails when the
   library would cut the line, or when there is a zero in it. */
static char *next_line(char *out, int capacity, void *context)
{
    struct file *file = context;
    bool comment = false;
    int size = 0;
    int c;
    file->line++;
    while ((c = file->at < file->end ? (unsigned char)*file->at++ : EOF) != EOF) {
        comment = comment || (c == '#' && (size == 0 || is_blank(out[size - 1])));
        if (c != '\0' && c != '\n' && (comment || (size == 0 && is_blank(c))))
            continue;
        if (c == '\0' || size == capacity - 1) {
            fail(file, c ? "the line is too long" : "there is a zero byte", "");
            break;
        }
        out[size++] = (char)c;
        if (c == '\n')
            break;
    }
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

static bool read_all(int fd, struct options_file *out)
{
    char *text = malloc(FILE_MAX);
    size_t size = 0;
    ssize_t got = -1;
    while (text && size < FILE_MAX && (got = read(fd, text + size, FILE_MAX - size)) > 0)
        size += (size_t)got;
    if (got > 0)
        errno = EFBIG;
    if (got != 0) {
        free(text);
        return false;
    }
    char *fitting = realloc(text, size + 1);
    *out = (struct options_file){.text = fitting ? fitting : text, .size = size};
    return true;
}

bool options_take_file(struct options *options, int copy, struct options_error *error)
{
    const int fd = copy < 0 ? open(options->config, O_RDONLY | O_CLOEXEC) : copy;
    const bool read = fd >= 0 && read_all(fd, &options->file);
    if (!read)
        options_fail(error, "cannot read %s: %s", options->config, strerror(errno));
    if (fd != copy && fd >= 0)
        close(fd);
    if (!read)
        return false;
    struct file file = {
        .at = options->file.text,
        .end = options->file.text + options->file.size,
        .options = options,
        .error = error,
    };
    const int bad_line = ini_parse_stream(next_line, &file, on_pair, &file);
    if (file.failed)
        return false;
    return bad_line == 0 ||
           options_fail(error, "%s:%d: this is not name = value", options->config, bad_line);
}

int options_copy_file(const struct options *options)
{
    const struct options_file *file = &options->file;
    const int fd = file->text ? memfd_create("causeway options", MFD_CLOEXEC) : -1;
    if (fd >= 0 && pwrite(fd, file->text, file->size, 0) == (ssize_t)file->size)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
