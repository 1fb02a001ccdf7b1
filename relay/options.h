/* The command line. */
#ifndef CAUSEWAY_RELAY_OPTIONS_H
#define CAUSEWAY_RELAY_OPTIONS_H

#include "http/origin.h"
#include "net/log.h"
#include "net/socket_address.h"
#include "session/allowance.h"
#include "session/gate.h"

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_LISTEN_MAX    8
#define OPTIONS_ADVERTISE_MAX 8

struct options {
    const char *listen[OPTIONS_LISTEN_MAX]; /* "host:port"; port 0 = any */
    unsigned listen_count;
    const char *upstream; /* "host:port" */
    const char *root;     /* NULL = no files are served */
    struct gate gate;
    struct origin_list origins;
    unsigned max_sessions;
    unsigned max_per_address; /* 0 = no limit */
    double request_timeout_seconds;
    double answer_timeout_seconds;
    double idle_timeout_seconds; /* 0 = never */
    double resume_seconds;       /* 0 = none */
    struct allowance_limits allowance;
    double ping_interval_seconds; /* 0 = never */
    unsigned queue_bytes;
    double queue_age_seconds;
    bool rtc; /* WebRTC is served */
    struct socket_address rtc_local;
    bool rtc_own_port; /* else the port of the first --listen is taken */
    struct socket_address rtc_advertised[OPTIONS_ADVERTISE_MAX];
    unsigned rtc_advertised_count;
    const char *rtc_certificate; /* PEM files; NULL = made at the start */
    const char *rtc_key;
    double peer_bytes_per_second; /* to one browser; 0 = no limit */
    unsigned watchdog_seconds;    /* of processor time for one turn of the loop; 0 = any */
    enum log_level log_level;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* --help or --version was printed */
    OPTIONS_BAD,  /* one line on standard error said why */
};

/* Reads the command line; the texts in *out are those of argv. */
enum options_result options_parse(int argc, char **argv, struct options *out);

#endif
