#ifdef __linux__
#define _GNU_SOURCE /* SO_NO_CHECK */
#endif

#include "causeway/native/socket.h"

#include "causeway/native/clock.h"

#include "owned_native.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/socket.h>
#endif

/* Long enough for any loopback interface; a test that passes never waits so long. */
#define PATIENCE 10.0

static struct cw_address at(const char *text)
{
    struct cw_address address;
    assert_ok(cw_address_parse(text, &address));
    return address;
}

static struct cw_socket *open_at(const char *text)
{
    struct cw_socket_config config = cw_socket_config_default();
    if (text)
        config.address = at(text);
    return socket_with(&config);
}

static struct cw_address address_of(const struct cw_socket *socket)
{
    struct cw_address address;
    cw_socket_address(socket, &address);
    return address;
}

static bool has_ipv6(void)
{
    struct cw_socket *socket = NULL;
    struct cw_socket_config config = cw_socket_config_default();
    config.address = at("::1");
    if (cw_socket_open(&config, &socket) != CW_OK)
        return false;
    cw_socket_close(socket);
    return true;
}

static size_t receive(struct cw_socket *socket, struct cw_address *from, uint8_t *data,
                      size_t capacity)
{
    assert_true(cw_socket_wait(socket, PATIENCE));
    return cw_socket_receive(socket, data, capacity, from);
}

/* A datagram from a to b, and an answer to where it came from. */
static void talk(struct cw_socket *a, struct cw_socket *b, struct cw_address b_address)
{
    uint8_t data[64];
    struct cw_address from;
    assert_ok(cw_socket_send(a, &b_address, (const uint8_t *)"question", 8));
    assert_int_equal(receive(b, &from, data, sizeof data), 8);
    assert_memory_equal(data, "question", 8);
    assert_int_equal(from.type, b_address.type);
    assert_int_equal(from.port, address_of(a).port);

    assert_ok(cw_socket_send(b, &from, (const uint8_t *)"answer", 6));
    assert_int_equal(receive(a, &from, data, sizeof data), 6);
    assert_memory_equal(data, "answer", 6);
    assert_true(cw_address_equal(&from, &b_address));
}

TEST(ipv4_goes_both_ways)
{
    struct cw_socket *a = open_at("127.0.0.1");
    struct cw_socket *b = open_at("127.0.0.1");
    const struct cw_address address = address_of(b);
    assert_int_equal(address.type, CW_ADDRESS_IPV4);
    assert_int_not_equal(address.port, 0);
    talk(a, b, address);
}

TEST(ipv6_goes_both_ways)
{
    if (!has_ipv6())
        skip();
    struct cw_socket *a = open_at("[::1]");
    struct cw_socket *b = open_at("[::1]");
    assert_int_equal(address_of(b).type, CW_ADDRESS_IPV6);
    talk(a, b, address_of(b));
}

TEST(one_socket_serves_both_families)
{
    struct cw_socket *server = open_at(NULL);
    struct cw_socket *ipv4 = open_at("127.0.0.1");
    struct cw_address address = at("127.0.0.1");
    address.port = address_of(server).port;
    talk(ipv4, server, address);
    /* The socket of both families may begin, too. */
    talk(server, ipv4, address_of(ipv4));
    if (has_ipv6()) {
        struct cw_socket *ipv6 = open_at("[::1]");
        address = at("::1");
        address.port = address_of(server).port;
        talk(ipv6, server, address);
    }
}

/* A socket of IPv4 alone reaches it, and one that is opened at it is one of IPv4. */
TEST(a_mapped_address_is_its_ipv4_address)
{
    struct cw_socket *a = open_at("127.0.0.1");
    struct cw_socket *b = open_at("::ffff:127.0.0.1");
    struct cw_address mapped = at("::ffff:127.0.0.1");
    struct cw_address from;
    struct cw_address source;
    uint8_t data[8];
    assert_int_equal(address_of(b).type, CW_ADDRESS_IPV4);
    mapped.port = address_of(b).port;
    assert_ok(cw_socket_send(a, &mapped, (const uint8_t *)"question", 8));
    assert_int_equal(receive(b, &from, data, sizeof data), 8);
    assert_int_equal(from.type, CW_ADDRESS_IPV4);
    const struct cw_address sender = address_of(a);
    assert_true(cw_address_equal(&from, &sender));
    assert_ok(cw_socket_source(&mapped, &source));
    assert_int_equal(source.type, CW_ADDRESS_IPV4);
}

TEST(never_blocks)
{
    uint8_t data[16];
    struct cw_address from = at("1.2.3.4:5");
    struct cw_socket *socket = open_at("127.0.0.1");
    assert_int_equal(cw_socket_receive(socket, data, sizeof data, &from), 0);
    assert_false(cw_socket_wait(socket, 0));
    assert_true(cw_socket_handle(socket) >= 0);
    cw_socket_close(NULL);
}

TEST(empty_and_long_datagrams_are_skipped)
{
    struct cw_address from;
    struct cw_socket_stats stats;
    struct cw_socket *a = open_at("127.0.0.1");
    struct cw_socket *b = open_at("127.0.0.1");
    const struct cw_address address = address_of(b);
    static const uint8_t bytes[100] = {7};
    const size_t sizes[] = {0, 11, 0, 10, 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_ok(cw_socket_send(a, &address, bytes, sizes[i]));

    uint8_t *data = malloc(10);
    assert_non_null(data);
    assert_int_equal(receive(b, &from, data, 10), 10);
    assert_int_equal(receive(b, &from, data, 10), 1);
    assert_int_equal(cw_socket_receive(b, data, 10, &from), 0);
    free(data);
    cw_socket_get_stats(b, &stats);
    assert_int_equal(stats.datagrams_truncated, 1);
    assert_int_equal(stats.datagrams_received, 2);
    cw_socket_get_stats(a, &stats);
    assert_int_equal(stats.datagrams_sent, 5);
}

#define MANY 150

/* More than a system call takes, with some among them that cannot be sent. */
TEST(batches_keep_order_and_count)
{
    static uint8_t out[MANY][8], in[MANY][8];
    static uint8_t huge[70000];
    struct cw_socket_datagram sent[MANY], received[MANY];
    struct cw_socket_stats stats;
    struct cw_socket *a = open_at("127.0.0.1");
    struct cw_socket *b = open_at("127.0.0.1");
    for (size_t i = 0; i < MANY; i++) {
        memset(out[i], (int)i, sizeof out[i]);
        sent[i] = (struct cw_socket_datagram){
            .address = address_of(b), .data = out[i], .size = 1 + i % 8};
        received[i] = (struct cw_socket_datagram){.data = in[i], .capacity = 7};
    }
    sent[0].address = (struct cw_address){.type = CW_ADDRESS_NONE};
    sent[70].address = at("::1");
    sent[71].data = huge;
    sent[71].size = sizeof huge;
    sent[149].address = (struct cw_address){.type = CW_ADDRESS_NONE};
    assert_int_equal(cw_socket_send_batch(a, sent, MANY), MANY);
    cw_socket_get_stats(a, &stats);
    assert_int_equal(stats.datagrams_refused, 4);
    assert_int_equal(stats.datagrams_sent, MANY - 4);

    const size_t expected = MANY - 4;
    size_t count = 0;
    while (count < expected) {
        assert_true(cw_socket_wait(b, PATIENCE));
        count += cw_socket_receive_batch(b, received + count, MANY - count);
    }
    assert_int_equal(count, expected);
    for (size_t i = 0, number = 0; i < count; i++, number++) {
        while (number == 0 || number == 70 || number == 71)
            number++;
        /* Every eighth is too long for its place: 7, 15, ... 143; 71 was not sent. */
        assert_int_equal(received[i].size, number % 8 == 7 ? 0 : 1 + number % 8);
        assert_int_equal(received[i].data[0], number);
        assert_int_equal(received[i].address.port, address_of(a).port);
    }
    /* The buffers keep their places. */
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(received[i].data, in[i]);
    cw_socket_get_stats(b, &stats);
    assert_int_equal(stats.datagrams_truncated, 17);
    assert_int_equal(stats.datagrams_received, expected - 17);
}

#define LONG 1232

/* Datagrams in a row to the same socket, of one size or not. */
static const struct {
    size_t count, to, size;
} runs[] = {{3, 0, 100}, {1, 0, 40}, {2, 0, 100},  {2, 1, 100},   {2, 0, 0},
            {1, 0, 5},   {1, 0, 6},  {2, 1, LONG}, {55, 0, LONG}, {1, 0, 7}};

static void leave_out_checksums(struct cw_socket *socket, int yes)
{
#ifdef SO_NO_CHECK
    assert_int_equal(
        setsockopt((int)cw_socket_handle(socket), SOL_SOCKET, SO_NO_CHECK, &yes, sizeof yes), 0);
#else
    (void)socket;
    (void)yes;
#endif
}

static void expect_run(struct cw_socket *socket, size_t run, uint8_t *number)
{
    uint8_t data[2 * LONG];
    struct cw_address from;
    for (size_t i = 0; i < runs[run].count; i++, ++*number) {
        if (runs[run].size == 0)
            continue;
        assert_int_equal(receive(socket, &from, data, sizeof data), runs[run].size);
        for (size_t j = 0; j < runs[run].size; j++)
            assert_int_equal(data[j], *number);
    }
}

/* The system may take those of one size together, and hands them out one by one. A socket without
   checksums stands for a system that refuses to. */
TEST(runs_stay_apart)
{
    static uint8_t bytes[MANY][LONG];
    struct cw_socket_datagram sent[MANY];
    struct cw_socket_stats stats;
    for (int no_checksums = 0; no_checksums <= 1; no_checksums++) {
        struct cw_socket *from = open_at("127.0.0.1");
        struct cw_socket *to[] = {open_at("127.0.0.1"), open_at("127.0.0.1")};
        uint8_t count = 0, number = 0;
        leave_out_checksums(from, no_checksums);
        for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
            for (size_t i = 0; i < runs[run].count; i++, count++) {
                memset(bytes[count], count, LONG);
                sent[count] = (struct cw_socket_datagram){.address = address_of(to[runs[run].to]),
                                                          .data = bytes[count],
                                                          .size = runs[run].size};
            }
        }
        assert_int_equal(cw_socket_send_batch(from, sent, count), count);
        cw_socket_get_stats(from, &stats);
        assert_int_equal(stats.datagrams_sent, count);
        assert_int_equal(stats.datagrams_refused, 0);
        for (size_t run = 0; run < sizeof runs / sizeof *runs; run++)
            expect_run(to[runs[run].to], run, &number);
    }
}

TEST(failures_have_names)
{
    struct cw_socket *second = NULL;
    struct cw_socket *first = open_at("127.0.0.1");
    struct cw_socket_config config = cw_socket_config_default();
    config.address = address_of(first);
    assert_int_equal(cw_socket_open(&config, &second), CW_ERROR_ADDRESS_IN_USE);
    if (has_ipv6()) {
        config.address = at("2001:db8::1");
        assert_int_equal(cw_socket_open(&config, &second), CW_ERROR_ADDRESS_NOT_HERE);
    }
#ifndef _WIN32 /* Wine gives everyone any address of IPv4 */
    config.address = at("192.0.2.1");
    assert_int_equal(cw_socket_open(&config, &second), CW_ERROR_ADDRESS_NOT_HERE);
#endif
    assert_null(second);

    static const uint8_t huge[70000];
    const struct cw_address ipv6 = at("[::1]:5");
    const struct cw_address itself = address_of(first);
    assert_int_equal(cw_socket_send(first, &ipv6, huge, 1), CW_ERROR_SEND);
    assert_int_equal(cw_socket_send(first, &itself, huge, sizeof huge), CW_ERROR_SEND);
}

TEST(buffers_are_told)
{
    struct cw_socket_stats small, large;
    struct cw_socket *socket = NULL;
    struct cw_socket_config config = cw_socket_config_default();
    config.send_buffer_size = config.receive_buffer_size = 16384;
    socket = socket_with(&config);
    cw_socket_get_stats(socket, &small);
    socket = open_at(NULL);
    cw_socket_get_stats(socket, &large);
    assert_true(small.send_buffer_size >= 16384 && small.receive_buffer_size >= 16384);
    assert_true(large.send_buffer_size > small.send_buffer_size);
    assert_true(large.receive_buffer_size > small.receive_buffer_size);
}

static void *refuse(void *context, size_t size)
{
    (void)context, (void)size;
    return NULL;
}

TEST(an_empty_allocator_is_an_error)
{
    struct cw_socket *socket = NULL;
    struct cw_socket_config config = cw_socket_config_default();
    config.allocator.allocate = refuse;
    assert_int_equal(cw_socket_open(&config, &socket), CW_ERROR_NO_MEMORY);
    assert_null(socket);
}

TEST(names_are_resolved)
{
    struct cw_address address;
    assert_ok(cw_resolve("1.2.3.4:5", &address));
    assert_int_equal(address.port, 5);
    assert_ok(cw_resolve("[::1]:6", &address));
    assert_int_equal(address.type, CW_ADDRESS_IPV6);
    assert_ok(cw_resolve("localhost:40000", &address));
    assert_int_not_equal(address.type, CW_ADDRESS_NONE);
    assert_int_equal(address.port, 40000);
    assert_ok(cw_resolve("localhost", &address));
    assert_int_equal(address.port, 0);

    static const char *const wrong[] = {"",
                                        ":5",
                                        "localhost:",
                                        "localhost:x",
                                        "localhost:65536",
                                        "localhost:05",
                                        "localhost:5:6",
                                        "[localhost]:5",
                                        "127.1:5",
                                        "0x7f.1",
                                        "0x7f000001:5",
                                        "1.2.3.4.5",
                                        "a b",
                                        "localhost:0000000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        address.port = 9;
        assert_int_equal(cw_resolve(wrong[i], &address), CW_ERROR_ADDRESS);
        assert_int_equal(address.port, 9);
    }
}

TEST(the_clock_does_not_go_back)
{
    double last = cw_clock_now();
    for (int i = 0; i < 1000; i++) {
        const double now = cw_clock_now();
        assert_true(now >= last);
        last = now;
    }
}
