/* Messages between processes of the relay: bytes that are no message of this version end the
   channel, and a process that another version has started says so and ends. */
#define OWN_MAIN
#include "fixture.h"

#include "process/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *relay;

struct channel {
    int ends[2];
};

static void close_channel(void *object)
{
    struct channel *channel = object;
    close(channel->ends[0]);
    close(channel->ends[1]);
    free(channel);
}

static struct channel *open_channel(void)
{
    struct channel *channel = own(malloc(sizeof *channel), close_channel);
    assert_true(message_pair(channel->ends));
    return channel;
}

TEST(a_message_arrives_with_its_descriptor)
{
    const struct channel *channel = open_channel();
    uint8_t longest[MESSAGE_MAX + 1] = {1, 2, 3};
    struct message message;
    assert_int_equal(message_receive(channel->ends[1], &message, false), MESSAGE_NONE);
    assert_false(message_send(channel->ends[0], MESSAGE_SESSION, longest, sizeof longest, -1));
    assert_int_equal(errno, EMSGSIZE);
    assert_true(
        message_send(channel->ends[0], MESSAGE_SESSION, longest, MESSAGE_MAX, STDIN_FILENO));
    assert_true(message_send(channel->ends[0], MESSAGE_READY, NULL, 0, -1));

    assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_RECEIVED);
    assert_int_equal(message.type, MESSAGE_SESSION);
    assert_int_equal(message.size, MESSAGE_MAX);
    assert_memory_equal(message.data, longest, MESSAGE_MAX);
    assert_int_equal(fcntl(message.fd, F_GETFD), FD_CLOEXEC);
    close(message.fd);
    assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_RECEIVED);
    assert_int_equal(message.type, MESSAGE_READY);
    assert_int_equal(message.size, 0);
    assert_int_equal(message.fd, -1);
}

/* A process that has no descriptor left for the one in a message goes on without it. */
TEST(a_descriptor_too_many_does_not_end_the_channel)
{
    const struct channel *channel = open_channel();
    struct message message;
    struct rlimit limit;
    assert_true(message_send(channel->ends[0], MESSAGE_SESSION, "hello", 5, STDIN_FILENO));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const enum message_result result = message_receive(channel->ends[1], &message, false);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(result, MESSAGE_RECEIVED);
    assert_int_equal(message.type, MESSAGE_SESSION);
    assert_int_equal(message.size, 5);
    assert_int_equal(message.fd, -1);
}

TEST(what_is_no_message_of_this_version_ends_the_channel)
{
    const struct channel *channel = open_channel();
    static const struct {
        uint16_t version;
        uint16_t type;
        uint32_t size;
        uint8_t payload[2];
    } bad[] = {
        {MESSAGE_VERSION + 1, MESSAGE_READY, 2, {0}},
        {MESSAGE_VERSION - 1, MESSAGE_READY, 2, {0}},
        {MESSAGE_VERSION, MESSAGE_READY, 1, {0}},
        {MESSAGE_VERSION, MESSAGE_READY, 3, {0}},
        {MESSAGE_VERSION, MESSAGE_READY, UINT32_MAX, {0}},
    };
    static const uint8_t too_long[2 * MESSAGE_MAX] = {MESSAGE_VERSION};
    const size_t whole = offsetof(__typeof__(bad[0]), payload) + sizeof bad[0].payload;
    struct message message;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(send(channel->ends[0], &bad[i], whole, 0), whole);
        assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_ENDED);
        assert_int_equal(message.fd, -1);
    }
    for (size_t size = 1; size < offsetof(__typeof__(bad[0]), payload); size++) {
        send(channel->ends[0], &bad[2], size, 0);
        assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_ENDED);
    }
    send(channel->ends[0], too_long, sizeof too_long, 0);
    assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_ENDED);
    shutdown(channel->ends[0], SHUT_WR);
    assert_int_equal(message_receive(channel->ends[1], &message, true), MESSAGE_ENDED);
}

/* Starts the relay as a process of the version before the first one with a header would. */
TEST(a_successor_of_another_version_ends)
{
    const struct channel *channel = open_channel();
    static const struct {
        uint32_t type;
        uint32_t version;
        uint8_t rest[40];
    } hello = {.type = 1, .version = 1};
    char number[16];
    int status;
    struct message message;
    snprintf(number, sizeof number, "%d", channel->ends[1]);
    const pid_t pid = fork();
    if (pid == 0) {
        fcntl(channel->ends[1], F_SETFD, 0);
        setenv("CAUSEWAY_LINE", number, 1);
        execl(relay, relay, "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:9", NULL);
        _exit(127);
    }
    assert_int_equal(send(channel->ends[0], &hello, sizeof hello, 0), sizeof hello);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(message_receive(channel->ends[0], &message, false), MESSAGE_NONE);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    relay = argv[1];
    return fixture_run();
}
