/* Hosts read their sockets in batches, as seen from the system's call. */
#ifdef __linux__
#define _GNU_SOURCE /* syscall */
#endif

#include "host_pair.h"

#include "causeway/native/socket.h"

#ifdef __linux__
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef __GLIBC__

#define FLOOD    6000
#define MOST     4096 /* datagrams that a host takes between two updates */
#define ON_WAY   64
#define TOO_LONG 4000

/* It floods a host while that takes datagrams, most of them empty or too long. */
static struct {
    struct cw_socket *socket;
    struct cw_address target;
    int sent;
} stranger;

/* One in four has a single byte. */
static void pour(int count)
{
    static const size_t sizes[] = {0, TOO_LONG, 0, 1};
    static const uint8_t junk[TOO_LONG] = {0xFF};
    for (; count > 0 && stranger.sent < FLOOD; count--, stranger.sent++)
        assert_ok(
            cw_socket_send(stranger.socket, &stranger.target, junk, sizes[stranger.sent % 4]));
}

static int reads, vain_reads;

/* In the place of the C library's. In a flood, another datagram comes for each that is read. */
int recvmmsg(int handle, struct mmsghdr *messages, unsigned count, int flags,
             struct timespec *timeout)
{
    const int received = (int)syscall(SYS_recvmmsg, handle, messages, count, flags, timeout);
    reads++;
    vain_reads += received <= 0;
    if (stranger.target.type != CW_ADDRESS_NONE)
        pour(received);
    return received;
}

static void open_stranger(void)
{
    struct cw_socket_config config = cw_socket_config_default();
    assert_ok(cw_address_parse("127.0.0.1", &config.address));
    stranger.socket = socket_with(&config);
    stranger.target.type = CW_ADDRESS_NONE;
    stranger.sent = 0;
}

static void begin_flood(const struct cw_address *target)
{
    stranger.target = *target;
    pour(ON_WAY);
}

static void close_stranger(void)
{
    stranger.target.type = CW_ADDRESS_NONE;
}

static struct cw_netcode_server_stats server_stats(struct host_pair *pair)
{
    struct cw_netcode_server_stats stats;
    cw_netcode_server_get_stats(cw_server_netcode(cw_host_server(pair->server)), &stats);
    return stats;
}

TEST(a_server_takes_only_so_many)
{
    struct host_pair pair;
    struct cw_server_event event;
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    open_stranger();
    begin_flood(cw_host_address(pair.server));
    assert_false(cw_host_next(pair.server, 0, &event));
    assert_int_equal(stranger.sent, MOST + ON_WAY);
    assert_int_equal(server_stats(&pair).datagrams_received, MOST);
    assert_int_equal(server_stats(&pair).bytes_received, MOST / 4);
    assert_false(cw_host_next(pair.server, 0, &event));
    assert_int_equal(server_stats(&pair).datagrams_received, MOST);
    cw_host_update(pair.server);
    assert_false(cw_host_next(pair.server, 0, &event));
    assert_int_equal(server_stats(&pair).datagrams_received, FLOOD);
    assert_int_equal(server_stats(&pair).bytes_received, FLOOD / 4);
    close_stranger();
}

/* The client takes the stranger for a server, and so tells where it is. */
TEST(a_client_takes_only_so_many)
{
    struct host_pair pair;
    struct cw_client_event event;
    struct cw_netcode_client_stats stats;
    struct cw_address address;
    uint8_t request[2 * TOO_LONG];
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    open_stranger();
    cw_socket_address(stranger.socket, &address);
    cw_address_format(&address, pair.address);
    assert_ok(host_pair_connect(&pair, 1));
    assert_true(cw_socket_wait(stranger.socket, PATIENCE));
    assert_true(cw_socket_receive(stranger.socket, request, sizeof request, &address) > 0);
    begin_flood(&address);
    assert_false(cw_client_host_next(pair.client, 0, &event));
    assert_int_equal(stranger.sent, MOST + ON_WAY);
    cw_netcode_client_get_stats(cw_client_netcode(cw_client_host_client(pair.client)), &stats);
    assert_int_equal(stats.datagrams_received, MOST);
    assert_int_equal(stats.bytes_received, MOST / 4);
    close_stranger();
}

TEST(what_was_read_to_the_end_is_not_read_again)
{
    static const uint8_t nonsense[] = {1, 2, 3};
    struct host_pair pair;
    struct cw_server_event event;
    host_pair_open(&pair, CW_FINGERPRINT_AUTO);
    open_stranger();
    for (int count = 1; count <= 33; count += 32) { /* a batch of the host is 32 */
        for (int i = 0; i < count; i++)
            cw_socket_send(stranger.socket, cw_host_address(pair.server), nonsense,
                           sizeof nonsense);
        const uint64_t wanted = count == 1 ? 1 : 34;
        reads = vain_reads = 0;
        while (server_stats(&pair).datagrams_received < wanted)
            assert_false(cw_host_next(pair.server, cw_clock_now(), &event));
        assert_int_equal(reads, count == 1 ? 1 : 2);
        assert_int_equal(vain_reads, 0);
    }
    close_stranger();
}

#else

TEST(there_is_no_call_to_see)
{
    skip();
}

#endif
