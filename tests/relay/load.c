/* Hundreds of browsers that open, use and close their channels, again and again, against the real
   relay: none gets stuck, and the relay's memory comes back. It does so over IPv6 too.
   test_relay_load RELAY [PEERS] */
#define _GNU_SOURCE
#include "rtc_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The most memory that a browser may take, in KiB; it took 32 when this bound was set. */
#define PEER_KIB 45

static void check(bool right, const char *what)
{
    printf("%s: %s\n", what, right ? "yes" : "NO");
    if (!right)
        exit(1);
}

static void pause_for(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static void use(struct rtc_rig *rig, unsigned peers)
{
    check(rtc_rig_open(rig, peers, 60.0), "all channels open");
    check(rtc_rig_echo(rig, 10, 100, 60.0), "small datagrams come back");
    check(rtc_rig_echo(rig, 3, 1400, 60.0), "split datagrams come back");
}

int main(int argc, char **argv)
{
    struct rtc_rig rig;
    const unsigned peers = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 500;
    if (argc < 2)
        return 2;

    rtc_rig_start(&rig, argv[1], "", "127.0.0.1");
    /* The first round touches buffers that are used again and again. */
    use(&rig, peers / 5);
    rtc_rig_close(&rig);
    pause_for(1.0);
    const long empty = rtc_rig_memory(&rig);
    for (int cycle = 0; cycle < 3; cycle++) {
        use(&rig, peers);
        const long full = rtc_rig_memory(&rig);
        rtc_rig_close(&rig);
        long after = full;
        for (int i = 0; i < 50 && after - empty > (full - empty) / 10; i++) {
            pause_for(0.1);
            after = rtc_rig_memory(&rig);
        }
        printf("memory: %ld KiB empty, %ld KiB with %u peers, %ld KiB after them\n", empty, full,
               peers, after);
        /* A sanitizer keeps freed memory for a while, and takes more. */
        if (!getenv("CAUSEWAY_SANITIZED")) {
            check(full - empty <= (long)peers * PEER_KIB, "each peer takes little");
            check(after - empty <= (full - empty) / 10, "nine tenths are given back");
        }
    }
    check(rtc_rig_stop(&rig) == 0, "the relay stops");
    check(rtc_rig_adds_up(&rig), "its counters add up");

    rtc_rig_start(&rig, argv[1], "", "::1");
    use(&rig, 20);
    rtc_rig_close(&rig);
    check(rtc_rig_stop(&rig) == 0, "the relay stops");
    check(rtc_rig_adds_up(&rig), "its counters add up");
    return 0;
}
