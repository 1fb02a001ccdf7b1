#include "load/options.h"

#include "http/fetch.h"
#include "load/player.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of links that this build has. */
#ifdef CAUSEWAY_WEBTRANSPORT
#define KINDS ",webtransport"
#else
#define KINDS ""
#endif

static const struct option names[] = {{"players", required_argument, NULL, 'n'},
                                      {"transport", required_argument, NULL, 't'},
                                      {"rate", required_argument, NULL, 'r'},
                                      {"bytes", required_argument, NULL, 'b'},
                                      {"seconds", required_argument, NULL, 's'},
                                      {"ramp", required_argument, NULL, 'c'},
                                      {"at-once", required_argument, NULL, 'o'},
                                      {"token-url", required_argument, NULL, 'u'},
                                      {"key", required_argument, NULL, 'k'},
                                      {"insecure", no_argument, NULL, 'i'},
                                      {"protocol-id", required_argument, NULL, 'p'},
                                      {"server", required_argument, NULL, 'a'},
                                      {"json", no_argument, NULL, 'j'},
                                      {"help", no_argument, NULL, 'h'},
                                      {"version", no_argument, NULL, 'v'},
                                      {0}};

static const char help[] =
    "usage: causeway-load [OPTION...] [ws://RELAY[:PORT]/ | wss://RELAY[:PORT]/]\n"
    "Plays many players against a relay and a game server, and tells how they fare.\n\n"
    "  --transport LIST     udp (no relay), websocket, webrtc, webtransport (where the build has "
    "it),\n"
    "                       or several with commas between; players have them in turn (websocket)\n"
    "  --players N          how many (100)\n"
    "  --rate HZ            packets a second of each player (20)\n"
    "  --bytes B            bytes of a packet, 8 to 1100 (64)\n"
    "  --seconds S          how long they play once all are connected (10); a signal ends it\n"
    "  --ramp N             players a second that begin to connect (50)\n"
    "  --at-once N          players who connect at a time, at most (all)\n"
    "  --token-url URL      POST here for the connect token of each player: 2048 bytes\n"
    "  --key FILE           or make the tokens with the game server's key in this file, 64\n"
    "                       hexadecimal digits; needs --server and --protocol-id\n"
    "  --insecure           the same with the key that everybody knows\n"
    "  --protocol-id N      the game's number, decimal or 0x...\n"
    "  --server ADDR:PORT   the game server\n"
    "  --json               print one JSON object in place of the table\n"
    "  --help, --version\n\n"
    "Without --token-url, --key or --insecure, players send bare datagrams, which the server "
    "echoes;\n"
    "the relay then needs --raw. The exit code is 1 when a player was refused or dropped.\n";

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "causeway-load: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; see --help\n");
    exit(2);
}

static double read_number(const char *name, const char *text, double least, double most)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        fail("--%s needs a number from %g to %g, not '%s'", name, least, most, text);
    return value;
}

static void read_kinds(const char *text, struct load_options *out)
{
    static const struct link_kind *const all[] = {
        &link_udp,
        &link_websocket,
        &link_webrtc,
#ifdef CAUSEWAY_WEBTRANSPORT
        &link_webtransport,
#endif
    };
    out->kind_count = 0;
    for (size_t size; *text; text += size + (text[size] == ',')) {
        const struct link_kind *found = NULL;
        size = strcspn(text, ",");
        for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
            if (strlen(all[i]->name) == size && memcmp(all[i]->name, text, size) == 0)
                found = all[i];
        }
        if (!found || out->kind_count == LOAD_KINDS)
            fail("--transport needs some of udp,websocket,webrtc" KINDS ", not '%s'", text);
        out->kinds[out->kind_count++] = found;
    }
}

static void read_key(const char *path, struct load_options *out)
{
    char text[2 * CW_KEY_BYTES + 1] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        fail("--key needs a file, and %s cannot be read", path);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (cw_key_parse(text, out->key) != CW_OK)
        fail("--key needs a file with 64 hexadecimal digits");
    out->makes_tokens = true;
}

static void read_protocol_id(const char *text, struct load_options *out)
{
    char *end;
    out->protocol_id = strtoull(text, &end, 0);
    if (end == text || *end)
        fail("--protocol-id needs a number, not '%s'", text);
}

static void read_server(const char *text, struct load_options *out)
{
    if (cw_address_parse(text, &out->server) != CW_OK || out->server.port == 0)
        fail("--server needs ADDRESS:PORT, as in 127.0.0.1:40000, not '%s'", text);
}

static void read_token_url(const char *text, struct load_options *out)
{
    out->token_url = text;
    if (!fetch_takes(text))
        fail("--token-url needs a URL, as in https://game.example/token, not '%s'", text);
}

static void take(int option, const char *text, struct load_options *out)
{
    switch (option) {
    case 'n':
        out->players = (unsigned)read_number("players", text, 1, 100000);
        break;
    case 't':
        read_kinds(text, out);
        break;
    case 'r':
        out->rate = read_number("rate", text, 0.01, 1000);
        break;
    case 'b':
        out->bytes = (unsigned)read_number("bytes", text, PLAYER_BYTES_MIN, PLAYER_BYTES_MAX);
        break;
    case 's':
        out->seconds = read_number("seconds", text, 0, 1e6);
        break;
    case 'c':
        out->ramp = read_number("ramp", text, 0.1, 100000);
        break;
    case 'o':
        out->at_once = (unsigned)read_number("at-once", text, 1, 100000);
        break;
    case 'u':
        read_token_url(text, out);
        break;
    case 'k':
        read_key(text, out);
        break;
    case 'i':
        out->insecure = out->makes_tokens = true;
        break;
    case 'p':
        read_protocol_id(text, out);
        break;
    case 'a':
        read_server(text, out);
        break;
    case 'j':
        out->json = true;
        break;
    case 'h':
        printf("%s", help);
        exit(0);
    case 'v':
        printf("causeway-load %s\n", cw_version());
        exit(0);
    default:
        exit(2); /* getopt has said why */
    }
}

static void check(const struct load_options *options)
{
    bool udp = false;
    for (unsigned i = 0; i < options->kind_count; i++) {
        udp = udp || options->kinds[i] == &link_udp;
        if (options->kinds[i] != &link_udp && !options->url)
            fail("%s needs the relay's URL, as in ws://127.0.0.1:8080/", options->kinds[i]->name);
    }
    if (options->makes_tokens && options->server.type == CW_ADDRESS_NONE)
        fail("--key and --insecure need --server");
    if (options->makes_tokens && options->token_url)
        fail("--token-url excludes --key and --insecure");
    if (udp && !options->token_url && options->server.type == CW_ADDRESS_NONE)
        fail("udp needs --server, or a token that names it");
}

void load_options_read(int argc, char **argv, struct load_options *out)
{
    int option;
    *out = (struct load_options){.kinds = {&link_websocket},
                                 .kind_count = 1,
                                 .players = 100,
                                 .rate = 20.0,
                                 .ramp = 50.0,
                                 .at_once = UINT_MAX,
                                 .seconds = 10.0,
                                 .bytes = 64};
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1)
        take(option, optarg, out);
    out->url = argv[optind];
    if (argc - optind > 1)
        fail("there is one relay, not '%s' too", argv[optind + 1]);
    check(out);
}
