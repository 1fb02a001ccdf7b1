#include "os/log.h"

#include "os/log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds between two lines that one log_limit lets through (hostile.log). */
#define LOG_LIMIT_SECONDS 5.0

const char *const log_level_names[] = {"error", "warn", "info", "debug"};
static enum log_level current_level = LOG_INFO;
static struct log_style current_style = {.format = LOG_TEXT};
static uint64_t dropped; /* the lines that were lost since the last one that was written */
static uint64_t *dropped_counter;
static bool torn; /* the last line was not written to its end */

void log_set_level(enum log_level level)
{
    current_level = level;
}

void log_set_format(enum log_format format)
{
    current_style.format = format;
}

void log_set_worker(unsigned worker)
{
    current_style.worker = worker;
}

bool log_wants(enum log_level level)
{
    return level <= current_level;
}

bool log_level_parse(const char *name, enum log_level *out)
{
    for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
        if (strcmp(name, log_level_names[level]) == 0) {
            *out = (enum log_level)level;
            return true;
        }
    }
    return false;
}

void log_open(void)
{
    struct stat status;
    /* Opens standard error anew only if that helps. A file makes nobody wait, and a new open file
       would begin at its first byte. A socket cannot be opened. */
    if (fstat(STDERR_FILENO, &status) != 0 ||
        !(S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)))
        return;
    int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return; /* it belongs to another user */
    dup2(fd, STDERR_FILENO);
    close(fd);
}

void log_count_dropped(uint64_t *counter)
{
    dropped_counter = counter;
}

/* Writes a line without waiting. It first asks whether a pipe has room, because the pipe may still
   be one whose writes wait; for a socket, each write says that it must not wait. */
static bool put(const char *line, size_t size)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
        return false;
    ssize_t taken = send(STDERR_FILENO, line, size, MSG_DONTWAIT);
    if (taken < 0 && errno == ENOTSOCK)
        taken = write(STDERR_FILENO, line, size);
    if (taken > 0)
        torn = (size_t)taken < size;
    return taken == (ssize_t)size;
}

static bool put_line(enum log_level level, const char *message, const struct log_field *fields,
                     size_t count)
{
    char line[1 + LOG_LINE_MAX];
    line[0] = '\n';
    const size_t size = log_line_make(&current_style, level, message, fields, count, line + 1);
    return torn ? put(line, 1 + size) : put(line + 1, size);
}

static bool tell_dropped(void)
{
    char text[64];
    if (dropped == 0)
        return true;
    snprintf(text, sizeof text, "%" PRIu64 " lines of this log were dropped", dropped);
    if (!put_line(LOG_WARN, text, NULL, 0))
        return false;
    dropped = 0;
    return true;
}

void log_fields(enum log_level level, const char *message, const struct log_field *fields,
                size_t count)
{
    if (!log_wants(level) || (tell_dropped() && put_line(level, message, fields, count)))
        return;
    dropped++;
    if (dropped_counter)
        ++*dropped_counter;
}

__attribute__((format(printf, 2, 0))) static void write_line(enum log_level level,
                                                             const char *format, va_list arguments)
{
    char text[LOG_TEXT_MAX];
    if (!log_wants(level))
        return;
    vsnprintf(text, sizeof text, format, arguments);
    log_fields(level, text, NULL, 0);
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

bool log_limit_pass(struct log_limit *limit, double now, unsigned *suppressed)
{
    if (limit->last > 0.0 && now - limit->last < LOG_LIMIT_SECONDS) {
        limit->suppressed++;
        return false;
    }
    *suppressed = limit->suppressed;
    limit->suppressed = 0;
    limit->last = now;
    return true;
}

struct log_words log_suppressed(unsigned suppressed)
{
    struct log_words words = {""};
    if (suppressed > 0)
        snprintf(words.text, sizeof words.text, " (%u more since the last such line)", suppressed);
    return words;
}

struct log_words log_count(unsigned count, const char *thing)
{
    struct log_words words;
    snprintf(words.text, sizeof words.text, "%u %s%s", count, thing, count == 1 ? "" : "s");
    return words;
}
