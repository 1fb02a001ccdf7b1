/* Makes connect tokens, and keys for them, on the command line: for backends in any language. */
#include "causeway/base.h"
#include "causeway/native/clock.h"
#include "causeway/token.h"

#include "binary_stdout.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: causeway-token --key FILE --protocol-id N --client-id N --server ADDRESS:PORT "
    "[option...]\n"
    "       causeway-token --new-key\n"
    "\n"
    "Prints a connect token for one player, as one line of base64. A token is a secret between "
    "the\n"
    "player and the game server, is good for one connection and expires soon.\n"
    "\n"
    "  --key FILE              file with the private key that the game server has too, 64\n"
    "                          hexadecimal digits; default: the environment variable\n"
    "                          CAUSEWAY_KEY\n"
    "  --protocol-id N         the game's number; servers take only their own\n"
    "  --client-id N           the player's number\n"
    "  --server ADDRESS:PORT   the game server, as an address (127.0.0.1:40000, [::1]:40000);\n"
    "                          up to 32 times, tried in this order\n"
    "  --life SECONDS          how long the token can be used (default 45)\n"
    "  --timeout SECONDS       how long a connection lives without a packet (default 15)\n"
    "  --user-data HEX         up to 240 bytes for the server's application\n"
    "  --fingerprint HEX       of the schema that the client must have, as\n"
    "                          cw_connection_fingerprint gives it; default: any\n"
    "  --insecure              for development: instead of a key, the one that everybody knows; "
    "only\n"
    "                          servers that say insecure take such tokens\n"
    "  --binary                print the 2048 bytes themselves\n"
    "  --new-key               print a new private key\n"
    "  --help, --version\n"
    "\n"
    "Numbers may be decimal or hexadecimal (0x...). Exit codes: 0 done, 1 no key or no random "
    "bytes,\n"
    "2 bad option.\n";

#define KEY_HEX_SIZE (2 * CW_KEY_BYTES)

static void fail(int code, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));

static void fail(int code, const char *format, ...)
{
    va_list arguments;
    fputs("causeway-token: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(code);
}

static uint64_t parse_number(const char *option, const char *text, int base, uint64_t max)
{
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, base);
    if (errno || end == text || *end || strchr(text, '-') || number > max)
        fail(2, "--%s takes a whole number from 0 to %" PRIu64 ", not '%s'", option, max, text);
    return number;
}

static void parse_key(uint8_t key[CW_KEY_BYTES], const char *hex)
{
    if (cw_key_parse(hex, key) != CW_OK)
        fail(1, "%s", cw_error_string(CW_ERROR_KEY));
}

static void read_key(uint8_t key[CW_KEY_BYTES], const char *path)
{
    const char *variable = getenv("CAUSEWAY_KEY");
    if (!path) {
        if (!variable)
            fail(1, "no key: give --key FILE or set CAUSEWAY_KEY");
        parse_key(key, variable);
        return;
    }
    char text[KEY_HEX_SIZE + 3] = {0};
    FILE *file = fopen(path, "r");
    if (!file)
        fail(1, "cannot open the key file %s: %s", path, strerror(errno));
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = 0;
    parse_key(key, text);
    sodium_memzero(text, sizeof text);
}

static int print_new_key(void)
{
    uint8_t key[CW_KEY_BYTES];
    char hex[KEY_HEX_SIZE + 1];
    randombytes_buf(key, sizeof key);
    puts(sodium_bin2hex(hex, sizeof hex, key, sizeof key));
    return 0;
}

static void print_token(const uint8_t token[CW_TOKEN_SIZE], bool binary)
{
    char text[sodium_base64_ENCODED_LEN(CW_TOKEN_SIZE, sodium_base64_VARIANT_ORIGINAL)];
    if (binary)
        fwrite(token, 1, CW_TOKEN_SIZE, stdout);
    else
        puts(sodium_bin2base64(text, sizeof text, token, CW_TOKEN_SIZE,
                               sodium_base64_VARIANT_ORIGINAL));
    if (fflush(stdout) != 0)
        fail(1, "cannot write the token: %s", strerror(errno));
}

enum {
    KEY,
    PROTOCOL,
    CLIENT,
    SERVER,
    LIFE,
    TIMEOUT,
    DATA,
    PRINT,
    INSECURE,
    BINARY,
    NEW,
    HELP,
    VERSION
};

static const struct option options[] = {
    {"key", required_argument, NULL, KEY},
    {"protocol-id", required_argument, NULL, PROTOCOL},
    {"client-id", required_argument, NULL, CLIENT},
    {"server", required_argument, NULL, SERVER},
    {"life", required_argument, NULL, LIFE},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"user-data", required_argument, NULL, DATA},
    {"fingerprint", required_argument, NULL, PRINT},
    {"insecure", no_argument, NULL, INSECURE},
    {"binary", no_argument, NULL, BINARY},
    {"new-key", no_argument, NULL, NEW},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {0},
};

struct arguments {
    struct cw_token_grant grant;
    struct cw_address servers[CW_TOKEN_MAX_ADDRESSES];
    const char *key_path;
    bool insecure, binary, has_protocol, has_client;
};

static void add_server(struct arguments *to, const char *text)
{
    if (to->grant.address_count == CW_TOKEN_MAX_ADDRESSES)
        fail(2, "at most %d servers fit into a token", CW_TOKEN_MAX_ADDRESSES);
    struct cw_address *server = &to->servers[to->grant.address_count++];
    if (cw_address_parse(text, server) != CW_OK || server->port == 0)
        fail(2, "--server takes ADDRESS:PORT, as 127.0.0.1:40000 or [::1]:40000, not '%s'", text);
}

static void set_user_data(struct arguments *to, const char *text)
{
    size_t size;
    if (sodium_hex2bin(to->grant.user_data, CW_USER_DATA_FREE_SIZE, text, strlen(text), NULL, &size,
                       NULL) != 0 ||
        2 * size != strlen(text))
        fail(2, "--user-data takes up to %d bytes as hexadecimal digits", CW_USER_DATA_FREE_SIZE);
}

/* Takes one option that describes the token. */
static void take(struct arguments *to, int option, const char *value)
{
    switch (option) {
    case KEY:
        to->key_path = value;
        break;
    case PROTOCOL:
        to->grant.protocol_id = parse_number("protocol-id", value, 0, UINT64_MAX);
        to->has_protocol = true;
        break;
    case CLIENT:
        to->grant.client_id = parse_number("client-id", value, 0, UINT64_MAX);
        to->has_client = true;
        break;
    case SERVER:
        add_server(to, value);
        break;
    case LIFE:
        to->grant.life_seconds = (uint32_t)parse_number("life", value, 10, UINT32_MAX);
        break;
    case TIMEOUT:
        to->grant.timeout_seconds = (int32_t)parse_number("timeout", value, 10, INT32_MAX);
        break;
    case DATA:
        set_user_data(to, value);
        break;
    case PRINT:
        to->grant.fingerprint = parse_number("fingerprint", value, 16, UINT64_MAX);
        break;
    case INSECURE:
        to->insecure = true;
        break;
    case BINARY:
        to->binary = true;
        break;
    }
}

static int print_new_token(struct arguments *arguments)
{
    uint8_t key[CW_KEY_BYTES], token[CW_TOKEN_SIZE];
    if (arguments->insecure)
        memcpy(key, CW_TOKEN_INSECURE_KEY, sizeof key);
    else
        read_key(key, arguments->key_path);
    const double now = cw_clock_unix();
    arguments->grant.create_time = (uint64_t)now;
    arguments->grant.create_milliseconds = (uint64_t)(now * 1000);
    arguments->grant.addresses = arguments->servers;
    const enum cw_error error = cw_token_generate(&arguments->grant, key, token);
    sodium_memzero(key, sizeof key);
    if (error != CW_OK)
        fail(error == CW_ERROR_NO_RANDOM || error == CW_ERROR_KEY ? 1 : 2, "%s",
             cw_error_string(error));
    print_token(token, arguments->binary);
    sodium_memzero(token, sizeof token);
    return 0;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.grant = cw_token_grant_default()};
    binary_stdout();
    if (sodium_init() < 0)
        fail(1, "this machine has no source of random bytes");
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case NEW:
            return print_new_key();
        case HELP:
            return fputs(usage, stdout), 0;
        case VERSION:
            return puts("causeway-token " CAUSEWAY_VERSION), 0;
        case '?': /* getopt has said what is wrong */
            fputs("causeway-token: --help tells the options\n", stderr);
            return 2;
        default:
            take(&arguments, option, optarg);
        }
    }
    if (optind < argc)
        fail(2, "unknown argument '%s'; --help tells the options", argv[optind]);
    if (!arguments.has_protocol || !arguments.has_client || arguments.grant.address_count == 0)
        fail(2, "--protocol-id, --client-id and --server are needed; --help tells more");
    return print_new_token(&arguments);
}
