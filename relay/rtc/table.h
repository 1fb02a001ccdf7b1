/* Finds browsers by the place that their names begin with, and by the addresses that they send
   from. Entries and listings sit in their owners. */
#ifndef CAUSEWAY_RELAY_RTC_TABLE_H
#define CAUSEWAY_RELAY_RTC_TABLE_H

#include "rtc/udp_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hexadecimal digits of a place. */
#define RTC_PLACE_DIGITS 6

struct rtc_entry {
    size_t place;
};

/* One address of an entry. Zeroed before use. */
struct rtc_listing {
    struct rtc_entry *entry; /* NULL when it is not listed */
    struct udp_address address;
    struct rtc_listing *next;       /* of those whose addresses have the same hash */
    struct rtc_listing *next_near;  /* of those whose addresses without ports have the same hash */
    struct rtc_listing **near_link; /* what points to this one among those */
};

struct rtc_table;

/* For at most `capacity` entries. NULL when there is no memory. */
struct rtc_table *rtc_table_create(size_t capacity);
void rtc_table_destroy(struct rtc_table *table);

/* Gives a new entry a place. False when all are taken. */
bool rtc_table_add(struct rtc_table *table, struct rtc_entry *entry);

/* Takes it out. Its addresses must be unlisted. */
void rtc_table_remove(struct rtc_table *table, struct rtc_entry *entry);

size_t rtc_table_count(const struct rtc_table *table);

/* The one at a place; NULL when there is none. Places begin with 0. */
struct rtc_entry *rtc_table_at(const struct rtc_table *table, size_t place);

/* Writes the digits of a place, terminated. */
void rtc_place_write(size_t place, char out[RTC_PLACE_DIGITS + 1]);

/* The one whose place a text begins with; NULL when there is none. */
struct rtc_entry *rtc_table_named(const struct rtc_table *table, const char *text, size_t size);

/* Lists an entry under an address, in front of others with the same. The listing must not be in
   use. */
void rtc_table_list(struct rtc_table *table, struct rtc_listing *listing, struct rtc_entry *entry,
                    const struct udp_address *address);
void rtc_table_unlist(struct rtc_table *table, struct rtc_listing *listing);

/* The one that was listed last under an address; NULL when there is none. */
struct rtc_entry *rtc_table_from(const struct rtc_table *table, const struct udp_address *address);

/* The listing after `listing`, or the first for NULL, whose address differs from this one in its
   port at most; NULL when there are no more. */
const struct rtc_listing *rtc_table_near(const struct rtc_table *table,
                                         const struct rtc_listing *listing,
                                         const struct udp_address *address);

#endif
