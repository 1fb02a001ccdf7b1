/* The programs of core/examples that need no backend: an echo server that lets everybody in, a
   client of it that tells how the connection is, and bots. */
#define _XOPEN_SOURCE 700

#include "program.h"

#include <stdlib.h>

/* Starts the server and returns its address, valid until the next call. */
static const char *start_server(pid_t *server)
{
    static char address[256];
    setenv("CAUSEWAY_KEY", "insecure", 1);
    FILE *output = program_start(ECHO_SERVER, "127.0.0.1:0", NULL, server);
    snprintf(address, sizeof address, "%s", strstr(program_says(output, " on "), " on ") + 4);
    fclose(output);
    return address;
}

TEST(a_client_tells_how_the_connection_is)
{
    pid_t server, client;
    FILE *output = program_start(ECHO_CLIENT, start_server(&server), NULL, &client);
    program_says(output, "the server says hello");
    double rtt, sent = 0, acked = 0, lost = 0, before = 0;
    char mode[8];
    while (acked < 30) {
        before = sent;
        assert_int_equal(sscanf(program_says(output, "RTT"),
                                "RTT %lf ms, %lf sent, %lf acked, %lf lost, %7s mode", &rtt, &sent,
                                &acked, &lost, mode),
                         5);
        assert_true(sent >= before && sent >= acked + lost);
        assert_true(strcmp(mode, "bad") == 0 || strcmp(mode, "good") == 0);
    }
    program_stop(client);
    program_stop(server);
    fclose(output);
}

TEST(bots_talk)
{
    pid_t server, bots;
    FILE *output = program_start(BOT, start_server(&server), "5", &bots);
    unsigned said = 0, received = 0;
    program_says(output, "5 connected");
    while (received < 5)
        assert_int_equal(sscanf(program_says(output, "5 connected"),
                                "5 connected, %u said, %u heard", &said, &received),
                         2);
    assert_true(said >= received);
    program_stop(bots);
    program_stop(server);
    fclose(output);
}
