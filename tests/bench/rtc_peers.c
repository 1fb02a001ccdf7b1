/* Measures many browsers at once: 2,000 data channels on one relay. Each sends a datagram of 64
   bytes once a second to a game server that echoes it, and checks its path, as browsers do. The
   figures are the share of datagrams lost, the relay's share of a processor, and the memory that a
   browser takes there. The browsers come in groups, each when the one before is open, because the
   relay drops offers when too many from one address shake hands at a time.

   bench_rtc_peers [BROWSERS [RELAY]]; the default relay is that of the build that CAUSEWAY_BUILD
   names. */
#define _GNU_SOURCE
#include "rtc_rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BROWSERS      2000u
#define GROUP         50u /* browsers at a time, within HALF_OPEN_HANDSHAKES */
#define PAYLOAD       64
#define ROUNDS        5u /* datagrams of each browser */
#define CHECK_SECONDS 5.0
#define OPEN_SECONDS  20.0
#define LATE_SECONDS  1.0 /* the time for the last replies */

static void fail(const char *what)
{
    fprintf(stderr, "bench_rtc_peers: %s\n", what);
    exit(1);
}

static void say(struct rtc_browser *browser)
{
    const uint8_t data[PAYLOAD] = {0};
    if (browser->client.ended)
        fail("a browser was dropped");
    browser->awaited = PAYLOAD;
    rtc_client_send(&browser->client, data, PAYLOAD);
}

/* Checks the paths, because the relay takes a browser without checks to be gone after half a
   minute. */
static void check_paths(struct rtc_rig *rig)
{
    for (unsigned i = 0; i < rig->count; i++) {
        rtc_client_check(&rig->browsers[i]->client);
        rtc_rig_serve(rig, 0);
    }
}

static void open_browsers(struct rtc_rig *rig, unsigned browsers)
{
    double checked = rtc_rig_now();
    while (rig->count < browsers) {
        const unsigned left = browsers - rig->count;
        if (!rtc_rig_open(rig, left < GROUP ? left : GROUP, OPEN_SECONDS))
            fail("not all channels were opened");
        if (rtc_rig_now() - checked > CHECK_SECONDS) {
            checked = rtc_rig_now();
            check_paths(rig);
        }
    }
}

static unsigned long count_replies(const struct rtc_rig *rig)
{
    unsigned long replies = 0;
    for (unsigned i = 0; i < rig->count; i++)
        replies += rig->browsers[i]->echoed;
    return replies;
}

/* Lets the browsers take turns, so that each sends once a second. */
static void talk(struct rtc_rig *rig)
{
    const unsigned long all = (unsigned long)ROUNDS * rig->count;
    const double start = rtc_rig_now();
    for (unsigned long said = 0; said < all;) {
        const double ahead = start + (double)said / rig->count - rtc_rig_now();
        struct rtc_browser *browser = rig->browsers[said % rig->count];
        if (ahead > 0.0) {
            rtc_rig_serve(rig, (int)ceil(ahead * 1e3));
            continue;
        }
        if (said++ < rig->count)
            rtc_client_check(&browser->client);
        say(browser);
    }
    const double end = rtc_rig_now() + LATE_SECONDS;
    while (count_replies(rig) < all && rtc_rig_now() < end)
        rtc_rig_serve(rig, 50);
}

int main(int argc, char **argv)
{
    char program[4096];
    struct rtc_rig rig;
    const char *build = getenv("CAUSEWAY_BUILD");
    const unsigned browsers = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : BROWSERS;
    snprintf(program, sizeof program, "%s/relay/causeway-relay", build ? build : "build/release");
    if (argc > 2)
        snprintf(program, sizeof program, "%s", argv[2]);
    rtc_rig_pin(1);
    rtc_rig_start(&rig, program, "", "127.0.0.1");
    open_browsers(&rig, 1);
    rtc_rig_close(&rig);
    const long memory = rtc_rig_memory(&rig);
    open_browsers(&rig, browsers);
    const double start = rtc_rig_now();
    const double cpu = rtc_rig_cpu(rig.relay);
    talk(&rig);
    const double share = (rtc_rig_cpu(rig.relay) - cpu) / (rtc_rig_now() - start);
    const double sent = (double)ROUNDS * rig.count;
    printf("peers_2000_loss_percent %.3f percent\n",
           100.0 * (sent - (double)count_replies(&rig)) / sent);
    printf("peers_2000_cpu_percent %.1f percent\n", 100.0 * share);
    printf("memory_per_peer_kb %.1f KiB\n", (double)(rtc_rig_memory(&rig) - memory) / rig.count);
    rtc_rig_close(&rig);
    rtc_rig_stop(&rig);
    return 0;
}
