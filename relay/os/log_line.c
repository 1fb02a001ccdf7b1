#include "os/log_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Bytes that are kept free for the end of a text and of the line. */
#define END_MAX 4

/* Bytes of the longest form of a character: \u0000. */
#define CHARACTER_MAX 6

/* Bytes of the longest number, as printed. */
#define NUMBER_MAX 32

struct line {
    char *bytes;
    size_t size;
};

static bool has_room(const struct line *line, size_t size)
{
    return line->size + size + END_MAX <= LOG_LINE_MAX;
}

/* Adds a text that is known to fit. */
static void put(struct line *line, const char *text)
{
    const size_t size = strlen(text);
    memcpy(line->bytes + line->size, text, size);
    line->size += size;
}

/* Returns whether a control character begins at the text, also one of two bytes in UTF-8. */
static bool is_control(const char *text)
{
    const unsigned char c = (unsigned char)text[0];
    return c < ' ' || c == 127 || (c == 0xc2 && (unsigned char)text[1] < 0xa0);
}

/* Adds a text from outside, made printable, so that a line stays a line. */
static void put_plain(struct line *line, const char *text)
{
    for (; *text && has_room(line, 1); text++)
        line->bytes[line->size++] = is_control(text) ? '?' : *text;
}

/* Adds a text from outside as a JSON string. Its encoding is not known: bytes that are not ASCII
   are written as the first 256 characters, which every parser takes. */
static void put_quoted(struct line *line, const char *text)
{
    put(line, "\"");
    for (; *text && has_room(line, CHARACTER_MAX); text++) {
        const unsigned char c = (unsigned char)*text;
        if (!is_control(text) && c < 128 && c != '"' && c != '\\')
            line->bytes[line->size++] = *text;
        else
            line->size +=
                (size_t)snprintf(line->bytes + line->size, CHARACTER_MAX + END_MAX, "\\u%04x", c);
    }
    put(line, "\"");
}

static void put_value(struct line *line, enum log_format format, const struct log_field *field)
{
    char number[NUMBER_MAX];
    if (!field->text) {
        snprintf(number, sizeof number, "%.15g", field->number);
        put(line, number);
    } else if (format == LOG_JSON || field->text[strcspn(field->text, " \"=")]) {
        put_quoted(line, field->text);
    } else {
        put_plain(line, field->text);
    }
}

static void put_fields(struct line *line, enum log_format format, const struct log_field *fields,
                       size_t count)
{
    const bool json = format == LOG_JSON;
    for (size_t i = 0; i < count; i++) {
        if (!has_room(line, strlen(fields[i].name) + NUMBER_MAX))
            break;
        put(line, json ? ",\"" : " ");
        put(line, fields[i].name);
        put(line, json ? "\":" : "=");
        put_value(line, format, &fields[i]);
    }
}

size_t log_line_make(const struct log_style *style, enum log_level level, const char *message,
                     const struct log_field *fields, size_t count, char out[LOG_LINE_MAX])
{
    struct line line = {.bytes = out};
    struct timespec now;
    struct tm utc;
    char stamp[32];
    char worker[32] = "";
    const bool json = style->format == LOG_JSON;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    if (style->worker > 0)
        snprintf(worker, sizeof worker, json ? "\"worker\":%u," : "worker %u: ", style->worker);
    const char *form =
        json ? "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",%s\"message\":" : "%s.%03ldZ %-5s %s";
    line.size = (size_t)snprintf(out, LOG_LINE_MAX, form, stamp, now.tv_nsec / 1000000,
                                 log_level_names[level], worker);
    if (json)
        put_quoted(&line, message);
    else
        put_plain(&line, message);
    put_fields(&line, style->format, fields, count);
    put(&line, json ? "}\n" : "\n");
    return line.size;
}
