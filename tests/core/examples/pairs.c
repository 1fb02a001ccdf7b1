/* The pairs of core/examples: everything arrives over real sockets although every fourth datagram
   is thrown away. */
#define _XOPEN_SOURCE 700

#include "program.h"

TEST(a_request_based_pair)
{
    pid_t process;
    FILE *output = program_start(RUDP_PAIR, NULL, NULL, &process);
    for (int i = 1; i <= 100; i++) {
        char text[64];
        snprintf(text, sizeof text, "a hears package %d (%d)", i, i);
        assert_string_equal(program_says(output, "a hears"), text);
    }
    program_says(output, "all 100 packages of both have arrived, without encryption");
    program_ends(process);
    fclose(output);
}

TEST(a_pair_with_packet_notification)
{
    pid_t process;
    FILE *output = program_start(NOTIFY_PAIR, NULL, NULL, &process);
    int bunch = 0, value = 0;
    while (bunch < 100 || value < 100) {
        const char *line = program_says(output, "a ");
        int number;
        if (sscanf(line, "a hears bunch %d", &number) == 1)
            assert_int_equal(number, ++bunch);
        else if (sscanf(line, "a sees value %d", &number) == 1) {
            assert_true(number > value); /* lost values are passed over */
            value = number;
        }
    }
    program_ends(process);
    fclose(output);
}
