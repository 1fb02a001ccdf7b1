/* No packet that a stranger, or a browser gone bad, sends to the WebRTC port makes the relay work
   more than MOST_WORK times as much as an honest datagram that the server answers.
   test_hostile_rtc_work RELAY [--write]

   Work is the instructions that the real relay executes, and its calls of the system. Unlike the
   time that it takes, it is the same on a busy machine. */
#define _GNU_SOURCE
#include "cost_table.h"
#include "rtc_attacks.h"
#include "rtc_count.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_WORK 2.0 /* times the work of an honest datagram */

/* A few bursts come first, so that the relay holds as much as it may of what the attack leaves
   there; a socket has room for each burst. */
#define BURSTS 10
#define BURST  40 /* packets */

#define ROUNDS        100
#define DATAGRAM_SIZE 120  /* bytes */
#define PATIENCE      60.0 /* seconds */

static struct rtc_rig attacker;
static struct rtc_rig player; /* an honest player of the same relay */
static double dearest;        /* the most instructions for a packet of an attack */

static void check(bool right, const char *what)
{
    if (right)
        return;
    printf("%s: NO\n", what);
    exit(1);
}

/* Sends so many packets of the attack. Then a datagram of the player goes to the server and back,
   and is acknowledged: by then the relay has read all packets. None of them shares a turn of the
   relay's loop with the player, which would make it cheaper. */
static void play_round(const struct rtc_count *count, unsigned packets)
{
    for (unsigned i = 0; i < packets; i++)
        rtc_attack_send();
    rtc_count_settle(count);
    check(rtc_rig_echo(&player, 1, DATAGRAM_SIZE, PATIENCE), "the player's datagram came back");
    rtc_count_settle(count);
    rtc_rig_serve(&attacker, 0);
}

/* Counts the work of a round. */
static struct rtc_work count_round(struct rtc_count *count, unsigned packets)
{
    rtc_count_read(count);
    for (unsigned i = 0; i < ROUNDS; i++)
        play_round(count, packets);
    const struct rtc_work work = rtc_count_read(count);
    return (struct rtc_work){work.instructions / ROUNDS, work.calls / ROUNDS};
}

static struct rtc_work count_datagram(struct rtc_count *count)
{
    check(rtc_rig_open(&player, 1, PATIENCE), "the player's channel opens");
    const struct rtc_work work = count_round(count, 0);
    rtc_rig_close(&player);
    return work;
}

/* Compares a packet of the attack with a datagram of the player. */
static bool compare(struct rtc_count *count, const char *name, struct rtc_work datagram)
{
    check(rtc_rig_open(&player, 1, PATIENCE), "the player's channel opens");
    rtc_attack_prepare(name, &attacker, 1, "");
    for (unsigned i = 0; i < BURSTS; i++)
        play_round(count, BURST);
    const struct rtc_work both = count_round(count, 1);
    rtc_attack_end();
    rtc_rig_close(&player);
    const double instructions = both.instructions - datagram.instructions;
    const double calls = both.calls - datagram.calls;
    dearest = instructions > dearest ? instructions : dearest;
    const bool right =
        instructions <= datagram.instructions * MOST_WORK && calls <= datagram.calls * MOST_WORK;
    printf("%s: %.0f and %.1f: %s\n", name, instructions, calls, right ? "yes" : "NO");
    return right;
}

/* Counts the work of a connection without TLS that asks for a page. */
static double count_connection(struct rtc_count *count)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: relay\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)attacker.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    rtc_count_read(count);
    for (unsigned i = 0; i < ROUNDS; i++) {
        char answer[4096];
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                  send(fd, request, sizeof request - 1, 0) == sizeof request - 1,
              "a request");
        while (recv(fd, answer, sizeof answer, 0) > 0)
            continue;
        close(fd);
    }
    rtc_count_settle(count);
    return rtc_count_read(count).instructions / ROUNDS;
}

int main(int argc, char **argv)
{
    struct rtc_count count;
    const char *name;
    bool right = true;
    if (argc < 2)
        return 2;
    rtc_count_start(&count, &attacker, argv[1]);
    rtc_rig_join(&player, attacker.port, attacker.rtc_port, "127.0.0.1");
    const struct rtc_work datagram = count_datagram(&count);
    printf("a datagram: %.0f instructions and %.1f calls\n", datagram.instructions, datagram.calls);
    for (unsigned i = 0; (name = rtc_attack_name(i)); i++) {
        char address[32];
        snprintf(address, sizeof address, "127.4.0.%u", 1 + i);
        attacker.from = address;
        right = compare(&count, name, datagram) && right;
    }
    const bool write = cost_table_asked(argc, argv);
    right = cost_table_row("a datagram over WebRTC and its answer", datagram.instructions, write) &&
            right;
    right = cost_table_row("the dearest packet found on the WebRTC port", dearest, write) && right;
    right = cost_table_row("a connection without TLS and its request", count_connection(&count),
                           write) &&
            right;
    check(rtc_count_stop(&count) == 0, "the relay ends well");
    check(attacker.stats.rtc_packets_overflow == 0, "the relay has read all packets");
    return right ? 0 : 1;
}
