/* The options of causeway-load. */
#ifndef CAUSEWAY_RELAY_LOAD_OPTIONS_H
#define CAUSEWAY_RELAY_LOAD_OPTIONS_H

#include "load/link.h"

#include <causeway/base.h>
#include <causeway/token.h>

#define LOAD_KINDS 4

struct load_options {
    const struct link_kind *kinds[LOAD_KINDS]; /* players have them in turn */
    unsigned kind_count;
    unsigned players;
    double rate;           /* packets a second of each player */
    double ramp;           /* players a second that begin to connect */
    unsigned at_once;      /* players who connect at a time */
    double seconds;        /* the time for which they play, once all are connected */
    unsigned bytes;        /* bytes of a packet */
    const char *url;       /* the relay; NULL = none, for UDP alone */
    const char *token_url; /* NULL = none */
    bool makes_tokens;     /* it makes the tokens itself, with this key */
    bool insecure;         /* or with the one that everybody knows */
    uint8_t key[CW_KEY_BYTES];
    uint64_t protocol_id;
    struct cw_address server; /* type CW_ADDRESS_NONE = not given */
    bool json;
};

/* Reads the command line. Prints the help or the version, or the first mistake, and ends the
   program. */
void load_options_read(int argc, char **argv, struct load_options *out);

#endif
