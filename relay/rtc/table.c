#include "rtc/table.h"

#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rtc_table {
    struct rtc_entry **places; /* the entries by place; NULL = free */
    size_t *free;              /* the free places, a stack */
    size_t free_count;
    size_t capacity;
    struct rtc_listing **rows; /* links by the hash of the address */
    struct rtc_listing **near; /* links by the hash of the address without its port */
    size_t row_mask;
    uint64_t key; /* a random key, so that nobody can choose addresses for one row */
};

struct rtc_table *rtc_table_create(size_t capacity)
{
    struct rtc_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    size_t rows = 64;
    while (rows < capacity)
        rows *= 2;
    table->capacity = capacity;
    table->row_mask = rows - 1;
    table->rows = calloc(rows, sizeof *table->rows);
    table->near = calloc(rows, sizeof *table->near);
    table->places = calloc(capacity, sizeof *table->places);
    table->free = calloc(capacity, sizeof *table->free);
    if (!table->rows || !table->near || !table->places || !table->free ||
        RAND_bytes((unsigned char *)&table->key, sizeof table->key) != 1) {
        rtc_table_destroy(table);
        return NULL;
    }
    for (; table->free_count < capacity; table->free_count++)
        table->free[table->free_count] = capacity - 1 - table->free_count;
    return table;
}

void rtc_table_destroy(struct rtc_table *table)
{
    if (!table)
        return;
    free(table->rows);
    free(table->near);
    free(table->places);
    free(table->free);
    free(table);
}

bool rtc_table_add(struct rtc_table *table, struct rtc_entry *entry)
{
    if (table->free_count == 0)
        return false;
    *entry = (struct rtc_entry){.place = table->free[--table->free_count]};
    table->places[entry->place] = entry;
    return true;
}

void rtc_table_remove(struct rtc_table *table, struct rtc_entry *entry)
{
    table->places[entry->place] = NULL;
    table->free[table->free_count++] = entry->place;
}

size_t rtc_table_count(const struct rtc_table *table)
{
    return table->capacity - table->free_count;
}

struct rtc_entry *rtc_table_at(const struct rtc_table *table, size_t place)
{
    return place < table->capacity ? table->places[place] : NULL;
}

void rtc_place_write(size_t place, char out[RTC_PLACE_DIGITS + 1])
{
    snprintf(out, RTC_PLACE_DIGITS + 1, "%0*zx", RTC_PLACE_DIGITS, place & 0xffffff);
}

struct rtc_entry *rtc_table_named(const struct rtc_table *table, const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t place = 0;
    if (size < RTC_PLACE_DIGITS)
        return NULL;
    for (int i = 0; i < RTC_PLACE_DIGITS; i++) {
        const char *digit = memchr(digits, text[i], sizeof digits - 1);
        if (!digit)
            return NULL;
        place = place * 16 + (size_t)(digit - digits);
    }
    return rtc_table_at(table, place);
}

static size_t row_of(const struct rtc_table *table, const struct udp_address *address,
                     uint16_t port)
{
    uint64_t words[3] = {0, 0, port};
    memcpy(words, address->ip, sizeof address->ip);
    uint64_t hash = table->key;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (size_t)(hash >> 20) & table->row_mask;
}

void rtc_table_unlist(struct rtc_table *table, struct rtc_listing *listing)
{
    if (!listing->entry)
        return;
    struct rtc_listing **at = &table->rows[row_of(table, &listing->address, listing->address.port)];
    while (*at != listing)
        at = &(*at)->next;
    *at = listing->next;
    *listing->near_link = listing->next_near;
    if (listing->next_near)
        listing->next_near->near_link = listing->near_link;
    listing->entry = NULL;
}

void rtc_table_list(struct rtc_table *table, struct rtc_listing *listing, struct rtc_entry *entry,
                    const struct udp_address *address)
{
    struct rtc_listing **row = &table->rows[row_of(table, address, address->port)];
    struct rtc_listing **near = &table->near[row_of(table, address, 0)];
    *listing = (struct rtc_listing){
        .entry = entry, .address = *address, .next = *row, .next_near = *near, .near_link = near};
    if (*near)
        (*near)->near_link = &listing->next_near;
    *row = *near = listing;
}

struct rtc_entry *rtc_table_from(const struct rtc_table *table, const struct udp_address *address)
{
    const struct rtc_listing *listing = table->rows[row_of(table, address, address->port)];
    while (listing && !udp_address_same(&listing->address, address))
        listing = listing->next;
    return listing ? listing->entry : NULL;
}

const struct rtc_listing *rtc_table_near(const struct rtc_table *table,
                                         const struct rtc_listing *listing,
                                         const struct udp_address *address)
{
    listing = listing ? listing->next_near : table->near[row_of(table, address, 0)];
    while (listing && memcmp(listing->address.ip, address->ip, sizeof address->ip) != 0)
        listing = listing->next_near;
    return listing;
}
