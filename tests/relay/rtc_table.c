/* The table of browsers: places, names and addresses. */
#include "fixture.h"

#include "relay/rtc/table.h"

#include <string.h>

static struct udp_address at_port(uint16_t port)
{
    return (struct udp_address){.ip = {0x20, 0x01}, .port = port};
}

static void destroy(void *table)
{
    rtc_table_destroy(table);
}

static struct rtc_table *create(size_t capacity)
{
    struct rtc_table *table = rtc_table_create(capacity);
    assert_non_null(table);
    return own(table, destroy);
}

TEST(places_are_bounded_and_used_again)
{
    struct rtc_table *table = create(100);
    struct rtc_entry entries[101];
    char name[RTC_PLACE_DIGITS + 1];
    for (size_t i = 0; i < 100; i++)
        assert_true(rtc_table_add(table, &entries[i]));
    assert_false(rtc_table_add(table, &entries[100]));
    assert_int_equal(rtc_table_count(table), 100);
    for (size_t i = 0; i < 100; i++) {
        rtc_place_write(entries[i].place, name);
        assert_ptr_equal(rtc_table_named(table, name, sizeof name), &entries[i]);
        assert_ptr_equal(rtc_table_at(table, entries[i].place), &entries[i]);
    }
    const size_t place = entries[50].place;
    rtc_table_remove(table, &entries[50]);
    assert_null(rtc_table_at(table, place));
    assert_true(rtc_table_add(table, &entries[100]));
    assert_int_equal(entries[100].place, place);
}

TEST(names_of_nobody)
{
    struct rtc_table *table = create(10);
    struct rtc_entry entry;
    assert_true(rtc_table_add(table, &entry));
    static const char *const names[] = {"", "00000", "00000g", "ffffff", "00000A", "-00001"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_null(rtc_table_named(table, names[i], strlen(names[i])));
    assert_null(rtc_table_named(table, "00\0\0\0\0", 6));
    assert_ptr_equal(rtc_table_named(table, "000000 and more", 15), &entry);
}

TEST(addresses_change)
{
    struct rtc_table *table = create(1000);
    static struct rtc_entry entries[1000];
    static struct rtc_listing listings[1000];
    for (uint16_t i = 0; i < 1000; i++) {
        const struct udp_address address = at_port(i);
        assert_true(rtc_table_add(table, &entries[i]));
        assert_null(rtc_table_from(table, &address));
        rtc_table_list(table, &listings[i], &entries[i], &address);
    }
    /* Every other browser moves. */
    for (uint16_t i = 0; i < 1000; i += 2) {
        const struct udp_address address = at_port((uint16_t)(i + 2000));
        rtc_table_unlist(table, &listings[i]);
        rtc_table_list(table, &listings[i], &entries[i], &address);
    }
    for (uint16_t i = 0; i < 1000; i++) {
        const struct udp_address old = at_port(i);
        const struct udp_address new = at_port((uint16_t)(i + 2000));
        assert_ptr_equal(rtc_table_from(table, &old), i % 2 ? &entries[i] : NULL);
        assert_ptr_equal(rtc_table_from(table, &new), i % 2 ? NULL : &entries[i]);
    }
    /* A browser may have several addresses. */
    struct rtc_listing more = {0};
    const struct udp_address third = at_port(5000);
    rtc_table_list(table, &more, &entries[3], &third);
    assert_ptr_equal(rtc_table_from(table, &third), &entries[3]);
    assert_ptr_equal(rtc_table_from(table, &listings[3].address), &entries[3]);
    rtc_table_unlist(table, &more);
    assert_null(rtc_table_from(table, &third));
    rtc_table_unlist(table, &more);
    /* The table finds the last of two entries with one address, and the other one after that. */
    const struct udp_address address = at_port(1);
    rtc_table_unlist(table, &listings[3]);
    rtc_table_list(table, &listings[3], &entries[3], &address);
    assert_ptr_equal(rtc_table_from(table, &address), &entries[3]);
    rtc_table_unlist(table, &listings[3]);
    rtc_table_remove(table, &entries[3]);
    assert_ptr_equal(rtc_table_from(table, &address), &entries[1]);
}

TEST(addresses_are_found_without_their_ports)
{
    struct rtc_table *table = create(100);
    static struct rtc_entry entries[100];
    static struct rtc_listing listings[100];
    struct udp_address address = at_port(1);
    for (uint16_t i = 0; i < 100; i++) {
        assert_true(rtc_table_add(table, &entries[i]));
        address.ip[15] = (uint8_t)(i % 2);
        address.port = i;
        rtc_table_list(table, &listings[i], &entries[i], &address);
    }
    for (unsigned left = 100; left > 0; left -= 20) {
        for (uint8_t ip = 0; ip < 3; ip++) {
            const struct rtc_listing *near = NULL;
            unsigned count = 0;
            address.ip[15] = ip;
            while ((near = rtc_table_near(table, near, &address))) {
                assert_int_equal(near->address.ip[15], ip);
                assert_ptr_equal(near->entry, &entries[near->address.port]);
                count++;
            }
            assert_int_equal(count, ip == 2 ? 0 : left / 2);
        }
        for (unsigned i = 0; i < 20; i++)
            rtc_table_unlist(table, &listings[left / 20 - 1 + i * 5]);
    }
}
