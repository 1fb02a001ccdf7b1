/* A table that finds browsers by the place with which their names begin, and by the addresses from
   which they send. Entries and listings are embedded in their owners. */
#ifndef CAUSEWAY_RELAY_RTC_TABLE_H
#define CAUSEWAY_RELAY_RTC_TABLE_H

#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of hexadecimal digits of a place. */
#define RTC_PLACE_DIGITS 6

struct rtc_entry {
    size_t place;
};

/* One address of an entry. Zero it before use. */
struct rtc_listing {
    struct rtc_entry *entry; /* NULL while the address is not listed */
    struct udp_address address;
    struct rtc_listing *next; /* the next among addresses with the same hash */
    /* the next among addresses whose hash without the port is the same */
    struct rtc_listing *next_near;
    struct rtc_listing **near_link; /* the pointer to this listing in that list */
};

struct rtc_table;

/* Creates a table for at most `capacity` entries. Returns NULL when there is no memory. */
struct rtc_table *rtc_table_create(size_t capacity);
void rtc_table_destroy(struct rtc_table *table);

/* Gives a new entry a place. Returns false when all are taken. */
bool rtc_table_add(struct rtc_table *table, struct rtc_entry *entry);

/* Removes an entry. Its addresses must be unlisted. */
void rtc_table_remove(struct rtc_table *table, struct rtc_entry *entry);

size_t rtc_table_count(const struct rtc_table *table);

/* Returns the entry at a place; NULL when there is none. Places start at 0. */
struct rtc_entry *rtc_table_at(const struct rtc_table *table, size_t place);

/* Writes the digits of a place, with a terminator. */
void rtc_place_write(size_t place, char out[RTC_PLACE_DIGITS + 1]);

/* Returns the entry with whose place a text begins; NULL when there is none. */
struct rtc_entry *rtc_table_named(const struct rtc_table *table, const char *text, size_t size);

/* Lists an entry under an address, in front of others with the same address. The listing must not
   be in use. */
void rtc_table_list(struct rtc_table *table, struct rtc_listing *listing, struct rtc_entry *entry,
                    const struct udp_address *address);
void rtc_table_unlist(struct rtc_table *table, struct rtc_listing *listing);

/* Returns the entry that was last listed under an address; NULL when there is none. */
struct rtc_entry *rtc_table_from(const struct rtc_table *table, const struct udp_address *address);

/* Returns the listing after `listing` (the first for NULL) whose address equals this one or differs
   from it only in its port; NULL when there are no more. */
const struct rtc_listing *rtc_table_near(const struct rtc_table *table,
                                         const struct rtc_listing *listing,
                                         const struct udp_address *address);

#endif
