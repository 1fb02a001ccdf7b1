/* Offers that wait hardly add to the relay's work for connected players: a thousand of them would
   at most double the work of a datagram that the server answers. It is counted as in
   hostile_rtc_work.c.
   test_hostile_rtc_work_offers RELAY */
#include "rtc_count.h"

#include <stdlib.h>

#define OFFERS        250
#define ROUNDS        100
#define DATAGRAM_SIZE 120  /* bytes */
#define PATIENCE      60.0 /* seconds */

static void check(bool right, const char *what)
{
    printf("%s: %s\n", what, right ? "yes" : "NO");
    if (!right)
        exit(1);
}

static double count_datagram(struct rtc_count *count, struct rtc_rig *player)
{
    rtc_count_read(count);
    check(rtc_rig_echo(player, ROUNDS, DATAGRAM_SIZE, PATIENCE), "all datagrams come back");
    return rtc_count_read(count).instructions / ROUNDS;
}

int main(int argc, char **argv)
{
    struct rtc_count count;
    struct rtc_rig crowd;
    struct rtc_rig player;
    if (argc < 2)
        return 2;
    rtc_count_start(&count, &crowd, argv[1]);
    rtc_rig_join(&player, crowd.port, crowd.rtc_port, "127.0.0.1");
    check(rtc_rig_open(&player, 1, PATIENCE), "the player's channel opens");
    const double alone = count_datagram(&count, &player);
    for (unsigned i = 0; i < OFFERS; i++)
        rtc_rig_offer(&crowd);
    const double crowded = count_datagram(&count, &player);
    printf("%.0f instructions alone, %.0f among %u offers\n", alone, crowded, OFFERS);
    const struct stats *stats = &crowd.stats;
    check(stats->rtc_offers == OFFERS + 1 && stats->rtc_offers_expired == 0, "all of them wait");
    check(crowded <= alone * (1.0 + OFFERS / 1000.0), "the work does not grow with them");
    rtc_rig_close(&player);
    rtc_rig_close(&crowd);
    check(rtc_count_stop(&count) == 0, "the relay ends well");
    return 0;
}
