/* Declarations that the parts of the log share: log_line.c makes lines, log.c writes them. */
#ifndef CAUSEWAY_RELAY_LOG_INTERNAL_H
#define CAUSEWAY_RELAY_LOG_INTERNAL_H

#include "os/log.h"

#include <stddef.h>

/* Bytes of the longest line that a pipe takes as a whole or not at all. */
#define LOG_LINE_MAX 4096

/* The names of the levels, indexed by enum log_level. */
extern const char *const log_level_names[];

/* The properties that all lines have in common. */
struct log_style {
    enum log_format format;
    unsigned worker; /* see log_set_worker */
};

/* Makes a line of the present time, with its end and without a terminator. Fields that do not fit
   are left out, but the line is whole. Returns its size. */
size_t log_line_make(const struct log_style *style, enum log_level level, const char *message,
                     const struct log_field *fields, size_t count, char out[LOG_LINE_MAX]);

#endif
