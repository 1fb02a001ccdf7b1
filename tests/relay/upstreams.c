/* The allow-list of game servers: the servers that it holds, and those that it never does. */
#define OWN_MAIN
#include "loop_rig.h"

#include "session/server.h"
#include "session/upstreams.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* The answer of this test's resolver: one address, or nothing. */
static _Atomic uint32_t answer;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)service;
    (void)hints;
    if (answer == 0 || strcmp(name, "game.example") != 0)
        return EAI_NONAME;
    struct {
        struct addrinfo info;
        struct sockaddr_in address;
    } *found = calloc(1, sizeof *found);
    found->address.sin_family = AF_INET;
    found->address.sin_addr.s_addr = htonl(answer);
    found->info.ai_family = AF_INET;
    found->info.ai_addr = (struct sockaddr *)&found->address;
    found->info.ai_addrlen = sizeof found->address;
    *out = &found->info;
    return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
    free(found);
}

/* False when the system of this test does not tell this machine's addresses. */
static bool answers = true;

int getifaddrs(struct ifaddrs **out)
{
    static struct sockaddr_in v4 = {.sin_family = AF_INET};
    static struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    static struct sockaddr other = {.sa_family = AF_PACKET};
    static struct ifaddrs entries[] = {
        {.ifa_next = entries + 1, .ifa_name = "none"},
        {.ifa_next = entries + 2, .ifa_addr = &other},
        {.ifa_next = entries + 3, .ifa_addr = (struct sockaddr *)&v4},
        {.ifa_addr = (struct sockaddr *)&v6},
    };
    assert_int_equal(inet_pton(AF_INET, "10.1.2.3", &v4.sin_addr), 1);
    assert_int_equal(inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr), 1);
    *out = entries;
    return answers ? 0 : -1;
}

void freeifaddrs(struct ifaddrs *entries)
{
    (void)entries;
}

static struct loop *loop;

static void read_server(const char *text, struct socket_address *out)
{
    if (!session_server_read(text, strlen(text), out))
        fail_msg("not read: %s", text);
}

static void destroy(void *upstreams)
{
    upstreams_destroy(upstreams);
}

/* Makes a list that the test owns; NULL when that fails. */
static struct upstreams *create(const char *const *texts, size_t count)
{
    struct upstream_list list = {.count = 0};
    const struct upstream_rule *unknown;
    const char *error;
    for (size_t i = 0; i < count; i++)
        assert_true(upstream_list_add(&list, texts[i]));
    return own(upstreams_create(&list, loop, &unknown, &error), destroy);
}

/* Returns where a page gets that asks for this; "" when it gets nowhere. */
static const char *chosen(const struct upstreams *upstreams, const char *asked)
{
    static char text[SOCKET_ADDRESS_TEXT];
    struct socket_address server = {.size = 0};
    struct socket_address out;
    if (asked)
        read_server(asked, &server);
    if (!upstreams_choose(upstreams, &server, &out))
        return "";
    socket_address_format(&out, text);
    return text;
}

TEST(a_server_has_one_form)
{
    static const char *const good[][2] = {
        {"10.0.0.5_7000", "10.0.0.5:7000"}, {"2001-db8--5_7000", "[2001:db8::5]:7000"},
        {"--1_65535", "[::1]:65535"},       {"--ffff-10.0.0.5_1", "10.0.0.5:1"},
        {"--ffff-a00-5_1", "10.0.0.5:1"},
    };
    static const char *const bad[] = {
        "",           "_",           "10.0.0.5",        "10.0.0.5_",      "10.0.0.5_0",
        "_7000",      "10.0.0_7000", "10.0.0.5_65536",  "10.0.0.5_7000x", "10.0.0.5_-1",
        "::1_7000",   "[--1]_7000",  "10.0.0.5:7000",   "game_7000",      "fe80--1%lo_7000",
        "127.1_7000", "0x7f.1_7000", "2130706433_7000", "10.0.0.5_7_7",   "10.0.0.05_7000",
    };
    struct socket_address server;
    char text[SOCKET_ADDRESS_TEXT];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        read_server(good[i][0], &server);
        socket_address_format(&server, text);
        assert_string_equal(text, good[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (session_server_read(bad[i], strlen(bad[i]), &server))
            fail_msg("read: %s", bad[i]);
        assert_int_equal(server.size, 0);
    }
}

TEST(rules_have_three_forms)
{
    static const char *const good[] = {"10.0.0.5:7000",
                                       "[::1]:7000",
                                       "game.example:7000",
                                       "10.0.0.0/16:7000",
                                       "10.0.0.5:1-65535",
                                       "localhost:7000",
                                       "[2001:db8::]/32:7000-7001",
                                       "10.0.0.5:7000,client-address=spp"};
    static const char *const bad[] = {
        "10.0.0.5",
        "10.0.0.5:0",
        "10.0.0.5:7001-7000",
        "10.0.0.5:65536",
        "10.0.0.1/16:7000",
        "10.0.0.0/33:7000",
        ":7000",
        "2001:db8::5:7000",
        "10.0.0.5:7000-",
        "10.0.0.5:-7000",
        "10.0.0.5:7000,7001",
        "game/8:7000",
        "ga\"me:7000",
        "10.0.0.5:0-7000",
        "10.0.0.5:7000-7-8",
        "http://game:7000",
        "10.0.0.0/:7000",
        "10.0.0.5:7000,",
        "10.0.0.5:7000,client-address=v1",
        "10.0.0.5,client-address=spp",
        "10.0.0.5:7000,client=spp",
    };
    struct upstream_list list = {.count = 0};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!upstream_list_add(&list, good[i]))
            fail_msg("refused: %s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (upstream_list_add(&list, bad[i]))
            fail_msg("accepted: %s", bad[i]);
    }
    while (list.count < UPSTREAM_LIST_MAX)
        assert_true(upstream_list_add(&list, good[0]));
    assert_false(upstream_list_add(&list, good[0]));
}

TEST(a_single_server_takes_all)
{
    static const char *const one[] = {"10.0.0.5:7000"};
    struct upstreams *upstreams = create(one, 1);
    assert_string_equal(chosen(upstreams, NULL), "10.0.0.5:7000");
    assert_string_equal(chosen(upstreams, "169.254.169.254_80"), "10.0.0.5:7000");
}

TEST(of_several_the_page_names_one)
{
    static const char *const several[] = {"10.0.0.0/16:7000-7999", "[2001:db8::]/32:7000",
                                          "127.0.0.2:9"};
    static const char *const refused[] = {
        "10.1.0.0_7000",      "10.0.0.5_6999",   "10.0.0.5_8000",   "127.0.0.1_9",
        "127.0.0.2_7000",     "0.0.0.0_7000",    "--1_9",           "169.254.169.254_7000",
        "--ffff-127.0.0.1_9", "--127.0.0.2_9",   "2001-db9--_7000", "64-ff9b--10.0.0.5_7000",
        "--10.0.0.5_7000",    "2001-db8--_7001",
    };
    struct upstreams *upstreams = create(several, 3);
    assert_string_equal(chosen(upstreams, NULL), "");
    assert_string_equal(chosen(upstreams, "10.0.255.255_7999"), "10.0.255.255:7999");
    assert_string_equal(chosen(upstreams, "--ffff-10.0.0.5_7000"), "10.0.0.5:7000");
    assert_string_equal(chosen(upstreams, "2001-db8--5_7000"), "[2001:db8::5]:7000");
    assert_string_equal(chosen(upstreams, "127.0.0.2_9"), "127.0.0.2:9");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (*chosen(upstreams, refused[i]))
            fail_msg("allowed: %s", refused[i]);
    }
}

/* Addresses that mean this machine or this link are not in a network of others. */
TEST(a_wide_prefix_holds_no_local_addresses)
{
    static const char *const wide[] = {"0.0.0.0/0:1-65535", "[::]/0:1-65535"};
    static const char *const narrow[] = {"127.0.0.0/8:1-65535", "[fe80::]/64:1-65535"};
    static const char *const local[] = {
        "0.0.0.0_7000",
        "0.1.2.3_7000",
        "127.0.0.1_7000",
        "127.255.0.1_7000",
        "169.254.169.254_80",
        "224.0.0.1_7000",
        "--_7000",
        "--1_7000",
        "fe80--1_7000",
        "ff02--1_7000",
        "255.255.255.255_7000",
        "--ffff-127.0.0.1_80",
        "--ffff-a9fe-a9fe_80",
    };
    struct upstreams *upstreams = create(wide, 2);
    assert_string_equal(chosen(upstreams, "8.8.8.8_53"), "8.8.8.8:53");
    assert_string_equal(chosen(upstreams, "2001-db8--5_7000"), "[2001:db8::5]:7000");
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        if (*chosen(upstreams, local[i]))
            fail_msg("allowed: %s", local[i]);
    }
    /* The prefix of all IPv6 addresses has no IPv4 address in it. */
    upstreams = create(wide + 1, 1);
    assert_string_equal(chosen(upstreams, "8.8.8.8_53"), "");
    upstreams = create(narrow, 2);
    assert_string_equal(chosen(upstreams, "127.0.0.1_7000"), "127.0.0.1:7000");
    assert_string_equal(chosen(upstreams, "fe80--1_7000"), "[fe80::1]:7000");
}

/* The relay's own addresses are listed one by one. */
TEST(a_prefix_holds_no_own_addresses)
{
    static const char *const ranges[] = {"10.0.0.0/8:7000-7001", "[2001:db8::]/32:7000-7001",
                                         "[64:ff9b::]/96:7000-7001"};
    static const char *const single[] = {"10.0.0.0/8:7000", "10.1.2.3:7001",
                                         "[2001:db8::7]:7000-7001"};
    static const char *const own[] = {"10.1.2.3_7000", "2001-db8--7_7000",
                                      "64-ff9b--10.1.2.3_7000"};
    struct upstreams *upstreams = create(ranges, 3);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (*chosen(upstreams, own[i]))
            fail_msg("allowed: %s", own[i]);
    }
    assert_string_equal(chosen(upstreams, "10.1.2.4_7000"), "10.1.2.4:7000");
    assert_string_equal(chosen(upstreams, "2001-db8--8_7000"), "[2001:db8::8]:7000");
    assert_string_equal(chosen(upstreams, "64-ff9b--10.1.2.4_7000"), "[64:ff9b::a01:204]:7000");
    upstreams = create(single, 3);
    assert_string_equal(chosen(upstreams, "10.1.2.3_7000"), "");
    assert_string_equal(chosen(upstreams, "10.1.2.3_7001"), "10.1.2.3:7001");
    assert_string_equal(chosen(upstreams, "2001-db8--7_7000"), "[2001:db8::7]:7000");
    /* The same holds when the system does not tell which these are, as for want of memory. */
    answers = false;
    upstreams = create(ranges, 3);
    assert_string_equal(chosen(upstreams, "10.1.2.3_7000"), "10.1.2.3:7000");
    answers = true;
}

/* An IPv6 address that leads to an IPv4 address is judged by that. */
TEST(embedded_addresses_are_judged_as_what_they_embed)
{
    static const char *const wide[] = {"[::]/0:1-65535", "192.0.2.0/24:1-65535"};
    static const char *const exact[] = {"[64:ff9b::7f00:1]:7000", "[::127.0.0.1]:7000",
                                        "[::]/0:7001"};
    static const char *const refused[] = {
        "--127.0.0.1_7000",
        "--7f00-1_7000",
        "--169.254.169.254_80",
        "--10.1.2.3_7000",
        "--ffff-127.0.0.1_7000",
        "--ffff-0-127.0.0.1_7000",
        "64-ff9b--7f00-1_7000",
        "64-ff9b--127.0.0.1_7000",
        "64-ff9b--169.254.169.254_80",
        "64-ff9b--224.0.0.1_7000",
        "64-ff9b--0.0.0.0_7000",
        "64-ff9b--10.1.2.3_7000",
        "64-ff9b-1--127.0.0.1_7000",
        "64-ff9b-1--10.1.2.3_7000",
        "64-ff9b-1-7f00-0-100--_7000", /* a prefix of /48 */
        "64-ff9b-1-7f-0-1--_7000",     /* a prefix of /56 */
        "64-ff9b-1-0-7f-0-100-0_7000", /* a prefix of /64 */
        "2002-7f00-1--_7000",
        "2002-a9fe-a9fe--1_7000",
        "2002-e000-1--_7000",
        "2002-a01-203--1_7000",
        "2001-0-7f00-1--_7000",
        "2001--80ff-fffe_7000", /* an address of Teredo has the client's bits inverted */
        "2001-0-808-808-0-0-f5fe-fdfc_7000",
    };
    static const char *const allowed[][2] = {
        {"64-ff9b--8.8.8.8_7000", "[64:ff9b::808:808]:7000"},
        {"64-ff9b-1--8.8.8.8_7000", "[64:ff9b:1::808:808]:7000"},
        {"2002-808-808--1_7000", "[2002:808:808::1]:7000"},
        {"2001-0-808-808-0-0-f7f7-f7f7_7000", "[2001:0:808:808::f7f7:f7f7]:7000"},
        {"2001-db8--7f00-1_7000", "[2001:db8::7f00:1]:7000"},
        {"192.0.2.1_7000", "192.0.2.1:7000"},
    };
    struct upstreams *upstreams = create(wide, 2);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (*chosen(upstreams, refused[i]))
            fail_msg("allowed: %s", refused[i]);
    }
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        assert_string_equal(chosen(upstreams, allowed[i][0]), allowed[i][1]);
    upstreams = create(exact, 3);
    assert_string_equal(chosen(upstreams, "64-ff9b--7f00-1_7000"), "[64:ff9b::7f00:1]:7000");
    assert_string_equal(chosen(upstreams, "--127.0.0.1_7000"), "[::127.0.0.1]:7000");
    assert_string_equal(chosen(upstreams, "64-ff9b--7f00-1_7001"), "");
}

static void stop(void *context)
{
    (void)context;
    loop_stop(loop);
}

/* Looks all names up again, as the relay does by itself from time to time. */
static void look_up_again(struct upstreams *upstreams, const char *text)
{
    struct upstream_list list = {.count = 0};
    struct loop_timer timer = {.expired = stop};
    assert_true(upstream_list_add(&list, text));
    upstreams_set(upstreams, &list);
    loop_timer_start(loop, &timer, 0.3);
    loop_run(loop, NULL, NULL);
}

TEST(names_are_looked_up_again)
{
    static const char *const name[] = {"game.example:7000"};
    static const char *const range[] = {"game.example:7000-7001"};
    struct upstream_list list = {.count = 0};
    const struct upstream_rule *unknown;
    const char *error;
    answer = 0;
    assert_true(upstream_list_add(&list, name[0]));
    assert_null(upstreams_create(&list, loop, &unknown, &error));
    assert_string_equal(unknown->name, "game.example");
    assert_non_null(error);

    answer = 0x0a000001;
    struct upstreams *upstreams = create(name, 1);
    assert_string_equal(chosen(upstreams, NULL), "10.0.0.1:7000");
    answer = 0x0a000002;
    look_up_again(upstreams, name[0]);
    assert_string_equal(chosen(upstreams, NULL), "10.0.0.2:7000");
    answer = 0; /* while the resolver fails, the known addresses stay */
    look_up_again(upstreams, name[0]);
    assert_string_equal(chosen(upstreams, NULL), "10.0.0.2:7000");
    answer = 0x0a000003;
    look_up_again(upstreams, range[0]);
    assert_string_equal(chosen(upstreams, NULL), "");
    assert_string_equal(chosen(upstreams, "10.0.0.3_7001"), "10.0.0.3:7001");
    assert_string_equal(chosen(upstreams, "10.0.0.2_7001"), "");
    /* A new name reaches nothing before its address is known. */
    answer = 0;
    look_up_again(upstreams, "other.example:7000");
    assert_string_equal(chosen(upstreams, NULL), "");
}

TEST(one_name_of_several_may_be_unknown)
{
    static const char *const some[] = {"other.example:7000", "game.example:7001", "10.0.0.9:7002"};
    struct upstream_list list = {.count = 0};
    const struct upstream_rule *unknown;
    const char *error;
    answer = 0;
    struct upstreams *upstreams = create(some, 3);
    assert_non_null(upstreams);
    assert_string_equal(chosen(upstreams, "10.0.0.9_7002"), "10.0.0.9:7002");
    assert_string_equal(chosen(upstreams, "10.0.0.4_7001"), "");

    answer = 0x0a000004;
    upstreams = create(some, 2);
    assert_non_null(upstreams);
    assert_string_equal(chosen(upstreams, "10.0.0.4_7001"), "10.0.0.4:7001");

    answer = 0; /* it is an error when no name is known at all */
    for (size_t i = 0; i < 2; i++)
        assert_true(upstream_list_add(&list, some[i]));
    assert_null(upstreams_create(&list, loop, &unknown, &error));
    assert_string_equal(unknown->name, "other.example");
    assert_non_null(error);
}

static int create_loop(void **state)
{
    (void)state;
    loop = loop_rig();
    return 0;
}

static int destroy_loop(void **state)
{
    (void)state;
    loop_destroy(loop);
    return 0;
}

int main(void)
{
    return cmocka_run_group_tests(fixture_tests, create_loop, destroy_loop);
}
