/* Tickets against the real relay. One connects without an offer. Forged ones leave nothing in the
   relay, a claim that comes again makes no second connection, and of right ones no more wait than
   of offers.
   test_hostile_rtc_tickets RELAY */
#define _GNU_SOURCE
#include "page_ticket.h"
#include "relay/rtc/half_open.h"
#include "rtc_rig.h"
#include "stun_request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* These are more than may wait, and leave some of the 2,100 offers that the rig's relay takes at
   once to the players that are to get in. */
#define CLAIMS   (HALF_OPEN_MAX + 32)
#define BURST    40   /* packets for which a socket has room */
#define PATIENCE 60.0 /* seconds */

static void check(bool right, const char *what)
{
    printf("%s: %s\n", what, right ? "yes" : "NO");
    if (!right)
        exit(1);
}

static void send_check(int fd, const char *username, const char *password)
{
    uint8_t request[STUN_REQUEST_SIZE];
    send(fd, request, stun_request(request, username, password, 0, 0), MSG_NOSIGNAL);
}

static void check_players(struct rtc_rig *rig)
{
    if (!rtc_rig_echo(rig, 1, 100, PATIENCE))
        check(false, "the players' datagrams come back");
}

/* Sends claims of a browser's ticket, each for another connection, with this character of the
   relay's ufrag changed; none is for -1. */
static void flood(struct rtc_rig *rig, const struct rtc_browser *browser, int changed)
{
    const int fd = rtc_rig_socket(rig, "127.4.0.1");
    char username[520];
    for (unsigned i = 0; i < CLAIMS; i++) {
        struct page_ticket page = {.text = browser->ticket, .server = ""};
        memcpy(page.fingerprint, &i, sizeof i);
        page_ticket_redeem(&page);
        if (changed >= 0)
            page.ufrag[changed] = page.ufrag[changed] == 'A' ? 'B' : 'A';
        snprintf(username, sizeof username, "%s:brow", page.ufrag);
        send_check(fd, username, browser->client.password);
        if (i % BURST == 0)
            check_players(rig);
    }
    close(fd);
}

/* Returns how many offers and claims the relay has taken since the last call. */
static uint64_t taken(struct rtc_rig *rig)
{
    const uint64_t before = rig->stats.rtc_offers;
    check_players(rig);
    rtc_rig_read_stats(rig);
    return rig->stats.rtc_offers - before;
}

int main(int argc, char **argv)
{
    struct rtc_rig rig;
    if (argc < 2)
        return 2;
    rtc_rig_start(&rig, argv[1], "", "127.0.0.1");
    check(rtc_rig_open(&rig, 1, PATIENCE), "an offer opens");
    const struct rtc_browser *first = rig.browsers[0];
    struct rtc_browser *claiming = rtc_rig_claim(&rig, first);
    rtc_client_check(&claiming->client);
    check(rtc_rig_open(&rig, 0, PATIENCE), "a claim opens");
    check(taken(&rig) == 2, "both count as offers");

    const int other = rtc_rig_socket(&rig, "127.4.0.2");
    send_check(other, claiming->client.username, claiming->client.password);
    close(other);
    check(taken(&rig) == 0, "a claim that comes again makes no second connection");
    flood(&rig, first, 4);
    check(taken(&rig) == 0, "nor do claims with another time");
    flood(&rig, first, 60);
    check(taken(&rig) == 0, "nor claims with another proof");
    flood(&rig, first, -1);
    check(taken(&rig) > HALF_OPEN_MAX, "right claims do");
    const struct stats *stats = &rig.stats;
    check(stats->rtc_offers - 2 - stats->rtc_offers_evicted - stats->rtc_offers_expired <=
              HALF_OPEN_MAX,
          "but no more of them wait than of offers");
    check(rtc_rig_open(&rig, 1, PATIENCE), "another player gets in beside them");
    rtc_rig_close(&rig);
    check(rtc_rig_stop(&rig) == 0, "the relay ends well");
    return 0;
}
