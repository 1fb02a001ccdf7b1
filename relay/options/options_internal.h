/* Declarations that the parts of the options share: options_table.c has the table of them and
   options_read.c reads values; options.c reads the command line and brings the sources together;
   options_environment.c, options_file.c and options_usage.c do what their names say. */
#ifndef CAUSEWAY_RELAY_OPTIONS_INTERNAL_H
#define CAUSEWAY_RELAY_OPTIONS_INTERNAL_H

#include "options/options.h"

struct option_row;

/* A value that is to be read. */
struct option_reading {
    const struct option_row *row;
    /* the source of the value: "--listen", "relay.conf:12: listen", "CAUSEWAY_RELAY_LISTEN" */
    const char *place;
    const char *text;
    struct options *out;
    struct options_error *error;
};

struct option_row {
    /* the heading of the group that begins with this option; NULL = none begins */
    const char *heading;
    const char *name;
    const char *value;   /* its placeholder in the help; NULL = yes or no */
    const char *initial; /* its default, read like any value; NULL = none */
    const char *zero;    /* the meaning of 0, where that is something special; else NULL */
    const char *help;
    bool (*read)(const struct option_reading *reading);
    size_t member; /* its place in struct options, and its size */
    size_t size;
    double least; /* the limits of a number */
    double most;
    size_t count; /* the member that counts the values, which `read` does */
    /* the most values of a source; 0 = one: the last counts, and a file may have only one */
    unsigned repeats;
    bool reloads; /* true: SIGHUP may change the option */
    bool not_in_file;
};

/* The type of the functions that read values into their members, one for each form of value. They
   return false after an error. */
typedef bool option_reader(const struct option_reading *reading);
option_reader option_read_text, option_read_flag, option_read_number, option_read_whole_number,
    option_read_listen, option_read_http_redirect, option_read_tls_certificate, option_read_tls_key,
    option_read_admin, option_read_upstream, option_read_origin, option_read_trusted_proxy,
    option_read_protocol_id, option_read_rtc, option_read_rtc_advertise, option_read_workers,
    option_read_log_level, option_read_log_format, option_read_blocks_from;

/* The rows of all options, and a last one without a name. */
extern const struct option_row options_table[];

/* Returns the row with a name of that many characters; NULL when there is none. */
const struct option_row *options_find(const char *name, size_t size);

/* Reads a value into its member. `first` tells that the values of lower sources are to be
   forgotten. Returns false after writing the mistake into *reading->error. */
bool options_read(const struct option_reading *reading, bool first);

/* Writes an error. Always returns false. */
bool options_fail(struct options_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Keeps a copy of a value for options_read. `line` is the value's line in the file. Returns false
   when there is no memory. */
bool options_give(struct options *options, enum options_source source, const struct option_row *row,
                  const char *text, unsigned line);

/* Returns the last value that was given to a row, by any source; NULL when there is none. */
const char *options_given(const struct options *options, const char *name);

/* Read the environment, and the file `options->config` or in its copy (-1 = none). */
bool options_take_environment(struct options *options, struct options_error *error);
bool options_take_file(struct options *options, int copy, struct options_error *error);

/* Writes the name of a row in the environment. */
#define OPTION_VARIABLE_MAX 80
void options_variable(const struct option_row *row, char out[OPTION_VARIABLE_MAX]);

#endif
