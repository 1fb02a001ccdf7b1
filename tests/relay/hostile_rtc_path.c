/* Checks and handshakes whose senders are forged, against the real relay: the victim, 127.0.0.9, is
   a socket of ours that never answers. The tests also have browsers that really move.
   test_hostile_rtc_path RELAY */
#define _GNU_SOURCE
#include "rtc_rig.h"
#include "stun_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define USE_CANDIDATE 0x0025

/* A victim: packets are sent in its name. */
struct victim {
    int fd;
    struct rtc_client *client; /* the client that sends in its name */
    size_t came;               /* bytes that were sent in its name */
    size_t went;               /* bytes that the relay sent to it */
};

static void check(bool right, const char *what)
{
    printf("%s: %s\n", what, right ? "yes" : "NO");
    if (!right)
        exit(1);
}

static void forge(void *context, const uint8_t *data, size_t size)
{
    struct victim *victim = context;
    if (send(victim->fd, data, size, 0) == (ssize_t)size)
        victim->came += size;
}

static void forge_check(struct victim *victim, const struct rtc_client *client)
{
    uint8_t request[STUN_REQUEST_SIZE];
    forge(victim, request,
          stun_request(request, client->username, client->password, USE_CANDIDATE, 0));
}

/* Counts the datagrams to the victim. Its client, if it has one, gets the answers that it needs to
   begin with DTLS. */
static void count(struct victim *victim)
{
    uint8_t data[2048];
    ssize_t size;
    while ((size = recv(victim->fd, data, sizeof data, MSG_DONTWAIT)) > 0) {
        victim->went += (size_t)size;
        if (victim->client && !victim->client->checked)
            rtc_client_receive(victim->client, data, (size_t)size);
    }
}

/* Frees the last browser of the rig without a word. */
static void forget(struct rtc_rig *rig)
{
    struct rtc_browser *browser = rig->browsers[--rig->count];
    rtc_client_destroy(&browser->client);
    close(browser->fd);
    free(browser);
}

static void check_bound(const struct victim *victim)
{
    printf("%zu bytes in its name drew %zu\n", victim->came, victim->went);
    check(victim->went > 0 && victim->went <= 3 * victim->came, "at most three times as many");
}

/* A check in someone else's name leaves the stream where it is. */
static void test_forged_checks(struct rtc_rig *rig)
{
    struct victim victim = {.fd = rtc_rig_socket(rig, "127.0.0.9")};
    check(rtc_rig_echo(rig, 5, 1000, 20.0), "datagrams come back");
    for (int i = 0; i < 5; i++) {
        forge_check(&victim, &rig->browsers[0]->client);
        check(rtc_rig_echo(rig, 300, 1000, 60.0), "and do so after a forged check");
        count(&victim);
    }
    const double end = rtc_rig_now() + 1.0;
    while (rtc_rig_now() < end) {
        rtc_rig_serve(rig, 50);
        count(&victim);
    }
    check_bound(&victim);
    close(victim.fd);
}

/* The handshake is begun in someone else's name, with all that OpenSSL repeats. */
static void test_forged_handshake(struct rtc_rig *rig)
{
    struct rtc_browser *browser = rtc_rig_offer(rig);
    struct victim victim = {.fd = rtc_rig_socket(rig, "127.0.0.9"), .client = &browser->client};
    browser->client.send = forge;
    browser->client.context = &victim;
    rtc_client_check(&browser->client);
    const double begun = rtc_rig_now();
    while (victim.went < 600 && rtc_rig_now() - begun < 20.0) {
        count(&victim);
        usleep(1000);
    }
    check(victim.went >= 600, "the relay answers a ClientHello");
    /* OpenSSL repeats its flight after one second, three and seven. */
    while (rtc_rig_now() - begun < 4.0) {
        count(&victim);
        usleep(10000);
    }
    check_bound(&victim);
    close(victim.fd);
    forget(rig);
}

/* Moves the browser; the browser sends one check or none, and then asks for an echo until that
   comes. */
static void move(struct rtc_rig *rig, unsigned index, const char *address, bool checks)
{
    struct rtc_browser *browser = rig->browsers[index];
    rtc_rig_move(rig, browser, address);
    const double begun = rtc_rig_now();
    if (checks)
        rtc_client_check(&browser->client);
    browser->awaited = 4;
    browser->echoed = 0;
    for (double again = begun; browser->echoed == 0 && again - begun < 20.0;) {
        if (rtc_rig_now() >= again) {
            rtc_client_send(&browser->client, "here", 4);
            again = rtc_rig_now() + 0.05;
        }
        rtc_rig_serve(rig, 10);
    }
    printf("back after %.1f ms, ", (rtc_rig_now() - begun) * 1e3);
    check(browser->echoed > 0, checks ? "one check is enough to move" : "no check is needed");
    check(rtc_rig_echo(rig, 20, 1000, 20.0), "all comes back");
}

static void test_moves(struct rtc_rig *rig)
{
    struct victim victim = {.fd = rtc_rig_socket(rig, "127.0.0.9")};
    move(rig, 0, "127.0.0.1", true);
    move(rig, 0, "127.0.0.2", true);
    for (int i = 0; i < 8; i++) {
        /* The test goes on with others that seem to have moved, before and after. */
        forge_check(&victim, &rig->browsers[0]->client);
        move(rig, 0, i % 2 ? "127.0.0.1" : "127.0.0.2", true);
        forge_check(&victim, &rig->browsers[0]->client);
        check(rtc_rig_echo(rig, 20, 1000, 20.0), "it stays there");
        count(&victim);
    }
    check_bound(&victim);
    close(victim.fd);
}

/* A NAT gives the browser another port. The checks of other browsers have stopped behind it too,
   and they have sent as much. Someone in its place sends datagrams that look like its own. */
static void test_moves_without_checks(struct rtc_rig *rig)
{
    static uint8_t record[100] = {23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 0, 0, sizeof record - 13};
    struct victim victim = {.fd = rtc_rig_socket(rig, "127.0.0.1")};
    check(rtc_rig_open(rig, 20, 60.0), "more channels open");
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned number = 0; number < 20000; number += 10) {
            record[9] = (uint8_t)(number >> 8);
            record[10] = (uint8_t)number;
            forge(&victim, record, sizeof record);
        }
        move(rig, 1 + i, "127.0.0.1", false);
    }
    count(&victim);
    check(victim.went == 0, "who only looks like it gets nothing");
    close(victim.fd);
}

/* A browser says that it is where another one is, or is about to be. */
static void test_taken_addresses(struct rtc_rig *rig)
{
    struct victim victim = {.fd = rig->browsers[0]->fd};
    struct rtc_client *liar = &rtc_rig_offer(rig)->client;
    forge_check(&victim, liar);
    forget(rig);
    check(rtc_rig_echo(rig, 20, 1000, 20.0), "an address in use is not taken over");

    struct rtc_browser *browser = rtc_rig_offer(rig);
    const struct rtc_identity identity = rig->identity;
    rtc_identity_create(&rig->identity);
    victim.fd = browser->fd;
    liar = &rtc_rig_offer(rig)->client;
    forge_check(&victim, &browser->client);
    forge_check(&victim, liar);
    forget(rig);
    rtc_identity_destroy(&rig->identity);
    rig->identity = identity;
    rtc_client_check(&browser->client);
    check(rtc_rig_open(rig, 0, 20.0), "who checks last gets the address");
}

int main(int argc, char **argv)
{
    struct rtc_rig rig;
    if (argc < 2)
        return 2;
    rtc_rig_start(&rig, argv[1], "", "127.0.0.1");
    check(rtc_rig_open(&rig, 1, 20.0), "a channel opens");
    void (*const tests[])(struct rtc_rig *) = {test_forged_checks, test_forged_handshake,
                                               test_moves, test_moves_without_checks,
                                               test_taken_addresses};
    const char *only = argc > 2 ? argv[2] : NULL;
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (!only || strtoul(only, NULL, 10) == i)
            tests[i](&rig);
    rtc_rig_close(&rig);
    check(rtc_rig_stop(&rig) == 0, "the relay ends well");
    return 0;
}
