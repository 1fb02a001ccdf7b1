/* A log that keeps its lines. */
#ifndef CAUSEWAY_TESTS_KEPT_LOG_H
#define CAUSEWAY_TESTS_KEPT_LOG_H

#include "causeway/base.h"
#include "unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define KEPT_LINES 64

struct kept_log {
    size_t count;
    char lines[KEPT_LINES][1024]; /* the level, then the text */
};

static inline void kept_log_write(void *context, enum cw_log_level level, const char *line)
{
    struct kept_log *log = context;
    assert_true(log->count < KEPT_LINES);
    assert_null(strchr(line, '\n'));
    snprintf(log->lines[log->count++], sizeof *log->lines, "%d %s", (int)level, line);
}

static inline struct cw_log kept_log_at(struct kept_log *log, enum cw_log_level level)
{
    return (struct cw_log){.write = kept_log_write, .context = log, .level = level};
}

/* Checks that the next line from *at on is this. */
static inline void kept_log_expect(const struct kept_log *log, size_t *at, const char *line)
{
    assert_true(*at < log->count);
    assert_string_equal(log->lines[(*at)++], line);
}

#endif
