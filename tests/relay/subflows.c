/* Subflows of which a test plays both the WebSockets and the page. */
#include "fixture.h"

#include "session/subflows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This text says what went over the subflows: the number of the subflow, the text of the datagram,
   and a plus for a parity, as in "1a 2b+ 3". */
static char went[4096];
static uint8_t messages[128][SUBFLOW_MESSAGE_MAX]; /* the latest that went, and their sizes */
static size_t sizes[128];
static size_t count_of_messages;
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
        const size_t at = count_of_messages++ % 128;
        sizes[at] = subflow_put(link->subflow, &datagrams[i], now, messages[at]);
        const size_t size = strlen(went);
        snprintf(went + size, sizeof went - size, "%s%d%.*s%s", size > 0 ? " " : "",
                 (int)(link->subflow - rig.subflows->each) + 1, (int)datagrams[i].size,
                 (const char *)datagrams[i].data, messages[at][1] & 0x80 ? "+" : "");
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
    count_of_messages = 0;
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
        subflows_send(rig.subflows, NULL, &datagram, 1);
    }
}

/* Takes a message of the page over a subflow, which confirms a datagram of each. */
static size_t confirm(unsigned number, const char sequences[SUBFLOWS_MAX], bool with_datagram)
{
    struct subflow_news news;
    uint8_t message[SUBFLOW_HEADER_SIZE + 1] = {1};
    memcpy(message + 2, sequences, SUBFLOWS_MAX);
    assert_true(subflow_take(rig.links[number - 1].subflow, message,
                             sizeof message - !with_datagram, &news));
    return subflows_update(rig.subflows);
}

static size_t unconfirmed(unsigned number)
{
    return rig.subflows->each[number - 1].unconfirmed.count;
}

TEST(datagrams_take_turns_on_subflows_that_are_ready)
{
    open_subflows(4);
    send_letters("abcdef");
    rig.links[2].sessions = (struct sessions *)&rig; /* it is not ready */
    send_letters("gh");
    assert_string_equal(went, "1a 2b 3c 4d 2e 3f 4g 2h");
}

TEST(a_late_subflow_rests_and_parity_goes_for_a_while)
{
    open_subflows(4);
    send_letters("abcdef");
    went[0] = '\0';
    confirm(2, (const char[]){0, 5, 6, 4}, true);
    send_letters("ghijk");
    assert_string_equal(went, "4g+ 2h 3i+ 4j 2k+");
    confirm(2, (const char[]){1, 11, 9, 10}, true);
    for (int i = 0; i < SUBFLOW_PROTECTED; i++) {
        went[0] = '\0';
        send_letters("l");
        assert_true(i > 0 || strcmp(went, "1l") == 0);
        const char low = (char)rig.subflows->parity.sent;
        confirm(2, (const char[]){low, low, low, low}, false);
    }
    went[0] = '\0';
    send_letters("mn");
    assert_null(strchr(went, '+'));
}

TEST(a_subflow_alone_is_never_late)
{
    open_subflows(1);
    send_letters("abcdefgh");
    confirm(1, (const char[]){4, 0, 0, 0}, true);
    send_letters("i");
    assert_string_equal(went, "1a 1b 1c 1d 1e 1f 1g 1h 1i");
}

/* Gives another end all messages but one. Buffers of the exact size show a byte that is read behind
   a message. */
static void take_all_but(unsigned lost, const struct datagram *sent, unsigned count)
{
    struct session_link link = {.transport = &transport};
    struct subflows *other = subflows_create();
    struct subflow_news news;
    subflow_open(other, 1, &link);
    for (unsigned i = 0; i < count; i++) {
        if (i == lost)
            continue;
        uint8_t *message = malloc(sizes[i]);
        memcpy(message, messages[i], sizes[i]);
        assert_true(subflow_take(link.subflow, message, sizes[i], &news));
        assert_int_equal(news.datagram.size, sent[i].size);
        assert_memory_equal(news.datagram.data, sent[i].data, sent[i].size);
        const bool recovers = i == 2 * (lost / 2) + 2;
        assert_int_equal(news.recovered.size, recovers ? sent[lost].size : 0);
        if (recovers)
            assert_memory_equal(news.recovered.data, sent[lost].data, sent[lost].size);
        free(message);
    }
    subflow_close(link.subflow);
    subflows_free(other);
}

TEST(parity_brings_either_of_a_pair)
{
    static const uint8_t longest[SESSION_DATAGRAM_MAX] = "the longest datagram";
    static const struct datagram sent[] = {{(const uint8_t *)"a longer one", 12},
                                           {(const uint8_t *)"ab", 2},
                                           {longest, sizeof longest},
                                           {(const uint8_t *)"c", 1},
                                           {longest, sizeof longest}};
    open_subflows(4);
    rig.subflows->protect = SUBFLOW_PROTECTED;
    subflows_send(rig.subflows, NULL, sent, 5);
    for (unsigned lost = 0; lost <= 5; lost++)
        take_all_but(lost, sent, 5);
}

TEST(sequence_numbers_wrap)
{
    open_subflows(4);
    for (int i = 0; i < 2 * PARITY_SEQUENCE_MASK; i++) {
        went[0] = '\0';
        send_letters("x");
        const char low = (char)rig.subflows->parity.sent;
        confirm(1, (const char[]){low, low, low, low}, false);
        for (unsigned number = 1; number <= 4; number++)
            assert_int_equal(unconfirmed(number), 0);
    }
}

TEST(an_overtaken_confirmation_changes_nothing)
{
    open_subflows(1);
    send_letters("abc");
    confirm(1, (const char[]){2, 0, 0, 0}, true);
    confirm(1, (const char[]){1, 0, 0, 0}, true);
    assert_int_equal(unconfirmed(1), 1);
}

TEST(some_datagrams_that_came_are_confirmed_without_one_the_other_way)
{
    open_subflows(2);
    for (int i = 1; i < SUBFLOW_CONFIRM_AFTER; i++)
        assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, true), 0);
    assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, false), 0);
    assert_int_equal(confirm(2, (const char[]){0, 0, 0, 0}, true), 1);
    assert_string_equal(went, "1");
}

TEST(what_is_known_of_a_subflow_is_bounded)
{
    open_subflows(1);
    for (int i = 0; i < 2 * SUBFLOW_UNCONFIRMED_MAX; i++)
        send_letters("a");
    assert_int_equal(unconfirmed(1), SUBFLOW_UNCONFIRMED_MAX);
}

TEST(any_header_will_do_no_harm)
{
    open_subflows(4);
    uint32_t random = 1;
    for (int i = 0; i < 20000; i++) {
        uint8_t message[SUBFLOW_HEADER_SIZE + SUBFLOW_PARITY_SIZES + 8];
        for (size_t j = 0; j < sizeof message; j++)
            message[j] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
        const size_t size = (random >> 16) % (sizeof message + 1);
        message[7] = message[9] = 0; /* the sizes of a parity are often right */
        struct subflow_news news;
        if (subflow_take(rig.links[i % 4].subflow, message, size, &news))
            assert_true(news.datagram.size <= size && news.recovered.size <= size);
        subflows_update(rig.subflows);
        went[0] = '\0';
        send_letters("x");
    }
}
