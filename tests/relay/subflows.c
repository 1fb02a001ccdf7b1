/* Subflows of which a test plays both the WebSockets and the page. */
#include "fixture.h"

#include "session/subflows.h"

#include <stdio.h>
#include <string.h>

/* This text says what went over the subflows: the number of the subflow, a star for a datagram that
   goes again, and the text of the datagram, as in "1a 2b* 3". */
static char went[4096];
static double now;

static struct rig {
    struct subflows *subflows;
    struct session_link links[SUBFLOWS_MAX];
} rig;

static bool ready(const struct session_link *link)
{
    return link->sessions == NULL;
}

static void send_batch(struct session_link *link, const struct datagram *datagrams, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t header[SUBFLOW_HEADER_SIZE];
        subflow_put_header(link->subflow, &datagrams[i], now, header);
        const size_t size = strlen(went);
        snprintf(went + size, sizeof went - size, "%s%d%.*s%s", size > 0 ? " " : "",
                 (int)(link->subflow - rig.subflows->each) + 1, (int)datagrams[i].size,
                 (const char *)datagrams[i].data, header[0] & SUBFLOW_REPEATED ? "*" : "");
    }
}

static const struct transport transport = {.ready = ready, .send_batch = send_batch};

static void end(void *subflows)
{
    for (size_t i = 0; i < SUBFLOWS_MAX; i++)
        subflow_close(rig.links[i].subflow);
    subflows_free(subflows);
}

static void open_subflows(unsigned count)
{
    now = 1.0;
    went[0] = '\0';
    rig = (struct rig){.subflows = own(subflows_create(), end)};
    for (unsigned i = 0; i < count; i++) {
        rig.links[i].transport = &transport;
        subflow_open(rig.subflows, i + 1, &rig.links[i]);
    }
}

/* Sends datagrams of one letter, one each 20 ms. */
static void send_letters(const char *letters)
{
    for (; *letters; letters++, now += 0.02) {
        const struct datagram datagram = {(const uint8_t *)letters, 1};
        send_batch(subflows_choose(rig.subflows, NULL)->link, &datagram, 1);
        subflows_update(rig.subflows);
    }
}

/* Takes a message of the page over a subflow, which confirms this much of each. */
static size_t confirm(unsigned number, const char sequences[SUBFLOWS_MAX], bool with_datagram)
{
    uint8_t message[SUBFLOW_HEADER_SIZE + 1] = {1};
    memcpy(message + 1, sequences, SUBFLOWS_MAX);
    assert_true(subflow_take_header(rig.links[number - 1].subflow, message,
                                    sizeof message - !with_datagram));
    return subflows_update(rig.subflows);
}

TEST(datagrams_go_where_least_is_unconfirmed)
{
    open_subflows(4);
    send_letters("abcdef");
    confirm(1, (const char[]){1, 0, 0, 0}, true);
    send_letters("g");
    confirm(1, (const char[]){1, 1, 0, 0}, true);
    rig.links[1].sessions = (struct sessions *)&rig; /* it is not ready */
    send_letters("h");
    assert_string_equal(went, "1a 2b 3c 4d 1e 2f 1g 3h");
}

TEST(an_answer_goes_where_something_came_first)
{
    open_subflows(4);
    for (const char *number = "323"; *number; number++)
        confirm((unsigned)(*number - '0'), (const char[]){0, 0, 0, 0}, true);
    send_letters("abcde");
    assert_string_equal(went, "3a 2b 1c 4d 1e");
}

TEST(what_is_late_goes_again_once_and_the_subflow_rests)
{
    open_subflows(3);
    send_letters("abcdef");
    went[0] = '\0';
    assert_int_equal(confirm(1, (const char[]){0, 1, 0, 0}, true), 1);
    assert_string_equal(went, "2a*"); /* six datagrams let one go again */
    assert_int_equal(confirm(2, (const char[]){0, 2, 2, 0}, true), 0);
    send_letters("ghijk");
    assert_null(strchr(went, '1'));
    assert_non_null(strstr(went, "d*")); /* the other one that waits on the first subflow */
    went[0] = '\0';
    confirm(3, (const char[]){2, 5, 5, 0}, true);
    send_letters("l");
    assert_string_equal(went, "1l");
}

TEST(a_subflow_alone_is_never_late)
{
    open_subflows(1);
    send_letters("abcdefgh");
    confirm(1, (const char[]){4, 0, 0, 0}, true);
    send_letters("i");
    assert_string_equal(went, "1a 1b 1c 1d 1e 1f 1g 1h 1i");
}

TEST(a_quarter_goes_again_at_most)
{
    open_subflows(2);
    for (int i = 0; i < 100; i++) {
        send_letters("x");
        const struct subflow *second = &rig.subflows->each[1];
        confirm(2, (const char[]){0, (char)second->sent, 0, 0}, true);
    }
    size_t again = 0;
    for (const char *at = went; (at = strchr(at, '*')); at++)
        again++;
    assert_in_range(again, 1, 25);
}

TEST(sequence_numbers_wrap)
{
    open_subflows(1);
    for (int i = 0; i < 1000; i++) {
        send_letters("x");
        confirm(1, (const char[]){(char)rig.subflows->each[0].sent, 0, 0, 0}, true);
        assert_int_equal(rig.subflows->each[0].kept.count, 0);
    }
}

TEST(an_overtaken_confirmation_changes_nothing)
{
    open_subflows(1);
    send_letters("abc");
    confirm(1, (const char[]){2, 0, 0, 0}, true);
    confirm(1, (const char[]){1, 0, 0, 0}, true);
    assert_int_equal(rig.subflows->each[0].kept.count, 1);
}

TEST(some_datagrams_that_came_are_confirmed_without_one_the_other_way)
{
    open_subflows(2);
    for (int i = 1; i < SUBFLOW_UNCONFIRMED_MAX; i++)
        assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, true), 0);
    assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, false), 0);
    assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, true), 1);
    assert_string_equal(went, "2"); /* it saves TCP a packet there */
}

TEST(what_is_kept_is_bounded)
{
    static const uint8_t longest[SESSION_DATAGRAM_MAX];
    open_subflows(1);
    send_letters(
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    assert_int_equal(rig.subflows->each[0].kept.count, SUBFLOW_KEPT_MAX);
    for (int i = 0; i < 10; i++) {
        const struct datagram datagram = {longest, sizeof longest};
        uint8_t header[SUBFLOW_HEADER_SIZE];
        subflow_put_header(rig.links[0].subflow, &datagram, now, header);
        assert_true(rig.subflows->each[0].kept.used <= SUBFLOW_KEPT_BYTES);
    }
}

TEST(any_header_will_do_no_harm)
{
    open_subflows(4);
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        uint8_t message[SUBFLOW_HEADER_SIZE + 1];
        for (size_t j = 0; j < sizeof message; j++)
            message[j] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
        const size_t size = (random >> 16) % (sizeof message + 1);
        assert_int_equal(subflow_take_header(rig.links[i % 4].subflow, message, size),
                         size >= SUBFLOW_HEADER_SIZE);
        subflows_update(rig.subflows);
        went[0] = '\0';
        send_letters("x");
    }
}
