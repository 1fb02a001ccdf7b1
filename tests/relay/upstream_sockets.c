/* The sockets to game servers, which are real ones here. */
#include "session/upstream.h"

#include "loop_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct player {
    struct upstream upstream;
    struct drops drops;
    struct socket_address server;
    struct sockaddr_in seen; /* the address that the server sees */
    size_t runs;
    size_t datagrams;
    char text[256]; /* the texts of all datagrams, one after the other */
    bool leaves;    /* true: it leaves at the first run */
};

struct rig {
    struct loop *loop;
    struct stats stats;
    struct upstream_common *common;
    int server;
};

static int send_error; /* the error of each datagram that is sent; 0 = the system sends it */

/* Takes the place of the system's function, with which the log writes too. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    if (send_error == 0 || fd == STDERR_FILENO)
        return sendto(fd, data, size, flags, NULL, 0);
    errno = send_error;
    return -1;
}

static void take(void *context, const struct datagram *datagrams, size_t count)
{
    struct player *player = context;
    player->runs++;
    player->datagrams += count;
    for (size_t i = 0; i < count; i++)
        strncat(player->text, (const char *)datagrams[i].data, datagrams[i].size);
    if (player->leaves)
        upstream_close(&player->upstream);
}

static void stop(void *context)
{
    loop_stop(context);
}

/* Runs the loop until the counter is `count`. */
static void until(struct rig *rig, const uint64_t *counter, uint64_t count)
{
    for (int i = 0; i < 3000 && *counter < count; i++) {
        struct loop_timer timer = {.expired = stop, .context = rig->loop};
        loop_timer_start(rig->loop, &timer, 0.01);
        loop_run(rig->loop, NULL, NULL);
    }
    assert_int_equal(*counter, count);
}

static void tear_down(void *object)
{
    struct rig *rig = object;
    send_error = 0;
    close(rig->server);
    loop_destroy(rig->loop);
    upstream_common_destroy(rig->common);
    free(rig);
}

static struct rig *set_up(void)
{
    struct rig *rig = own(calloc(1, sizeof *rig), tear_down);
    rig->loop = loop_rig();
    rig->server = loop_rig_server();
    rig->common = upstream_common_create(rig->loop, &rig->stats);
    return rig;
}

static void join(struct rig *rig, struct player *player)
{
    *player = (struct player){.server.size = sizeof(struct sockaddr_in)};
    getsockname(rig->server, &player->server.address.any, &player->server.size);
    upstream_init(&player->upstream, rig->common, &player->server, take, player, &player->drops);
}

static void say(struct player *player, const char *text)
{
    assert_true(upstream_send(&player->upstream, (const uint8_t *)text, strlen(text)));
}

/* Checks the next datagram that the server gets, and learns its sender. */
static void gets(const struct rig *rig, const char *text, struct sockaddr_in *from)
{
    char data[64] = "";
    socklen_t size = sizeof *from;
    assert_true(recvfrom(rig->server, data, sizeof data - 1, 0, (struct sockaddr *)from, &size) >=
                0);
    assert_string_equal(data, text);
}

static void answer(const struct rig *rig, const struct player *player, const char *text)
{
    assert_true(sendto(rig->server, text, strlen(text), 0, (const struct sockaddr *)&player->seen,
                       sizeof player->seen) >= 0);
}

static void join_and_speak(struct rig *rig, struct player *player)
{
    join(rig, player);
    say(player, "hello");
    gets(rig, "hello", &player->seen);
}

TEST(what_comes_together_is_one_run)
{
    struct rig *rig = set_up();
    struct player players[2];
    for (int i = 0; i < 2; i++)
        join_and_speak(rig, &players[i]);
    answer(rig, &players[0], "one");
    answer(rig, &players[1], "to the other");
    answer(rig, &players[0], ""); /* an empty datagram is not one of a game */
    answer(rig, &players[0], " two");
    answer(rig, &players[0], " three");
    until(rig, &rig->stats.upstream_datagrams, 5);
    assert_int_equal(players[0].runs, 1);
    assert_int_equal(players[0].datagrams, 3);
    assert_string_equal(players[0].text, "one two three");
    assert_int_equal(players[1].runs, 1);
    assert_string_equal(players[1].text, "to the other");
    assert_int_equal(rig->stats.dropped_empty, 1);
    assert_int_equal(players[0].drops.dropped_empty, 1);
    assert_int_equal(players[1].drops.dropped_empty, 0);
    assert_int_equal(rig->stats.forwarded_datagrams, 2);
    for (int i = 0; i < 2; i++)
        upstream_close(&players[i].upstream);
}

TEST(a_long_datagram_does_not_count_as_one)
{
    struct rig *rig = set_up();
    struct player player;
    char data[SESSION_DATAGRAM_MAX + CLIENT_HEADER_MAX + 2];
    memset(data, 'a', sizeof data);
    data[sizeof data - 1] = '\0';
    join_and_speak(rig, &player);
    answer(rig, &player, data); /* a datagram longer than the buffer, too */
    data[SESSION_DATAGRAM_MAX + 1] = '\0';
    answer(rig, &player, data);
    until(rig, &rig->stats.dropped_oversize, 2);
    assert_int_equal(player.drops.dropped_oversize, 2);
    assert_int_equal(player.datagrams, 0);
    upstream_close(&player.upstream);
}

TEST(who_takes_a_run_may_close)
{
    struct rig *rig = set_up();
    struct player player;
    struct socket_address local;
    join_and_speak(rig, &player);
    assert_true(upstream_local(&player.upstream, &local));
    assert_memory_equal(&local.address, &player.seen, sizeof player.seen);
    player.leaves = true;
    answer(rig, &player, "one");
    until(rig, &rig->stats.upstream_datagrams, 1);
    assert_int_equal(player.runs, 1);
    assert_false(upstream_local(&player.upstream, &local));
}

TEST(what_waits_at_the_end_is_counted)
{
    struct rig *rig = set_up();
    struct player player;
    join_and_speak(rig, &player);
    answer(rig, &player, "one");
    answer(rig, &player, "two");
    upstream_close(&player.upstream);
    upstream_close(&player.upstream);
    assert_int_equal(rig->stats.upstream_datagrams, 2);
    assert_int_equal(rig->stats.dropped_closing, 2);
    assert_int_equal(player.drops.dropped_closing, 2);
    assert_int_equal(player.runs, 0);
}

TEST(another_process_goes_on)
{
    struct rig *rig = set_up();
    struct player player;
    struct player next;
    struct client_header header;
    struct sockaddr_in from;
    join_and_speak(rig, &player);
    const int fd = upstream_socket(&player.upstream, &header);
    join(rig, &next);
    assert_true(upstream_adopt(&next.upstream, fcntl(fd, F_DUPFD_CLOEXEC, 0), &header));
    answer(rig, &player, "meanwhile");
    upstream_leave(&player.upstream);
    until(rig, &rig->stats.upstream_datagrams, 1);
    assert_string_equal(next.text, "meanwhile");
    say(&next, "still here");
    gets(rig, "still here", &from);
    assert_memory_equal(&from, &player.seen, sizeof from);
    upstream_close(&next.upstream);
}

TEST(the_answer_of_a_closed_port_costs_nothing_else)
{
    struct rig *rig = set_up();
    struct player player;
    struct player other;
    join_and_speak(rig, &other);
    join(rig, &player);
    socket_address_set_port(&player.server, 9); /* nobody listens at that port */
    for (int i = 0; i < 20; i++)
        say(&player, "anyone?");
    assert_true(player.upstream.server_down);
    assert_false(other.upstream.server_down);
    assert_true(socket_address_same(upstream_common_down(rig->common, 0), &player.server));
    assert_null(upstream_common_down(rig->common, 1));
    assert_true(rig->stats.upstream_refused > 0);
    assert_int_equal(rig->stats.forwarded_datagrams + rig->stats.dropped_upstream, 21);
    upstream_close(&player.upstream);
    upstream_close(&other.upstream);
}

TEST(what_cannot_be_sent_is_a_line_in_the_log)
{
    struct rig *rig = set_up();
    struct player player;
    char line[512] = "";
    int pipe_ends[2];
    const int standard = dup(STDERR_FILENO);
    join_and_speak(rig, &player);
    assert_int_equal(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    send_error = EPERM;
    say(&player, "one");
    say(&player, "two");
    send_error = EAGAIN;
    say(&player, "three");
    dup2(standard, STDERR_FILENO);
    close(standard);
    close(pipe_ends[1]);
    assert_true(read(pipe_ends[0], line, sizeof line - 1) > 0);
    close(pipe_ends[0]);
    assert_non_null(strstr(line, "cannot send from 127.0.0.1:"));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
    assert_int_equal(rig->stats.dropped_upstream, 3);
    assert_int_equal(player.drops.dropped_upstream, 3);
    assert_int_equal(rig->stats.forwarded_datagrams, 1);
    upstream_close(&player.upstream);
}
