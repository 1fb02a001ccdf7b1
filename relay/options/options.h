/* The options that the operator gives. Every option has the same name on the command line
   (--max-sessions), in the environment (CAUSEWAY_RELAY_MAX_SESSIONS) and in a file (max-sessions =
   1000); the first of these sources that gives an option counts. options_table.c has all options.
 */
#ifndef CAUSEWAY_RELAY_OPTIONS_H
#define CAUSEWAY_RELAY_OPTIONS_H

#include "http/pages.h"
#include "os/log.h"
#include "os/socket_address.h"
#include "os/tls.h"
#include "session/allowance.h"
#include "session/gate.h"
#include "session/upstreams.h"

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_LISTEN_MAX    8
#define OPTIONS_WORKERS_MAX   64
#define OPTIONS_ADVERTISE_MAX 8

/* Defaults that a server on Node with browsers of its own takes over. */
#define REQUEST_SECONDS "5"
#define ANSWER_SECONDS  "10"
#define IDLE_SECONDS    "120"
#define PING_SECONDS    "30"

/* The default of --resume-seconds. Pages come back to their sessions only within this time, because
   they do not know the option of their relay. */
#define RESUME_SECONDS "15"

/* The sources, the lowest first: a value from a higher one replaces those from lower ones. */
enum options_source {
    OPTIONS_FILE,
    OPTIONS_ENVIRONMENT,
    OPTIONS_COMMAND_LINE,
    OPTIONS_SOURCES,
};

/* The options that a source gives, in the source's order, as text. */
struct option_values {
    struct option_value *first;
    struct option_value *last;
};

/* A file as it was read. */
struct options_file {
    char *text; /* NULL = there is none */
    size_t size;
};

struct options {
    int argc;
    char **argv;
    struct option_values given[OPTIONS_SOURCES];
    const char *config; /* the file; NULL = none */
    struct options_file file;
    bool check_config;
    const char *exec; /* the command of a game server beside the relay; NULL = none */
    bool help;
    bool version;
    const char *listen[OPTIONS_LISTEN_MAX]; /* "host:port"; port 0 = any */
    unsigned listen_count;
    const char *http_redirect[OPTIONS_LISTEN_MAX]; /* the same for plain HTTP that is redirected */
    unsigned http_redirect_count;
    struct tls_files tls; /* all empty = no TLS */
    unsigned hsts_seconds;
    bool admin;
    struct socket_address admin_local;
    struct upstream_list upstreams;
    const char *root; /* NULL = no files are served */
    struct gate gate;
    struct http_pages pages;
    unsigned max_sessions;
    unsigned max_per_address; /* 0 = no limit */
    double request_timeout_seconds;
    double answer_timeout_seconds;
    double idle_timeout_seconds; /* 0 = never */
    double resume_seconds;       /* 0 = none; default RESUME_SECONDS */
    bool records;                /* sessions are recorded */
    struct allowance_limits allowance;
    double ping_interval_seconds; /* 0 = never */
    unsigned coalesce_us;
    unsigned queue_bytes;
    double queue_age_seconds;
    bool rtc; /* WebRTC is served */
    struct socket_address rtc_local;
    bool rtc_own_port; /* false: the port of the first --listen is taken */
    struct socket_address rtc_advertised[OPTIONS_ADVERTISE_MAX];
    unsigned rtc_advertised_count;
    const char *rtc_certificate; /* PEM files; NULL = made at the start */
    const char *rtc_key;
    bool webtransport;                    /* WebTransport is served on the port of WebRTC */
    const char *webtransport_certificate; /* PEM files; NULL = made, and made anew every 6 days */
    const char *webtransport_key;
    const char *blocks_from; /* the URL of a list of blocks; NULL = none */
    double blocks_interval_seconds;
    double peer_bytes_per_second; /* the rate to one browser; 0 = no limit */
    unsigned watchdog_seconds;    /* seconds of processor time for one turn of the loop; 0 = any */
    unsigned workers;             /* the number of processes that serve; 0 = this one */
    enum log_level log_level;
    enum log_format log_format;
    double drain_timeout_seconds; /* 0 = sessions end at once */
};

/* The text of an error is one printable line, without its end: the mistake, its place, and what
   would be right. */
struct options_error {
    char text[512];
};

/* Reads the options from all sources; the file from a copy of it, or when `copy` is -1, by its
   name. argv must outlive *out. Returns false, with the reason in *error and *out as it was, when
   anything is wrong. With `help` or `version`, no option is required. */
bool options_load(int argc, char **argv, int copy, struct options *out,
                  struct options_error *error);

/* Returns a copy of the file from which these options are, for another process. Returns -1 when
   there was no file, or the system refuses. */
int options_copy_file(const struct options *options);

/* Returns the name of the next option after `name` (NULL = of the first) that differs between two
   sets and that only a restart changes; NULL when there is none. */
const char *options_next_fixed(const struct options *before, const struct options *after,
                               const char *name);

/* Frees the texts of the options, which are also those to which members point. All zero is allowed.
 */
void options_free(struct options *options);

/* Prints what every option does. */
void options_print_usage(void);

#endif
