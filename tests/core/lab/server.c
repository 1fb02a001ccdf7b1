/* Tests of the program that is the lab's server, over real sockets. */
#define _XOPEN_SOURCE 700

#include "lab/echo.h"
#include "lab/line.h"

#include "causeway/native/clock.h"
#include "causeway/native/socket.h"
#include "program.h"

#include <stdlib.h>

#define PLACES   32 /* the lines that may be open */
#define MESSAGES 30
#define LINES    16

/* A client: a line with a socket of its own. */
struct client {
    struct cw_socket *socket;
    struct cw_lab_line *line;
    uint32_t delivered;
};

static struct cw_address start_server(pid_t *process)
{
    struct cw_address address;
    FILE *output = program_start(LAB_SERVER, "127.0.0.1:0", NULL, process);
    const char *line = program_says(output, "without encryption, on ");
    assert_ok(cw_address_parse(strrchr(line, ' ') + 1, &address));
    fclose(output);
    return address;
}

static void release_socket(void *socket)
{
    cw_socket_close(socket);
}

static void release_line(void *line)
{
    cw_lab_line_destroy(line);
}

static struct cw_socket *socket_here(void)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket *socket;
    config.send_buffer_size = config.receive_buffer_size = 0;
    assert_ok(cw_address_parse("127.0.0.1:0", &config.address));
    assert_ok(cw_socket_open(&config, &socket));
    return own(socket, release_socket);
}

static struct client client_of(uint32_t protocol, uint32_t key)
{
    struct cw_lab_line_config config = cw_lab_line_config_default();
    struct client client = {.socket = socket_here()};
    config.protocol = protocol;
    config.key = key;
    assert_ok(cw_lab_line_create(&config, &client.line));
    own(client.line, release_line);
    return client;
}

static void transmit(struct client *client, const struct cw_address *server)
{
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    size_t size;
    while ((size = cw_lab_line_transmit(client->line, data, sizeof data, cw_clock_now())) > 0)
        cw_socket_send(client->socket, server, data, size);
}

static void play(struct client *client, const struct cw_address *server)
{
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
    struct cw_lab_column_event event;
    struct cw_address from;
    size_t size;
    while ((size = cw_socket_receive(client->socket, data, sizeof data, &from)) > 0) {
        cw_lab_line_receive(client->line, data, size, cw_clock_now());
        transmit(client, server);
    }
    cw_lab_line_step(client->line, cw_clock_now());
    transmit(client, server);
    while (cw_lab_line_next(client->line, &event))
        client->delivered +=
            event.type == CW_LAB_COLUMN_EVENT_DELIVERED && event.traffic == CW_LAB_MESSAGE;
}

static enum cw_lab_answer answer_of(const struct client *client)
{
    struct cw_lab_line_stats stats;
    cw_lab_line_get_stats(client->line, &stats);
    return stats.answer;
}

/* Plays on until the server has answered. */
static enum cw_lab_answer answer_to(struct client *client, const struct cw_address *server)
{
    double now = cw_clock_now();
    while (answer_of(client) == CW_LAB_ANSWER_NONE) {
        play(client, server);
        now = cw_clock_next_tick(now, 1.0 / CW_LAB_TICKS_PER_SECOND);
        cw_socket_wait(client->socket, now - cw_clock_now());
    }
    return answer_of(client);
}

TEST(lines_of_all_protocols_run_beside_each_other)
{
    pid_t process;
    const struct cw_address server = start_server(&process);
    const uint32_t count = cw_lab_protocol_count();
    struct client clients[LINES];
    assert_in_range(count, 1, LINES);
    for (uint32_t i = 0; i < count; i++)
        clients[i] = client_of(i, i);
    bool done = false;
    for (double now = cw_clock_now(); !done;) {
        done = true;
        for (uint32_t i = 0; i < count; i++) {
            play(&clients[i], &server);
            done &= clients[i].delivered >= MESSAGES;
        }
        now = cw_clock_next_tick(now, 1.0 / CW_LAB_TICKS_PER_SECOND);
        cw_socket_wait(clients[0].socket, now - cw_clock_now());
    }
    for (uint32_t i = 0; i < count; i++) {
        struct cw_lab_game_stats stats;
        cw_lab_line_item_stats(clients[i].line, CW_LAB_MESSAGE, cw_clock_now(), &stats);
        assert_int_equal(stats.faults, 0);
        assert_int_equal(answer_of(&clients[i]), CW_LAB_ANSWER_ECHO);
    }
    program_stop(process);
}

TEST(an_address_may_begin_another_line)
{
    pid_t process;
    const struct cw_address server = start_server(&process);
    struct client first = client_of(0, 1), second = client_of(1, 2);
    second.socket = first.socket;
    assert_int_equal(answer_to(&first, &server), CW_LAB_ANSWER_ECHO);
    assert_int_equal(answer_to(&second, &server), CW_LAB_ANSWER_ECHO);
    program_stop(process);
}

/* All of them play, because a place is free again when its line is silent. */
TEST(a_server_without_a_place_says_so)
{
    pid_t process;
    const struct cw_address server = start_server(&process);
    struct client clients[PLACES + 1];
    uint32_t answered = 0, refused = 0;
    for (uint32_t i = 0; i <= PLACES; i++)
        clients[i] = client_of(0, i);
    for (double now = cw_clock_now(); answered <= PLACES;) {
        answered = refused = 0;
        for (uint32_t i = 0; i <= PLACES; i++) {
            play(&clients[i], &server);
            answered += answer_of(&clients[i]) != CW_LAB_ANSWER_NONE;
            refused += answer_of(&clients[i]) == CW_LAB_ANSWER_FULL;
        }
        now = cw_clock_next_tick(now, 1.0 / CW_LAB_TICKS_PER_SECOND);
        cw_socket_wait(clients[0].socket, now - cw_clock_now());
    }
    assert_true(refused > 0);
    program_stop(process);
}

TEST(a_protocol_that_the_server_does_not_know_is_refused)
{
    pid_t process;
    const struct cw_address server = start_server(&process);
    struct client client = client_of(0, 7);
    uint8_t data[100] = {CW_LAB_LINE_VERSION, 0xff, 7};
    struct cw_address from;
    while (answer_of(&client) == CW_LAB_ANSWER_NONE) {
        cw_socket_send(client.socket, &server, data, sizeof data);
        cw_socket_wait(client.socket, 0.1);
        const size_t size = cw_socket_receive(client.socket, data, sizeof data, &from);
        cw_lab_line_receive(client.line, data, size, 0);
        data[1] = 0xff;
    }
    assert_int_equal(answer_of(&client), CW_LAB_ANSWER_FOREIGN);
    program_stop(process);
}
