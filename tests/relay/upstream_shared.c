/* One socket for many sessions: each hears its own game server, and nobody else. The game servers
   are real sockets. */
#include "session/upstream.h"
#include "unit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX "127.7.0.0/16"

/* One process of the relay. */
struct process {
    struct stats stats;
    struct upstream_batch *batch;
};

struct player {
    struct upstream upstream;
    struct socket_address server;
    struct sockaddr_in seen; /* as the server sees it */
    char heard[64];
    unsigned runs;
};

static struct loop *loop;
static int server;
static struct process process;

static void hear(void *context, const uint8_t *data, size_t size)
{
    struct player *player = context;
    memcpy(player->heard, data, size);
    player->heard[size] = '\0';
}

static void end_run(void *context)
{
    ((struct player *)context)->runs++;
}

static void stop(void *context)
{
    (void)context;
    loop_stop(loop);
}

static void turn(void)
{
    struct loop_timer timer = {.expired = stop};
    loop_timer_start(loop, &timer, 0.01);
    loop_run(loop, NULL, NULL);
}

/* Runs the loop until it has counted so many. */
static void until(const uint64_t *counter, uint64_t count)
{
    for (int i = 0; i < 3000 && *counter < count; i++)
        turn();
    assert_int_equal(*counter, count);
}

static int open_server(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    return fd;
}

static void join(struct player *player, struct process *of, int to)
{
    *player = (struct player){.server.size = sizeof(struct sockaddr_in)};
    getsockname(to, &player->server.address.any, &player->server.size);
    upstream_init(&player->upstream, of->batch, &player->server, hear, end_run, player);
}

static void say(struct player *player, const char *text)
{
    assert_true(upstream_send(&player->upstream, (const uint8_t *)text, strlen(text)));
}

/* What a server gets next, and from where. */
static void gets(int at, const char *text, struct sockaddr_in *from)
{
    char data[64] = "";
    socklen_t size = sizeof *from;
    assert_true(recvfrom(at, data, sizeof data - 1, 0, (struct sockaddr *)from, &size) >= 0);
    assert_string_equal(data, text);
}

static void answers(int from, const char *text, const struct sockaddr_in *to)
{
    assert_true(sendto(from, text, strlen(text), 0, (const struct sockaddr *)to, sizeof *to) > 0);
}

static void open_process(struct process *out)
{
    struct prefix_list prefixes = {.count = 0};
    memset(out, 0, sizeof *out);
    assert_true(prefix_list_add(&prefixes, PREFIX));
    out->batch = upstream_batch_create(loop, &out->stats);
    assert_true(upstream_batch_share(out->batch, &prefixes, 8));
}

static int set_up(void **state)
{
    (void)state;
    static struct lws_protocols protocols[3] = {
        {.name = "none", .callback = lws_callback_http_dummy}};
    protocols[1] = loop_protocol;
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                             .protocols = protocols};
    lws_set_log_level(0, NULL);
    loop = loop_create(&info);
    open_process(&process);
    server = open_server();
    return loop ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    close(server);
    loop_destroy(loop);
    upstream_batch_destroy(process.batch);
    return 0;
}

static bool in_prefix(const struct sockaddr_in *address)
{
    return ntohl(address->sin_addr.s_addr) >> 16 == (127 << 8 | 7);
}

/* Two who have both been heard by the server. */
static void join_two(struct player players[2])
{
    for (int i = 0; i < 2; i++) {
        join(&players[i], &process, server);
        say(&players[i], i == 0 ? "I am one" : "I am two");
    }
    upstream_batch_flush(process.batch);
    gets(server, "I am one", &players[0].seen);
    gets(server, "I am two", &players[1].seen);
}

static void leave_two(struct player players[2])
{
    for (int i = 0; i < 2; i++)
        upstream_close(&players[i].upstream);
}

static void test_each_has_an_address_and_all_one_port(void **state)
{
    (void)state;
    struct player players[2];
    struct socket_address local;
    join_two(players);
    assert_int_equal(process.stats.forwarded_datagrams, 2);
    assert_int_equal(players[0].seen.sin_port, players[1].seen.sin_port);
    assert_int_not_equal(players[0].seen.sin_addr.s_addr, players[1].seen.sin_addr.s_addr);
    for (int i = 0; i < 2; i++) {
        assert_true(in_prefix(&players[i].seen));
        assert_true(upstream_local(&players[i].upstream, &local));
        assert_memory_equal(&local.address, &players[i].seen, sizeof players[i].seen);
    }
    leave_two(players);
    assert_false(upstream_local(&players[0].upstream, &local));
}

static void test_each_hears_what_is_said_to_it(void **state)
{
    (void)state;
    struct player players[2];
    join_two(players);
    answers(server, "to two", &players[1].seen);
    answers(server, "to one", &players[0].seen);
    answers(server, "to one again", &players[0].seen);
    until(&process.stats.upstream_datagrams, 3);
    assert_string_equal(players[0].heard, "to one again");
    assert_string_equal(players[1].heard, "to two");
    assert_int_equal(players[0].runs, 1);
    assert_int_equal(players[1].runs, 1);
    leave_two(players);
}

static void test_nobody_else_is_heard(void **state)
{
    (void)state;
    struct player players[2];
    const int stranger = open_server();
    join_two(players);
    struct sockaddr_in nowhere = players[0].seen;
    nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answers(stranger, "hello", &players[0].seen); /* the right host, but another port */
    answers(server, "hello", &nowhere);           /* an address of no session */
    until(&process.stats.upstream_ignored, 2);
    assert_string_equal(players[0].heard, "");
    assert_int_equal(process.stats.upstream_datagrams, 0);
    leave_two(players);
    close(stranger);
}

static void test_what_comes_late_is_nobody_s(void **state)
{
    (void)state;
    struct player players[2];
    join_two(players);
    say(&players[0], "goodbye");
    upstream_close(&players[0].upstream);
    struct sockaddr_in from;
    gets(server, "goodbye", &from); /* what was gathered still went, from its address */
    assert_int_equal(from.sin_addr.s_addr, players[0].seen.sin_addr.s_addr);
    struct player next;
    join(&next, &process, server);
    say(&next, "I am three");
    upstream_batch_flush(process.batch);
    gets(server, "I am three", &next.seen);
    assert_int_not_equal(next.seen.sin_addr.s_addr, players[0].seen.sin_addr.s_addr);
    answers(server, "to one", &players[0].seen);
    until(&process.stats.dropped_closing, 1);
    assert_string_equal(next.heard, "");
    assert_string_equal(players[0].heard, "");
    upstream_close(&next.upstream);
    leave_two(players);
}

static void test_a_server_that_is_down_is_that_of_its_session(void **state)
{
    (void)state;
    struct player players[2];
    const int gone = open_server();
    join(&players[0], &process, server);
    join(&players[1], &process, gone);
    close(gone);
    say(&players[1], "anyone?");
    upstream_batch_flush(process.batch);
    until(&process.stats.upstream_refused, 1);
    assert_true(players[1].upstream.refused);
    assert_int_equal(upstream_batch_down(process.batch), 1);
    for (int i = 0; i < 20; i++) {
        say(&players[1], "anyone?");
        say(&players[0], "still here");
    }
    upstream_batch_flush(process.batch);
    for (int i = 0; i < 20; i++)
        gets(server, "still here", &players[0].seen);
    turn();
    assert_false(players[0].upstream.refused);
    assert_int_equal(process.stats.dropped_upstream, 0);
    leave_two(players);
}

static void test_another_process_goes_on(void **state)
{
    (void)state;
    struct player players[2];
    struct player moved[2];
    struct process successor;
    join_two(players);
    open_process(&successor);
    for (int i = 0; i < 2; i++) {
        struct upstream_state what;
        const int fd = upstream_state(&players[i].upstream, &what);
        join(&moved[i], &successor, server);
        assert_true(upstream_adopt(&moved[i].upstream, fcntl(fd, F_DUPFD_CLOEXEC, 0), &what));
        const int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        struct player twice;
        join(&twice, &successor, server);
        assert_false(upstream_adopt(&twice.upstream, again, &what));
        close(again); /* it was still the caller's */
    }
    answers(server, "meanwhile", &players[0].seen); /* it waits for the successor */
    for (int i = 0; i < 2; i++)
        upstream_leave(&players[i].upstream);
    until(&successor.stats.upstream_datagrams, 1);
    assert_string_equal(moved[0].heard, "meanwhile");
    say(&moved[1], "I am two still");
    upstream_batch_flush(successor.batch);
    struct sockaddr_in from;
    gets(server, "I am two still", &from);
    assert_memory_equal(&from, &players[1].seen, sizeof from);
    leave_two(moved);
    upstream_batch_destroy(successor.batch);
}

static void test_ipv6_has_a_socket_of_its_own(void **state)
{
    (void)state;
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct prefix_list prefixes = {.count = 0};
    struct process both = {0};
    struct player player;
    struct player too_many;
    const int server6 = socket(AF_INET6, SOCK_DGRAM, 0);
    assert_int_equal(bind(server6, (const struct sockaddr *)&at, sizeof at), 0);
    assert_true(prefix_list_add(&prefixes, PREFIX) && prefix_list_add(&prefixes, "::1"));
    both.batch = upstream_batch_create(loop, &both.stats);
    assert_true(upstream_batch_share(both.batch, &prefixes, 8));
    join(&player, &both, server6);
    player.server.size = sizeof at;
    getsockname(server6, &player.server.address.any, &player.server.size);
    say(&player, "hello");
    upstream_batch_flush(both.batch);
    char data[64] = "";
    socklen_t size = sizeof at;
    assert_int_equal(recvfrom(server6, data, 64, 0, (struct sockaddr *)&at, &size), 5);
    assert_int_equal(sendto(server6, "welcome", 7, 0, (struct sockaddr *)&at, size), 7);
    until(&both.stats.upstream_datagrams, 1);
    assert_string_equal(player.heard, "welcome");
    too_many = player;
    too_many.upstream.source = NULL;
    assert_false(upstream_send(&too_many.upstream, (const uint8_t *)"hello", 5));
    assert_int_equal(both.stats.dropped_upstream, 1);
    close(server6);
    say(&player, "anyone?");
    upstream_batch_flush(both.batch);
    until(&both.stats.upstream_refused, 1);
    assert_true(player.upstream.refused);
    upstream_close(&player.upstream);
    upstream_batch_destroy(both.batch);
}

static void test_the_prefix_must_be_this_machine_s(void **state)
{
    (void)state;
    struct prefix_list prefixes = {.count = 0};
    assert_true(prefix_list_add(&prefixes, "198.51.100.0/24"));
    struct upstream_batch *batch = upstream_batch_create(loop, &process.stats);
    assert_false(upstream_batch_share(batch, &prefixes, 8));
    upstream_batch_destroy(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_has_an_address_and_all_one_port, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_each_hears_what_is_said_to_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nobody_else_is_heard, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_comes_late_is_nobody_s, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_server_that_is_down_is_that_of_its_session, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_process_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ipv6_has_a_socket_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_prefix_must_be_this_machine_s, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
