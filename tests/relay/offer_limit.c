/* The choice of the offers that are let through while some make too many. */
#include "fixture.h"

#include "rtc/offer_limit.h"

#include <stdio.h>

static struct socket_address address_of(unsigned number)
{
    char text[64];
    struct socket_address address;
    bool has_port;
    snprintf(text, sizeof text, "10.%u.%u.%u", number >> 16, number >> 8 & 255, number & 255);
    assert_true(socket_address_parse(text, &address, &has_port));
    return address;
}

/* Returns how many of `count` offers in a row get through. */
static unsigned offer(struct offer_limit *limit, unsigned address, unsigned count, double now)
{
    const struct socket_address client = address_of(address);
    unsigned passed = 0;
    unsigned retry_after;
    while (count-- > 0)
        if (offer_limit_pass(limit, &client, now, &retry_after))
            passed++;
        else
            assert_in_range(retry_after, 1, 600);
    return passed;
}

TEST(an_address_has_its_share)
{
    struct offer_limit *limit = offer_limit_create(1000, 100);
    /* A school behind one address makes its offers, twice over. */
    assert_int_equal(offer(limit, 1, 150, 0.0), 150);
    const unsigned more = offer(limit, 1, 1000, 0.0);
    assert_in_range(more, 1, 49);
    /* After that some three a second get through, which are not saved up beyond the first
       number. */
    double now = 0.0;
    unsigned passed = 0;
    for (int i = 0; i < 1200; i++)
        passed += offer(limit, 1, 10, now += 0.1);
    assert_in_range(passed, 300, 600);
    assert_int_equal(offer(limit, 2, 30, now), 30); /* the other address is not affected */
    assert_true(offer(limit, 1, 1000, now + 3600.0) <= 200);
    offer_limit_destroy(limit);
    offer_limit_destroy(NULL);
}

TEST(it_is_told_when_to_come_again)
{
    struct offer_limit *limit = offer_limit_create(1000, 1);
    const struct socket_address client = address_of(1);
    unsigned retry_after;
    double now = 10.0;
    while (offer_limit_pass(limit, &client, now, &retry_after))
        continue;
    assert_true(offer_limit_pass(limit, &client, now + retry_after, &retry_after));
    offer_limit_destroy(limit);
}

#define FLOOD_SECONDS 30

/* `flooders` addresses make offers as fast as they may; every tenth of a second somebody comes for
   the first time. Returns how many of those are refused after `settled` seconds. The number of
   offers that pass is bounded in any case. */
static unsigned flood(unsigned flooders, double settled)
{
    struct offer_limit *limit = offer_limit_create(1000, 100);
    unsigned refused = 0;
    unsigned passed = 0;
    unsigned newcomer = 1u << 20;
    for (int tenth = 0; tenth < 10 * FLOOD_SECONDS; tenth++) {
        const double now = tenth / 10.0;
        for (unsigned i = 0; i < flooders; i++)
            passed += offer(limit, i, 2, now);
        if (offer(limit, newcomer++, 1, now) == 0 && now >= settled)
            refused++;
    }
    offer_limit_destroy(limit);
    assert_true(passed <= 1000 + 100 * FLOOD_SECONDS);
    return refused;
}

TEST(newcomers_get_in_beside_floods)
{
    assert_int_equal(flood(25, 0.0), 0);
    /* The first offers of so many new addresses look like those of newcomers. */
    assert_int_equal(flood(1000, 15.0), 0);
    flood(5000, 0.0);
}

TEST(a_reverse_proxy_is_no_single_client)
{
    struct offer_limit *limit = offer_limit_create(1000, 0);
    assert_int_equal(offer(limit, 1, 2000, 0.0), 1000);
    assert_int_equal(offer(limit, 1, 2000, 1.0), 100);
    offer_limit_destroy(limit);
}

TEST(an_ipv6_network_is_one_client)
{
    struct offer_limit *limit = offer_limit_create(1000, 10);
    unsigned passed = 0;
    unsigned retry_after;
    for (unsigned i = 0; i < 500; i++) {
        char text[64];
        struct socket_address client;
        bool has_port;
        snprintf(text, sizeof text, "2001:db8:0:1:%x::%x", i, 2 * i);
        assert_true(socket_address_parse(text, &client, &has_port));
        passed += offer_limit_pass(limit, &client, 0.0, &retry_after);
    }
    assert_in_range(passed, 15, 20);
    offer_limit_destroy(limit);
}
