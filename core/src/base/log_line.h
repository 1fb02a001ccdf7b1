/* Lines for a log, put together from pieces. */
#ifndef CAUSEWAY_LOG_LINE_H
#define CAUSEWAY_LOG_LINE_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line, longer than any error with its details; the end of a longer one is cut off. */
struct cw_log_line {
    size_t size;
    char text[512];
};

/* Returns whether lines of this level are written. */
static inline bool cw_log_wants(const struct cw_log *log, enum cw_log_level level)
{
    return log->write && level <= log->level;
}

/* These add to the line. Control characters become spaces, so that it stays one line. */
void cw_log_line_text(struct cw_log_line *line, const char *text);
void cw_log_line_number(struct cw_log_line *line, uint64_t number);
void cw_log_line_hexadecimal(struct cw_log_line *line, uint64_t number); /* with all 16 digits */
void cw_log_line_address(struct cw_log_line *line, const struct cw_address *address);

/* Writes the line to a log that wants it. */
void cw_log_line_write(const struct cw_log_line *line, const struct cw_log *log,
                       enum cw_log_level level);

#endif
