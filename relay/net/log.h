/* Log lines on standard error: time, level, text. A reader that is slow does not hold up the relay:
   lines that it does not take at once are dropped, and the next that it takes is one that says how
   many. */
#ifndef CAUSEWAY_RELAY_LOG_H
#define CAUSEWAY_RELAY_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* No line's text is longer; what is over is cut off. Together with time and level it fits what a
   pipe takes whole or not at all. */
#define LOG_TEXT_MAX 4000

/* Opens standard error anew, where it can be, so that writing to it never waits. The open file that
   it was stays as it is, because other programs may write to that too. */
void log_open(void);

/* Counts dropped lines in *counter from now on; NULL ends that. */
void log_count_dropped(uint64_t *counter);

/* Lines above this level are not written. The default is LOG_INFO. */
void log_set_level(enum log_level level);

/* Finds the level of a name ("error", "warn", "info", "debug"); false when there is none. */
bool log_level_parse(const char *name, enum log_level *out);

/* Writes one line; text from outside is made printable, so a line stays a line. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True when lines of that level are written: guards work that only a log line needs. */
bool log_wants(enum log_level level);

/* Keeps a repeating line to one in five seconds. Zero it before first use. */
struct log_limit {
    double last;
    unsigned held;
};

/* True when a line may be written at the time `now` (seconds). held then tells how many were
   held back since the one before; it is the caller's to print. */
bool log_limit_pass(struct log_limit *limit, double now, unsigned *held);

#endif
