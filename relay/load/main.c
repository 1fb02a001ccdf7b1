/* causeway-load plays many players against a relay and a game server; see options.c. */
#include "load/options.h"
#include "load/player.h"
#include "load/rtc_client.h"

#include "http/fetch.h"
#include "os/lookup.h"

#include <math.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Players look at the time this often. */
#define TICK_SECONDS 0.002

/* After their last packet, players wait at most this long for what is still under way. */
#define LATE_SECONDS 5.0

/* A player's place; its player comes with the token. */
struct seat {
    struct load *load;
    struct fetch *fetch; /* the request for the token, while it is under way */
    unsigned kind;
    struct player *player;
};

struct load {
    struct load_options options;
    struct link_target target;
    char url[FETCH_URL_MAX]; /* the target's host and path are in it */
    char path[FETCH_URL_MAX + 1];
    struct rtc_identity identity;
    struct loop *loop;
    struct loop_timer timer;
    struct seat *seats;
    unsigned begun; /* players who have begun to connect */
    double start;
    double end; /* the time of the last packet; 0 = not known yet */
    struct tally tallies[LOAD_KINDS];
    uint64_t first_id;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "causeway-load: %s: %s\n", what, why);
    exit(2);
}

static void sit_down(struct seat *seat, const uint8_t *token)
{
    struct load *load = seat->load;
    const struct player_config config = {
        .kind = load->options.kinds[seat->kind],
        .target = &load->target,
        .bytes = load->options.bytes,
        .rate = load->options.rate,
        .tally = &load->tallies[seat->kind],
    };
    seat->player = player_create(&config, token, loop_now());
    if (!seat->player)
        fail("players", "no memory");
}

static void on_token(void *context, const struct fetch_answer *answer)
{
    struct seat *seat = context;
    seat->fetch = NULL;
    if (answer->error)
        fail("--token-url", answer->error);
    if (answer->size != CW_TOKEN_SIZE)
        fail("--token-url", "its answer is no connect token, which has 2048 bytes");
    sit_down(seat, (const uint8_t *)answer->body);
}

static void begin(struct load *load, struct seat *seat)
{
    const struct load_options *options = &load->options;
    const struct fetch_request request = {.url = options->token_url,
                                          .type = "application/octet-stream",
                                          .body = "",
                                          .answered = on_token,
                                          .context = seat};
    uint8_t token[CW_TOKEN_SIZE];
    struct timespec now;
    struct cw_token_grant grant = cw_token_grant_default();
    seat->load = load;
    seat->kind = load->begun++ % options->kind_count;
    if (options->token_url) {
        seat->fetch = fetch_begin(load->loop, load->target.fetch, &request);
        if (!seat->fetch)
            fail("--token-url", "no memory");
        return;
    }
    grant.protocol_id = options->protocol_id;
    grant.client_id = load->first_id + load->begun;
    clock_gettime(CLOCK_REALTIME, &now);
    grant.create_time = (uint64_t)now.tv_sec;
    grant.create_milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    grant.addresses = &options->server;
    grant.address_count = 1;
    const enum cw_error error = !options->makes_tokens ? CW_OK
                                : options->insecure
                                    ? cw_token_insecure(&grant, token)
                                    : cw_token_generate(&grant, options->key, token);
    if (error != CW_OK)
        fail("connect token", cw_error_string(error));
    sit_down(seat, options->makes_tokens ? token : NULL);
}

/* Returns how many players are connected, or never will be. */
static unsigned count_settled(const struct load *load)
{
    unsigned count = 0;
    for (unsigned i = 0; i < load->options.kind_count; i++)
        count += load->tallies[i].connected + load->tallies[i].refused;
    return count;
}

static bool have_all_returned(const struct load *load)
{
    for (unsigned i = 0; i < load->options.kind_count; i++) {
        if (load->tallies[i].returned < load->tallies[i].packets)
            return false;
    }
    return true;
}

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = true;
}

static void on_tick(void *context)
{
    struct load *load = context;
    const double now = loop_now();
    while (load->begun < load->options.players &&
           load->begun - count_settled(load) < load->options.at_once &&
           load->start + load->begun / load->options.ramp <= now)
        begin(load, &load->seats[load->begun]);
    if (load->end == 0.0 && count_settled(load) == load->options.players) {
        fprintf(stderr, "causeway-load: the players play\n");
        load->end = now + load->options.seconds;
    }
    if (stopped && (load->end == 0.0 || load->end > now))
        load->end = now;
    for (unsigned i = 0; i < load->begun; i++) {
        if (load->seats[i].player)
            player_tick(load->seats[i].player, load->end > 0.0 ? load->end : INFINITY, now);
    }
    if (load->end > 0.0 && now >= load->end &&
        (now >= load->end + LATE_SECONDS || have_all_returned(load)))
        loop_stop(load->loop);
    else
        loop_timer_start(load->loop, &load->timer, TICK_SECONDS);
}

/* Reads the relay's URL, and looks its name up. */
static void read_url(struct load *load)
{
    struct link_target *target = &load->target;
    struct lookup_answer answer;
    const char *scheme;
    const char *path;
    snprintf(load->url, sizeof load->url, "%s", load->options.url);
    if (strlen(load->options.url) >= sizeof load->url ||
        lws_parse_uri(load->url, &scheme, &target->host, &target->port, &path) != 0 ||
        (strcmp(scheme, "ws") != 0 && strcmp(scheme, "wss") != 0))
        fail(load->options.url, "the relay's URL must begin with ws:// or wss://; see --help");
    snprintf(load->path, sizeof load->path, "/%s", path);
    snprintf(target->authority, sizeof target->authority,
             strchr(target->host, ':') ? "[%s]:%d" : "%s:%d", target->host, target->port);
    target->secure = strcmp(scheme, "wss") == 0;
    target->path = load->path;
    lookup_now(target->host, &answer);
    if (answer.error)
        fail(target->host, answer.error);
    getnameinfo(&answer.addresses[0].address.any, answer.addresses[0].size, target->address,
                sizeof target->address, NULL, 0, NI_NUMERICHOST);
}

static void open_loop(struct load *load)
{
    static struct lws_protocols protocols[3];
    protocols[0] = link_websocket_protocol;
    protocols[1] = loop_protocol;
    struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .protocols = protocols,
        .vhost_name = "load",
        .options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
        .max_http_header_pool = UINT16_MAX,
    };
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    lws_set_log_level(0, NULL);
    load->loop = loop_create(&info);
    load->target.loop = load->loop;
    load->target.fetch = load->loop ? fetch_add_vhost(load->loop) : NULL;
    if (!load->target.fetch)
        fail("event loop", strerror(errno));
}

/* Prints two quantiles in milliseconds, or dashes without times. */
static void print_quantiles(const struct quantiles *quantiles)
{
    for (double share = 0.5; share < 1.0; share += 0.49) {
        if (quantiles->count > 0)
            printf(" %9.1f", quantiles_at(quantiles, share) * 1e3);
        else
            printf(" %9s", "-");
    }
}

static void print_table(const struct load *load)
{
    const double seconds = load->end - load->start;
    printf("%-9s %8s %9s %8s %8s %19s %19s %8s %8s %9s\n", "transport", "players", "connected",
           "refused", "dropped", "connect p50, p99 ms", "rtt p50, p99 ms", "loss %", "kB/s up",
           "kB/s down");
    for (unsigned i = 0; i < load->options.kind_count; i++) {
        const struct tally *tally = &load->tallies[i];
        const double lost = (double)(tally->packets - tally->returned);
        printf("%-9s %8u %9u %8u %8u", load->options.kinds[i]->name, tally->players,
               tally->connected, tally->refused, tally->dropped);
        print_quantiles(&tally->connect);
        print_quantiles(&tally->rtt);
        printf(" %8.2f %8.1f %9.1f\n", 100.0 * lost / fmax((double)tally->packets, 1.0),
               (double)tally->bytes_sent / seconds / 1e3,
               (double)tally->bytes_received / seconds / 1e3);
        if (tally->reason[0])
            printf("%s: the last player was refused or dropped because: %s\n",
                   load->options.kinds[i]->name, tally->reason);
    }
}

/* Prints a time, or null without one. */
static void print_ms(const char *name, const struct quantiles *quantiles, double share)
{
    const double seconds = quantiles_at(quantiles, share);
    printf("\"%s\":", name);
    printf(isnan(seconds) ? "null," : "%.4g,", seconds * 1e3);
}

static void print_json(const struct load *load)
{
    for (unsigned i = 0; i < load->options.kind_count; i++) {
        const struct tally *tally = &load->tallies[i];
        printf("%s\"%s\":{\"players\":%u,\"connected\":%u,\"refused\":%u,\"dropped\":%u,",
               i == 0 ? "{" : ",\n", load->options.kinds[i]->name, tally->players, tally->connected,
               tally->refused, tally->dropped);
        print_ms("connect_p50_ms", &tally->connect, 0.5);
        print_ms("connect_p99_ms", &tally->connect, 0.99);
        print_ms("rtt_p50_ms", &tally->rtt, 0.5);
        print_ms("rtt_p99_ms", &tally->rtt, 0.99);
        printf("\"packets\":%lu,\"returned\":%lu,\"datagrams_sent\":%lu,\"datagrams_received\":%lu,"
               "\"bytes_sent\":%lu,\"bytes_received\":%lu}",
               tally->packets, tally->returned, tally->datagrams_sent, tally->datagrams_received,
               tally->bytes_sent, tally->bytes_received);
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    static struct load load;
    unsigned bad = 0;
    load_options_read(argc, argv, &load.options);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    if (load.options.url)
        read_url(&load);
    if (load.options.server.type != CW_ADDRESS_NONE)
        player_choose_server(&load.target, &load.options.server);
    load.first_id = (uint64_t)time(NULL) << 20; /* two runs have no ids in common */
    rtc_identity_create(&load.identity);
    load.target.identity = &load.identity;
    open_loop(&load);
    load.seats = calloc(load.options.players, sizeof *load.seats);
    if (!load.seats)
        fail("players", "no memory");
    load.start = loop_now();
    load.timer = (struct loop_timer){.expired = on_tick, .context = &load};
    loop_timer_start(load.loop, &load.timer, 0.0);
    loop_run(load.loop, NULL, NULL);
    for (unsigned i = 0; i < load.options.players; i++) {
        fetch_cancel(load.seats[i].fetch);
        player_destroy(load.seats[i].player);
    }
    for (unsigned i = 0; i < load.options.kind_count; i++)
        bad += load.tallies[i].refused + load.tallies[i].dropped;
    if (load.options.json)
        print_json(&load);
    else
        print_table(&load);
    loop_destroy(load.loop);
    rtc_identity_destroy(&load.identity);
    free(load.seats);
    return bad > 0;
}
