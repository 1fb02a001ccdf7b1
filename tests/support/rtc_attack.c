/* An attack of rtc_attacks.c at a pace:

       test_rtc_attack ATTACK PORT UDP_PORT ADDRESS PEERS RATE SECONDS [REQUEST]

   comes from ADDRESS as so many PEERS and sends RATE packets a second, all peers together. Each
   peer that opens a channel first sends REQUEST, in hex. A first line is written when the attack
   begins, a second with JSON at its end: datagrams and bytes that were sent, and that came back. */
#include "rtc_attacks.h"

#include <stdio.h>
#include <stdlib.h>

#define TICK 0.004 /* seconds */

static struct rtc_rig rig;

/* Sends all packets, however long that takes: the pace does not catch up on what could not be sent
   in time. */
static void run(double rate, double seconds)
{
    double next = rtc_rig_now();
    for (long ticks = (long)(seconds / TICK); ticks > 0; ticks--) {
        while (rtc_rig_now() < next)
            rtc_rig_serve(&rig, 1);
        next = rtc_rig_now() + TICK;
        for (double left = rate * TICK; left > 0.0; left--)
            rtc_attack_send();
    }
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        fprintf(stderr, "rtc_attack: ATTACK PORT UDP_PORT ADDRESS PEERS RATE SECONDS [REQUEST]\n");
        return 1;
    }
    rtc_rig_join(&rig, (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), argv[4]);
    rtc_attack_prepare(argv[1], &rig, (unsigned)atoi(argv[5]), argc > 8 ? argv[8] : "");
    puts("begun");
    fflush(stdout);
    run(atof(argv[6]), atof(argv[7]));
    const struct rtc_attack_sent sent = rtc_attack_sent();
    rtc_rig_serve(&rig, 100);
    printf("{\"sent\":%lu,\"sentBytes\":%lu,\"received\":%lu,\"receivedBytes\":%lu}\n",
           sent.packets, sent.bytes, rig.received, rig.received_bytes);
    return 0;
}
