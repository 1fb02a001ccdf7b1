#include "options/options.h"

#include "options/options_internal.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct option_value {
    struct option_value *next;
    const struct option_row *row;
    unsigned line; /* the number of a line of the file */
    char text[];
};

/* Bytes of the longest place, which has the name of a file in it. */
#define PLACE_MAX 400

bool options_give(struct options *options, enum options_source source, const struct option_row *row,
                  const char *text, unsigned line)
{
    struct option_values *values = &options->given[source];
    struct option_value *value = malloc(sizeof *value + strlen(text) + 1);
    if (!value)
        return false;
    *value = (struct option_value){.row = row, .line = line};
    strcpy(value->text, text);
    *(values->last ? &values->last->next : &values->first) = value;
    values->last = value;
    return true;
}

const char *options_given(const struct options *options, const char *name)
{
    const char *text = NULL;
    for (int source = 0; source < OPTIONS_SOURCES; source++) {
        for (const struct option_value *at = options->given[source].first; at; at = at->next) {
            if (strcmp(at->row->name, name) == 0)
                text = at->text;
        }
    }
    return text;
}

static unsigned count_rows(void)
{
    unsigned count = 0;
    while (options_table[count].name)
        count++;
    return count;
}

/* Returns the options for getopt_long. --raw may stand for --raw=yes. */
static struct option *long_options(void)
{
    const unsigned count = count_rows();
    struct option *out = calloc(count + 1, sizeof *out);
    for (unsigned i = 0; out && i < count; i++) {
        out[i].name = options_table[i].name;
        out[i].has_arg = options_table[i].value ? required_argument : optional_argument;
    }
    return out;
}

static bool take_arguments(struct options *options, const struct option *names,
                           struct options_error *error)
{
    char **argv = options->argv;
    int index = 0;
    int found;
    opterr = 0;
    optind = 0; /* getopt_long begins anew, also after an earlier run */
    for (int at = 1; (found = getopt_long(options->argc, argv, "+:", names, &index)) != -1;
         at = optind) {
        if (found == ':')
            return options_fail(error, "%s needs a value", argv[optind - 1]);
        if (found == '?')
            return options_fail(error, "no such option: %s", argv[at]);
        if (!options_give(options, OPTIONS_COMMAND_LINE, &options_table[index],
                          optarg ? optarg : "yes", 0))
            return options_fail(error, "no memory");
    }
    if (optind < options->argc)
        return options_fail(error, "what is '%s'? Options begin with --", argv[optind]);
    return true;
}

static bool take_command_line(struct options *options, struct options_error *error)
{
    struct option *names = long_options();
    const bool taken =
        names ? take_arguments(options, names, error) : options_fail(error, "no memory");
    free(names);
    return taken;
}

static void write_place(const struct options *options, enum options_source source,
                        const struct option_value *value, char out[PLACE_MAX])
{
    switch (source) {
    case OPTIONS_FILE:
        snprintf(out, PLACE_MAX, "%.300s:%u: %s", options->config, value->line, value->row->name);
        break;
    case OPTIONS_ENVIRONMENT:
        options_variable(value->row, out);
        break;
    case OPTIONS_COMMAND_LINE:
    case OPTIONS_SOURCES:
        snprintf(out, PLACE_MAX, "--%s", value->row->name);
        break;
    }
}

static const struct option_value *of_row(const struct option_value *value,
                                         const struct option_row *row)
{
    while (value && value->row != row)
        value = value->next;
    return value;
}

static bool read_source(struct options *options, enum options_source source,
                        struct options_error *error)
{
    const struct option_values *values = &options->given[source];
    for (const struct option_value *value = values->first; value; value = value->next) {
        char place[PLACE_MAX];
        const struct option_reading reading = {
            .row = value->row,
            .place = place,
            .text = value->text,
            .out = options,
            .error = error,
        };
        const struct option_value *first = of_row(values->first, value->row);
        write_place(options, source, value, place);
        if (source == OPTIONS_FILE && value->row->repeats == 0 && value != first)
            return options_fail(error, "%s is given twice: first in line %u", place, first->line);
        if (!options_read(&reading, value == first))
            return false;
    }
    return true;
}

static bool read_initial(struct options *options, struct options_error *error)
{
    for (const struct option_row *row = options_table; row->name; row++) {
        const struct option_reading reading = {
            .row = row,
            .place = row->name,
            .text = row->initial,
            .out = options,
            .error = error,
        };
        if (row->initial && !options_read(&reading, true))
            return false;
    }
    return true;
}

/* Checks that the options go together. Returns false after writing an error. */
static bool fit_together(const struct options *options, struct options_error *error)
{
    if (options->help || options->version)
        return true;
    if (options->listen_count == 0)
        return options_fail(error, "--listen is missing");
    if (options->upstreams.count == 0)
        return options_fail(error, "--upstream is missing");
    if (options->gate.raw && options->gate.protocol_count > 0)
        return options_fail(error,
                            "--raw takes any datagram: --protocol-id has no meaning with it");
    if (options->tls.certificate_count != options->tls.key_count)
        return options_fail(error,
                            "every --tls-certificate needs its --tls-key, and there are %u "
                            "and %u",
                            options->tls.certificate_count, options->tls.key_count);
    if (options->tls.key_count == 0 && (options->http_redirect_count > 0 || options->hsts_seconds))
        return options_fail(error, "--http-redirect and --hsts have no meaning without "
                                   "--tls-certificate");
    if (!options->rtc && (options->rtc_advertised_count > 0 || options->rtc_certificate))
        return options_fail(error, "--rtc-advertise and --rtc-certificate have no meaning without "
                                   "--rtc");
    if (!options->rtc_certificate != !options->rtc_key)
        return options_fail(error, "--rtc-certificate and --rtc-key go together");
    if (options->webtransport && !options->rtc)
        return options_fail(error, "--webtransport shares the UDP port of --rtc: give that too");
    if (!options->webtransport && options->webtransport_certificate)
        return options_fail(error, "--webtransport-certificate has no meaning without "
                                   "--webtransport");
    if (!options->webtransport_certificate != !options->webtransport_key)
        return options_fail(error, "--webtransport-certificate and --webtransport-key go together");
    return true;
}

bool options_load(int argc, char **argv, int copy, struct options *out, struct options_error *error)
{
    struct options options = {.argc = argc, .argv = argv};
    bool good = take_command_line(&options, error) && options_take_environment(&options, error);
    if (good) {
        options.config = options_given(&options, "config");
        good = (!options.config || options_take_file(&options, copy, error)) &&
               read_initial(&options, error);
    }
    for (int source = 0; good && source < OPTIONS_SOURCES; source++)
        good = read_source(&options, (enum options_source)source, error);
    if (good && fit_together(&options, error)) {
        *out = options;
        return true;
    }
    options_free(&options);
    return false;
}

/* Returns the first value of a row from the highest source that gives it. */
static const struct option_value *first_heeded(const struct options *options,
                                               const struct option_row *row)
{
    const struct option_value *value = NULL;
    for (int source = OPTIONS_SOURCES - 1; source >= 0 && !value; source--)
        value = of_row(options->given[source].first, row);
    return value;
}

/* Returns the text of a row of which only one value counts; NULL when the row has none. */
static const char *only_text(const struct options *options, const struct option_row *row)
{
    const char *text = options_given(options, row->name);
    return text ? text : row->initial;
}

static bool differs(const struct options *before, const struct options *after,
                    const struct option_row *row)
{
    if (row->repeats == 0) {
        const char *a = only_text(before, row);
        const char *b = only_text(after, row);
        return !a || !b ? a != b : strcmp(a, b) != 0;
    }
    const struct option_value *a = first_heeded(before, row);
    const struct option_value *b = first_heeded(after, row);
    while (a && b && strcmp(a->text, b->text) == 0) {
        a = of_row(a->next, row);
        b = of_row(b->next, row);
    }
    return a || b;
}

const char *options_next_fixed(const struct options *before, const struct options *after,
                               const char *name)
{
    const struct option_row *row = name ? options_find(name, strlen(name)) + 1 : options_table;
    while (row->name && (row->reloads || !differs(before, after, row)))
        row++;
    return row->name;
}

void options_free(struct options *options)
{
    for (int source = 0; source < OPTIONS_SOURCES; source++) {
        struct option_value *value = options->given[source].first;
        while (value) {
            struct option_value *next = value->next;
            free(value);
            value = next;
        }
        options->given[source] = (struct option_values){0};
    }
    free(options->file.text);
    options->file = (struct options_file){0};
}
