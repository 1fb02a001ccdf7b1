/* Log lines on standard error: time, level, text, as text or as JSON. A slow reader does not hold
   up the relay: lines that it does not take at once are dropped, and the next line that it does
   take tells how many. */
#ifndef CAUSEWAY_RELAY_LOG_H
#define CAUSEWAY_RELAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

enum log_format {
    LOG_TEXT, /* 2026-01-02T03:04:05.678Z info  session ended id=1 reason="no link" */
    LOG_JSON, /* {"time":"2026-...","level":"info","message":"session ended","id":1,...} */
};

/* A named value of a line. */
struct log_field {
    const char *name;
    const char *text; /* NULL = the value is the number */
    double number;
};

/* Bytes of the longest text of a line; the rest is cut off. With all else the line fits into what a
   pipe takes as a whole or not at all. */
#define LOG_TEXT_MAX 4000

/* Opens standard error again, where possible, so that writing to it never waits. The original open
   file is left as it is, because other programs may write to it too. */
void log_open(void);

/* From now on, counts dropped lines in *counter. NULL stops that. */
void log_count_dropped(uint64_t *counter);

/* Sets the highest level that is written. The default is LOG_INFO. */
void log_set_level(enum log_level level);

/* Sets the format. The default is LOG_TEXT. */
void log_set_format(enum log_format format);

/* Sets the number of the worker, from 1 on, that each line names as its writer. The default, 0, is
   none. */
void log_set_worker(unsigned worker);

/* Finds the level with a name ("error", "warn", "info", "debug"). Returns false when there is none.
 */
bool log_level_parse(const char *name, enum log_level *out);

/* Writes one line. Text from outside is made printable, so that a line stays a line. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes one line with fields. */
void log_fields(enum log_level level, const char *message, const struct log_field *fields,
                size_t count);

/* Returns true when lines of that level are written, so that work which only a log line needs can
   be left out. */
bool log_wants(enum log_level level);

/* Limits a repeating line to one in five seconds. Zero it before first use. */
struct log_limit {
    double last;
    unsigned suppressed;
};

/* Returns true when a line may be written at the time `now` (seconds). *suppressed is then the
   number of lines that were held back since the last one; the caller prints it. */
bool log_limit_pass(struct log_limit *limit, double now, unsigned *suppressed);

struct log_words {
    char text[64];
};

/* Returns the text that goes behind such a line: " (2 more since the last such line)"; nothing for
   0. */
struct log_words log_suppressed(unsigned suppressed);

/* Returns "1 session", "2 sessions". */
struct log_words log_count(unsigned count, const char *thing);

#endif
