#include "options.h"

#include "causeway/version.h"
#include "net/socket_address.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In pieces, because C promises no longer texts than 4095 characters. */
static const char *const usage[] = {
    "Usage: causeway-relay --listen ADDRESS:PORT --upstream HOST:PORT [option...]\n"
    "\n"
    "Carries datagrams between browsers (WebSocket, subprotocol causeway.v1, and WebRTC data\n"
    "channels) and one UDP game server. Each browser gets a UDP socket of its own towards the\n"
    "server.\n"
    "\n"
    "  --listen ADDRESS:PORT   where to accept browsers, up to 8 times; [::]:8080 takes IPv6\n"
    "                          and IPv4; port 0 takes any free port (the log tells which)\n"
    "  --upstream HOST:PORT    the game server; a name is resolved once, at the start\n"
    "  --protocol-id N         take only secure connections of this game, up to 8 times;\n"
    "                          decimal or 0x...; default: of any\n"
    "  --raw                   take any datagrams. Without it a session must begin with a\n"
    "                          connect token that has not expired for long, and nothing\n"
    "                          that is no packet of a secure connection (netcode 1.02)\n"
    "                          goes on\n"
    "  --expired-token-seconds SECONDS\n"
    "                          let a session begin with a token that has expired for less\n"
    "                          than that: a player who comes from another relay or network\n"
    "                          proves with it who they are. The game server lets nobody\n"
    "                          else in with it (default 3600; 0 = none that has expired)\n"
    "  --root DIRECTORY        serve the files in it over HTTP\n"
    "  --origin ORIGIN         allow pages of this origin (https://game.example), may be\n"
    "                          repeated; '*' allows all; default: the page must come from\n"
    "                          the host that it connects to. Clients that send no Origin\n"
    "                          header are not browsers and are always allowed\n"
    "  --max-sessions N        at most N sessions at a time (default 1000), or as many as the\n"
    "                          limit of open files (ulimit -n) allows. One more takes the\n"
    "                          place of the oldest that the game server has not answered,\n"
    "                          or no longer speaks to, unless its own address has opened\n"
    "                          more of late.\n"
    "                          1024 connections that are no sessions find room beside them;\n"
    "                          then the oldest goes\n"
    "  --max-sessions-per-address N\n"
    "                          at most N from one IPv4 address or IPv6 /64, six times as\n"
    "                          many connections that are no sessions, and twice as many\n"
    "                          WebRTC offers at once, then a few a second (default 100;\n"
    "                          0 = no limit, as behind a reverse proxy)\n",
    "  --request-timeout SECONDS\n"
    "                          end a session (close code 4001) that has not asked for a\n"
    "                          connection (with --raw: sent a datagram) within that\n"
    "                          (default 5)\n"
    "  --answer-timeout SECONDS\n"
    "                          end one (4002) that the game server has not answered for so\n"
    "                          long after it asked (default 10); after 3 seconds (4005)\n"
    "                          when nobody is at its address. One to which it then says\n"
    "                          nothing for so long goes when all places are taken\n"
    "  --idle-timeout SECONDS  end one (4000) without a datagram either way for so long\n"
    "                          (default 120; 0 = never). Hidden browser tabs may be silent\n"
    "                          for a minute\n"
    "  --resume-seconds SECONDS\n"
    "                          keep a session that was answered for so long after it has lost\n"
    "                          its connection, for another of the same page, which gives the\n"
    "                          session's key; when all places are taken it may go sooner\n"
    "                          (default 15; 0 = end it at once)\n"
    "  --upstream-packets N, --upstream-bytes BYTES\n"
    "                          most that goes from one browser to the game server per\n"
    "                          second, a quarter of it at once; what is over is dropped\n"
    "                          (default 1500 and 2000000; 0 = no limit). Until the server\n"
    "                          has answered: 20 datagrams, then 2 per second. An address\n"
    "                          that opens one session after another gets no more than\n"
    "                          with all that it may have at a time\n"
    "  --ping-interval SECONDS ping each WebSocket so often and drop it when it does not\n"
    "                          answer for twice that (default 30; 0 = never)\n"
    "  --queue-bytes BYTES     most that waits for one slow browser (default 65536)\n"
    "  --queue-age SECONDS     longest that a datagram waits for it (default 0.25)\n"
    "  --rtc ADDRESS[:PORT]    serve WebRTC on this UDP port, all browsers on the one; [::]\n"
    "                          takes IPv6 and IPv4; without a port, that of the first\n"
    "                          --listen. Browsers POST their offer to /rtc\n"
    "  --rtc-advertise ADDRESS[:PORT]\n"
    "                          the public address of the UDP port, up to 8 times (IPv4 and\n"
    "                          IPv6); default: the address that the offer came to, which is\n"
    "                          wrong behind a NAT or a reverse proxy\n"
    "  --rtc-certificate FILE, --rtc-key FILE\n"
    "                          PEM files for DTLS (default: made anew at every start, which\n"
    "                          is as safe: its hash goes into every answer)\n"
    "  --peer-rate BYTES       most that goes to one WebRTC browser per second; what is over\n"
    "                          is dropped (default 262144; 0 = no limit)\n"
    "  --watchdog SECONDS      abort, after logging the stack, when nothing gets its turn for so\n"
    "                          many seconds of processor time (default 10; 0 = never). A\n"
    "                          supervisor should start the relay again\n"
    "  --log-level LEVEL       error, warn, info or debug (default info)\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM, SIGINT and SIGHUP end all sessions (close code 1001) and then the relay; a\n"
    "second one does not wait for them. SIGUSR1 logs the counters, which are also logged at\n"
    "the end.\n"
    "All times are in seconds; all but that of --watchdog may have fractions.\n"
    "Exit codes: 0 stopped, 1 cannot start (port in use, unknown host), 2 bad option.\n",
};

enum option_name {
    OPTION_LISTEN,
    OPTION_UPSTREAM,
    OPTION_PROTOCOL_ID,
    OPTION_RAW,
    OPTION_EXPIRED_TOKEN,
    OPTION_ROOT,
    OPTION_ORIGIN,
    OPTION_MAX_SESSIONS,
    OPTION_MAX_PER_ADDRESS,
    OPTION_REQUEST_TIMEOUT,
    OPTION_ANSWER_TIMEOUT,
    OPTION_IDLE_TIMEOUT,
    OPTION_RESUME,
    OPTION_UPSTREAM_PACKETS,
    OPTION_UPSTREAM_BYTES,
    OPTION_PING_INTERVAL,
    OPTION_QUEUE_BYTES,
    OPTION_QUEUE_AGE,
    OPTION_RTC,
    OPTION_RTC_ADVERTISE,
    OPTION_RTC_CERTIFICATE,
    OPTION_RTC_KEY,
    OPTION_PEER_RATE,
    OPTION_WATCHDOG,
    OPTION_LOG_LEVEL,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"upstream", required_argument, NULL, OPTION_UPSTREAM},
    {"protocol-id", required_argument, NULL, OPTION_PROTOCOL_ID},
    {"raw", no_argument, NULL, OPTION_RAW},
    {"expired-token-seconds", required_argument, NULL, OPTION_EXPIRED_TOKEN},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"origin", required_argument, NULL, OPTION_ORIGIN},
    {"max-sessions", required_argument, NULL, OPTION_MAX_SESSIONS},
    {"max-sessions-per-address", required_argument, NULL, OPTION_MAX_PER_ADDRESS},
    {"request-timeout", required_argument, NULL, OPTION_REQUEST_TIMEOUT},
    {"answer-timeout", required_argument, NULL, OPTION_ANSWER_TIMEOUT},
    {"idle-timeout", required_argument, NULL, OPTION_IDLE_TIMEOUT},
    {"resume-seconds", required_argument, NULL, OPTION_RESUME},
    {"upstream-packets", required_argument, NULL, OPTION_UPSTREAM_PACKETS},
    {"upstream-bytes", required_argument, NULL, OPTION_UPSTREAM_BYTES},
    {"ping-interval", required_argument, NULL, OPTION_PING_INTERVAL},
    {"queue-bytes", required_argument, NULL, OPTION_QUEUE_BYTES},
    {"queue-age", required_argument, NULL, OPTION_QUEUE_AGE},
    {"rtc", required_argument, NULL, OPTION_RTC},
    {"rtc-advertise", required_argument, NULL, OPTION_RTC_ADVERTISE},
    {"rtc-certificate", required_argument, NULL, OPTION_RTC_CERTIFICATE},
    {"rtc-key", required_argument, NULL, OPTION_RTC_KEY},
    {"peer-rate", required_argument, NULL, OPTION_PEER_RATE},
    {"watchdog", required_argument, NULL, OPTION_WATCHDOG},
    {"log-level", required_argument, NULL, OPTION_LOG_LEVEL},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

__attribute__((format(printf, 1, 2))) static bool bad(const char *format, ...)
{
    va_list arguments;
    fputs("causeway-relay: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (--help tells more)\n", stderr);
    return false;
}

/* A decimal number within bounds; false after saying what is wrong with it. */
static bool number(const char *option, const char *text, double least, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || !isfinite(value) || value < least ||
        value > most)
        return bad("--%s needs a number from %.0f to %.0f, not '%s'", option, least, most, text);
    *out = value;
    return true;
}

static bool whole_number(const char *option, const char *text, double least, double most,
                         unsigned *out)
{
    double value = 0.0;
    if (!number(option, text, least, most, &value))
        return false;
    if (floor(value) != value)
        return bad("--%s needs a whole number, not '%s'", option, text);
    *out = (unsigned)value;
    return true;
}

static bool take_address(const char *option, const char *text, unsigned lowest_port)
{
    if (socket_address_valid(text, lowest_port))
        return true;
    return bad("--%s needs host:port, as in 127.0.0.1:40000 or [::1]:40000, not '%s'", option,
               text);
}

static bool advertise(const char *value, struct options *out)
{
    bool has_port;
    if (out->rtc_advertised_count == OPTIONS_ADVERTISE_MAX)
        return bad("--rtc-advertise can be given %d times at most", OPTIONS_ADVERTISE_MAX);
    return socket_address_parse(value, &out->rtc_advertised[out->rtc_advertised_count++],
                                &has_port) ||
           bad("--rtc-advertise needs an IP address, as in 203.0.113.7 or [2001:db8::7]:8081, not "
               "'%s'",
               value);
}

static bool protocol_id(const char *value, struct gate *gate)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(value, &end, 0);
    if (errno || value[0] < '0' || value[0] > '9' || *end != '\0')
        return bad("--protocol-id needs a number of 64 bits, not '%s'", value);
    if (gate->protocol_count == GATE_PROTOCOLS_MAX)
        return bad("--protocol-id can be given %d times at most", GATE_PROTOCOLS_MAX);
    gate->protocols[gate->protocol_count++] = number;
    return true;
}

/* An option that is a number: its bounds, and where it goes: to the one that is not NULL. */
struct number_option {
    double least;
    double most;
    unsigned *whole;
    double *number;
};

static bool take_number(enum option_name name, const char *option, const char *value,
                        struct options *out)
{
    const struct number_option numbers[] = {
        [OPTION_MAX_SESSIONS] = {1, 1e6, &out->max_sessions, NULL},
        [OPTION_MAX_PER_ADDRESS] = {0, 1e6, &out->max_per_address, NULL},
        [OPTION_REQUEST_TIMEOUT] = {1, 1e6, NULL, &out->request_timeout_seconds},
        [OPTION_ANSWER_TIMEOUT] = {1, 1e6, NULL, &out->answer_timeout_seconds},
        [OPTION_IDLE_TIMEOUT] = {0, 1e6, NULL, &out->idle_timeout_seconds},
        [OPTION_EXPIRED_TOKEN] = {0, 1e9, NULL, &out->gate.expired_seconds},
        [OPTION_RESUME] = {0, 1e6, NULL, &out->resume_seconds},
        [OPTION_UPSTREAM_PACKETS] = {0, 1e9, NULL, &out->allowance.packets_per_second},
        [OPTION_UPSTREAM_BYTES] = {0, 1e12, NULL, &out->allowance.bytes_per_second},
        [OPTION_PING_INTERVAL] = {0, 30000, NULL, &out->ping_interval_seconds},
        [OPTION_QUEUE_BYTES] = {0, 1e9, &out->queue_bytes, NULL},
        [OPTION_QUEUE_AGE] = {0, 60, NULL, &out->queue_age_seconds},
        [OPTION_PEER_RATE] = {0, 1e12, NULL, &out->peer_bytes_per_second},
        [OPTION_WATCHDOG] = {0, 1e6, &out->watchdog_seconds, NULL},
    };
    const struct number_option *this = &numbers[name];
    return this->whole ? whole_number(option, value, this->least, this->most, this->whole)
                       : number(option, value, this->least, this->most, this->number);
}

static bool take(enum option_name name, const char *option, const char *value, struct options *out)
{
    switch (name) {
    case OPTION_LISTEN:
        if (out->listen_count == OPTIONS_LISTEN_MAX)
            return bad("--listen can be given %d times at most", OPTIONS_LISTEN_MAX);
        out->listen[out->listen_count++] = value;
        return take_address(option, value, 0);
    case OPTION_UPSTREAM:
        out->upstream = value;
        return take_address(option, value, 1);
    case OPTION_PROTOCOL_ID:
        return protocol_id(value, &out->gate);
    case OPTION_RAW:
        out->gate.raw = true;
        return true;
    case OPTION_ROOT:
        out->root = value;
        return true;
    case OPTION_ORIGIN:
        if (origin_list_add(&out->origins, value))
            return true;
        return bad("--origin needs scheme://host[:port] or *, at most %d of them, not '%s'",
                   ORIGIN_LIST_MAX, value);
    case OPTION_MAX_SESSIONS:
    case OPTION_MAX_PER_ADDRESS:
    case OPTION_REQUEST_TIMEOUT:
    case OPTION_ANSWER_TIMEOUT:
    case OPTION_IDLE_TIMEOUT:
    case OPTION_RESUME:
    case OPTION_EXPIRED_TOKEN:
    case OPTION_UPSTREAM_PACKETS:
    case OPTION_UPSTREAM_BYTES:
    case OPTION_PING_INTERVAL:
    case OPTION_QUEUE_BYTES:
    case OPTION_QUEUE_AGE:
    case OPTION_PEER_RATE:
    case OPTION_WATCHDOG:
        return take_number(name, option, value, out);
    case OPTION_RTC:
        out->rtc = true;
        return socket_address_parse(value, &out->rtc_local, &out->rtc_own_port) ||
               bad("--rtc needs an IP address, as in 0.0.0.0:8081 or [::], not '%s'", value);
    case OPTION_RTC_ADVERTISE:
        return advertise(value, out);
    case OPTION_RTC_CERTIFICATE:
        out->rtc_certificate = value;
        return true;
    case OPTION_RTC_KEY:
        out->rtc_key = value;
        return true;
    case OPTION_LOG_LEVEL:
        return log_level_parse(value, &out->log_level) ||
               bad("--log-level needs error, warn, info or debug, not '%s'", value);
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    return true;
}

static void print_usage(void)
{
    for (size_t i = 0; i < sizeof usage / sizeof usage[0]; i++)
        fputs(usage[i], stdout);
}

enum options_result options_parse(int argc, char **argv, struct options *out)
{
    *out = (struct options){
        .gate = {.expired_seconds = 3600.0},
        .max_sessions = 1000,
        .max_per_address = 100,
        .request_timeout_seconds = 5.0,
        .answer_timeout_seconds = 10.0,
        .idle_timeout_seconds = 120.0,
        .resume_seconds = 15.0,
        .allowance = {.packets_per_second = 1500.0, .bytes_per_second = 2e6},
        .ping_interval_seconds = 30.0,
        .queue_bytes = 65536,
        .queue_age_seconds = 0.25,
        .peer_bytes_per_second = 262144.0,
        .watchdog_seconds = 10,
        .log_level = LOG_INFO,
    };
    int name;
    int index = 0;
    opterr = 0;
    for (int at = optind; (name = getopt_long(argc, argv, "+:", long_options, &index)) != -1;
         at = optind) {
        if (name == ':')
            return bad("%s needs a value", argv[optind - 1]), OPTIONS_BAD;
        if (name == '?')
            return bad("no such option: %s", argv[at]), OPTIONS_BAD;
        if (name == OPTION_HELP)
            return print_usage(), OPTIONS_DONE;
        if (name == OPTION_VERSION)
            return puts("causeway-relay " CAUSEWAY_VERSION), OPTIONS_DONE;
        if (!take((enum option_name)name, long_options[index].name, optarg, out))
            return OPTIONS_BAD;
    }
    if (optind < argc)
        return bad("what is '%s'? Options begin with --", argv[optind]), OPTIONS_BAD;
    if (out->listen_count == 0)
        return bad("--listen is missing"), OPTIONS_BAD;
    if (!out->upstream)
        return bad("--upstream is missing"), OPTIONS_BAD;
    if (out->gate.raw && out->gate.protocol_count > 0)
        return bad("--raw takes any datagram: --protocol-id has no meaning with it"), OPTIONS_BAD;
    if (!out->rtc_certificate != !out->rtc_key)
        return bad("--rtc-certificate and --rtc-key go together"), OPTIONS_BAD;
    return OPTIONS_RUN;
}
