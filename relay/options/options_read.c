#include "options/options_internal.h"

#include "http/fetch.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool options_fail(struct options_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    for (char *c = error->text; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    }
    return false;
}

static bool refuse(const struct option_reading *reading, const char *needs)
{
    return options_fail(reading->error, "%s needs %s, not '%s'", reading->place, needs,
                        reading->text);
}

/* Refuses a text that has a prefix in it. */
static bool refuse_prefix(const struct option_reading *reading, const char *needs)
{
    struct prefix network;
    char text[PREFIX_TEXT];
    if (!prefix_correct(reading->text, &network))
        return refuse(reading, needs);
    prefix_format(&network, text);
    return options_fail(reading->error, "%s needs %s, not '%s': that network is %s", reading->place,
                        needs, reading->text, text);
}

static void *member(const struct option_reading *reading)
{
    return (char *)reading->out + reading->row->member;
}

bool option_read_text(const struct option_reading *reading)
{
    *(const char **)member(reading) = reading->text;
    return true;
}

bool option_read_blocks_from(const struct option_reading *reading)
{
    return fetch_takes(reading->text) ? option_read_text(reading)
                                      : refuse(reading, "a URL, as in https://game.example/blocks");
}

bool option_read_flag(const struct option_reading *reading)
{
    const bool yes = strcmp(reading->text, "yes") == 0;
    *(bool *)member(reading) = yes;
    return yes || strcmp(reading->text, "no") == 0 || refuse(reading, "yes or no");
}

/* Writes the unit of a number, as the help has it. N is left out, because it stands for a plain
   number. */
static void write_unit(const struct option_row *row, char *out, size_t capacity)
{
    const bool plain = strcmp(row->value, "N") == 0;
    snprintf(out, capacity, "%s%s", plain ? "" : " of ", plain ? "" : row->value);
    for (; *out; out++)
        *out = (char)tolower((unsigned char)*out);
}

/* Reads a decimal number within the bounds of its row. */
static bool parse_number(const struct option_reading *reading, double *out)
{
    const struct option_row *row = reading->row;
    char unit[20];
    char needs[80];
    char *end;
    *out = strtod(reading->text, &end);
    if (reading->text[0] >= '0' && reading->text[0] <= '9' && *end == '\0' && isfinite(*out) &&
        *out >= row->least && *out <= row->most)
        return true;
    write_unit(row, unit, sizeof unit);
    snprintf(needs, sizeof needs, "a number%s from %.0f to %.0f", unit, row->least, row->most);
    return refuse(reading, needs);
}

bool option_read_number(const struct option_reading *reading)
{
    return parse_number(reading, member(reading));
}

bool option_read_whole_number(const struct option_reading *reading)
{
    double value;
    if (!parse_number(reading, &value))
        return false;
    *(unsigned *)member(reading) = (unsigned)value;
    return floor(value) == value || refuse(reading, "a whole number");
}

static bool valid_address(const struct option_reading *reading, unsigned lowest_port)
{
    return socket_address_valid(reading->text, lowest_port) ||
           refuse(reading, "ADDRESS:PORT, as in 127.0.0.1:8080, or [::]:8080 for all addresses");
}

bool option_read_listen(const struct option_reading *reading)
{
    reading->out->listen[reading->out->listen_count++] = reading->text;
    return valid_address(reading, 0);
}

bool option_read_http_redirect(const struct option_reading *reading)
{
    reading->out->http_redirect[reading->out->http_redirect_count++] = reading->text;
    return valid_address(reading, 0);
}

bool option_read_tls_certificate(const struct option_reading *reading)
{
    struct tls_files *files = &reading->out->tls;
    files->certificates[files->certificate_count++] = reading->text;
    return true;
}

bool option_read_tls_key(const struct option_reading *reading)
{
    struct tls_files *files = &reading->out->tls;
    files->keys[files->key_count++] = reading->text;
    return true;
}

/* Reads the address of --admin. A port alone means the loopback address. */
bool option_read_admin(const struct option_reading *reading)
{
    struct options *out = reading->out;
    char text[300];
    bool has_port;
    const char *port = reading->text + (reading->text[0] == ':');
    const bool alone = port[strspn(port, "0123456789")] == '\0';
    snprintf(text, sizeof text, "%s%s", alone ? "127.0.0.1:" : "", alone ? port : reading->text);
    out->admin = true;
    return (socket_address_parse(text, &out->admin_local, &has_port) && has_port) ||
           refuse(reading, "a port, or an IP address and a port, as in 127.0.0.1:9090");
}

bool option_read_upstream(const struct option_reading *reading)
{
    return upstream_list_add(&reading->out->upstreams, reading->text) ||
           refuse_prefix(reading,
                         "host:port, or a prefix or range as in 10.0.0.0/16:7000-7999, and behind "
                         "it nothing, or ,client-address=none, spp or ppv2");
}

bool option_read_origin(const struct option_reading *reading)
{
    return origin_list_add(&reading->out->pages.origins, reading->text) ||
           refuse(reading, "scheme://host[:port] with nothing behind it, or * alone");
}

bool option_read_trusted_proxy(const struct option_reading *reading)
{
    return prefix_list_add(&reading->out->pages.proxies, reading->text) ||
           refuse_prefix(reading, "an address or a prefix, as in 192.0.2.7 or 10.0.0.0/8");
}

bool option_read_protocol_id(const struct option_reading *reading)
{
    struct gate *gate = &reading->out->gate;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(reading->text, &end, 0);
    gate->protocols[gate->protocol_count++] = number;
    return (!errno && reading->text[0] >= '0' && reading->text[0] <= '9' && *end == '\0') ||
           refuse(reading, "a number of 64 bits");
}

bool option_read_rtc(const struct option_reading *reading)
{
    struct options *out = reading->out;
    out->rtc = true;
    return socket_address_parse(reading->text, &out->rtc_local, &out->rtc_own_port) ||
           refuse(reading, "an IP address, as in 0.0.0.0:8081 or [::]");
}

bool option_read_rtc_advertise(const struct option_reading *reading)
{
    struct options *out = reading->out;
    bool has_port;
    return socket_address_parse(reading->text, &out->rtc_advertised[out->rtc_advertised_count++],
                                &has_port) ||
           refuse(reading, "an IP address, as in 203.0.113.7 or [2001:db8::7]:8081");
}

bool option_read_workers(const struct option_reading *reading)
{
    unsigned *workers = member(reading);
    char *end;
    if (strcmp(reading->text, "auto") == 0) {
        *workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
        if (*workers > OPTIONS_WORKERS_MAX)
            *workers = OPTIONS_WORKERS_MAX;
        return true;
    }
    const unsigned long number = strtoul(reading->text, &end, 10);
    *workers = (unsigned)number;
    return (reading->text[0] >= '1' && reading->text[0] <= '9' && *end == '\0' &&
            number <= OPTIONS_WORKERS_MAX) ||
           refuse(reading, "a number from 1 to 64, or auto");
}

bool option_read_log_level(const struct option_reading *reading)
{
    return log_level_parse(reading->text, member(reading)) ||
           refuse(reading, "error, warn, info or debug");
}

bool option_read_log_format(const struct option_reading *reading)
{
    const bool json = strcmp(reading->text, "json") == 0;
    reading->out->log_format = json ? LOG_JSON : LOG_TEXT;
    return json || strcmp(reading->text, "text") == 0 || refuse(reading, "text or json");
}

bool options_read(const struct option_reading *reading, bool first)
{
    const struct option_row *row = reading->row;
    if (row->repeats > 0) {
        unsigned *count = (unsigned *)(void *)((char *)reading->out + row->count);
        if (first) {
            memset(member(reading), 0, row->size);
            *count = 0;
        }
        if (*count == row->repeats)
            return options_fail(reading->error, "%s can be given %u times at most", reading->place,
                                row->repeats);
    }
    return row->read(reading);
}
