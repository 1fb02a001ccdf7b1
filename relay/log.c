#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LOG_LIMIT_SECONDS 5.0

static const char *const level_names[] = {"error", "warn", "info", "debug"};
static enum log_level current_level = LOG_INFO;

void log_set_level(enum log_level level)
{
    current_level = level;
}

bool log_wants(enum log_level level)
{
    return level <= current_level;
}

bool log_level_parse(const char *name, enum log_level *out)
{
    for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
        if (strcmp(name, level_names[level]) == 0) {
            *out = (enum log_level)level;
            return true;
        }
    }
    return false;
}

__attribute__((format(printf, 2, 0))) static void write_line(enum log_level level,
                                                             const char *format, va_list arguments)
{
    if (!log_wants(level))
        return;
    char text[2048];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
    struct timespec now;
    struct tm utc;
    char stamp[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    fprintf(stderr, "%s.%03ldZ %-5s %s\n", stamp, now.tv_nsec / 1000000, level_names[level], text);
}

#define LOG_FUNCTION(name, level)                                                                  \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        write_line(level, format, arguments);                                                      \
        va_end(arguments);                                                                         \
    }

LOG_FUNCTION(log_error, LOG_ERROR)
LOG_FUNCTION(log_warn, LOG_WARN)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)

bool log_limit_pass(struct log_limit *limit, double now, unsigned *held)
{
    if (limit->last > 0.0 && now - limit->last < LOG_LIMIT_SECONDS) {
        limit->held++;
        return false;
    }
    *held = limit->held;
    limit->held = 0;
    limit->last = now;
    return true;
}
