/* Messages of the relay to the service manager that started it: systemd's protocol, with the test
   in the place of systemd. */
#define OWN_MAIN
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* No test waits for so long when all is well. */
#define PATIENCE_SECONDS 30

static const char *program;
static pid_t relay; /* 0 = none */

struct manager {
    int fd;
    char name[108];  /* the name in the form of NOTIFY_SOCKET */
    char state[256]; /* the latest state that came */
    struct ucred from;
};

/* Closes the socket, and ends the relay of a test that has failed. */
static void close_manager(void *object)
{
    struct manager *manager = object;
    if (relay > 0)
        kill(relay, SIGKILL);
    relay = 0;
    close(manager->fd);
    unlink(manager->name);
    free(manager);
}

/* Opens the socket of a manager, in the file system or not. */
static struct manager *open_manager(bool is_file)
{
    struct manager *manager = own(calloc(1, sizeof *manager), close_manager);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    const int yes = 1;
    manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(manager->name, sizeof manager->name, "%sdeploy-notify-%d", is_file ? "/tmp/" : "@",
             (int)getpid());
    const size_t size = strlen(manager->name);
    memcpy(address.sun_path, manager->name, size);
    if (!is_file)
        address.sun_path[0] = '\0';
    unlink(manager->name);
    assert_return_code(bind(manager->fd, (struct sockaddr *)&address,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)),
                       0);
    assert_return_code(setsockopt(manager->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience),
                       0);
    assert_return_code(setsockopt(manager->fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes), 0);
    return manager;
}

/* Starts the relay. `watched` is the process that the watchdog is for: 0 = none, -1 = the relay,
   else another one. */
static void start_relay(struct manager *manager, const char *microseconds, int watched,
                        bool workers)
{
    char number[16];
    relay = fork();
    if (relay != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("NOTIFY_SOCKET", manager->name, 1);
    setenv("WATCHDOG_USEC", microseconds, 1);
    snprintf(number, sizeof number, "%d", watched < 0 ? (int)getpid() : watched);
    setenv("WATCHDOG_PID", number, 1);
    execl(program, program, "--listen", "127.0.0.1:0", "--upstream", "127.0.0.1:9", "--log-level",
          "error", workers ? "--workers" : NULL, "2", (char *)NULL);
    _exit(127);
}

/* Receives the next state that is not a sign of life. Returns the number of signs of life before
   it. */
static int receive(struct manager *manager)
{
    int signs = 0;
    do {
        char control[CMSG_SPACE(sizeof(struct ucred))] = {0};
        struct iovec piece = {manager->state, sizeof manager->state - 1};
        struct msghdr message = {.msg_iov = &piece,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};
        const ssize_t size = recvmsg(manager->fd, &message, 0);
        assert_true(size > 0);
        manager->state[size] = '\0';
        memcpy(&manager->from, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof manager->from);
    } while (strcmp(manager->state, "WATCHDOG=1") == 0 && ++signs < 3);
    return signs;
}

static void expect(struct manager *manager, const char *state)
{
    while (receive(manager) == 3)
        continue;
    assert_string_equal(manager->state, state);
    assert_int_equal(manager->from.pid, relay);
}

static void end(struct manager *manager)
{
    int status;
    kill(relay, SIGTERM);
    expect(manager, "STOPPING=1");
    assert_int_equal(waitpid(relay, &status, 0), relay);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    relay = 0;
}

TEST(tells_that_it_is_ready_and_lives)
{
    struct manager *manager = open_manager(true);
    start_relay(manager, "20000", -1, false);
    expect(manager, "READY=1");
    assert_int_equal(receive(manager), 3);
    end(manager);
}

TEST(tells_that_it_reloads)
{
    struct timespec now;
    long long microseconds;
    struct manager *manager = open_manager(false);
    start_relay(manager, "0", 0, false);
    expect(manager, "READY=1");
    clock_gettime(CLOCK_MONOTONIC, &now);
    kill(relay, SIGHUP);
    assert_int_equal(receive(manager), 0);
    assert_int_equal(sscanf(manager->state, "RELOADING=1\nMONOTONIC_USEC=%lld", &microseconds), 1);
    assert_true(microseconds >= now.tv_sec * 1000000LL + now.tv_nsec / 1000);
    expect(manager, "READY=1");
    end(manager);
}

TEST(workers_leave_it_to_their_supervisor)
{
    struct manager *manager = open_manager(false);
    start_relay(manager, "20000", -1, true);
    expect(manager, "READY=1");
    for (int i = 0; i < 10; i++) {
        assert_int_equal(receive(manager), 3);
        assert_int_equal(manager->from.pid, relay);
    }
    end(manager);
}

/* The test waits for many times as long as the watchdog's time. */
TEST(is_silent_when_another_is_watched)
{
    struct manager *manager = open_manager(false);
    start_relay(manager, "2000", 1, false);
    assert_int_equal(receive(manager), 0);
    assert_string_equal(manager->state, "READY=1");
    usleep(50000);
    kill(relay, SIGTERM);
    assert_int_equal(receive(manager), 0);
    assert_string_equal(manager->state, "STOPPING=1");
    waitpid(relay, NULL, 0);
    relay = 0;
}

TEST(tells_who_goes_on_after_an_upgrade)
{
    int successor;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    struct manager *manager = open_manager(false);
    start_relay(manager, "20000", -1, false);
    expect(manager, "READY=1");
    kill(relay, SIGUSR2);
    do
        receive(manager);
    while (sscanf(manager->state, "MAINPID=%d", &successor) != 1);
    assert_int_equal(manager->from.pid, relay); /* to the manager this is still the relay */
    assert_int_not_equal(successor, relay);
    waitpid(relay, NULL, 0);
    relay = successor;
    do
        receive(manager);
    while (manager->from.pid != successor || strcmp(manager->state, "WATCHDOG=1") != 0);
    end(manager);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    program = argv[1];
    return fixture_run();
}
