/* Two ends of a connection of bunches in tests, with datagrams as values. */
#ifndef CAUSEWAY_TESTS_BUNCH_RIG_H
#define CAUSEWAY_TESTS_BUNCH_RIG_H

#include "fixture.h"

#include "causeway/protocols/bunch.h"

#include <stdlib.h>
#include <string.h>

struct parcel {
    size_t size;
    uint8_t data[CW_NOTIFY_HEADER_SIZE + 1024];
};

struct bunch_pair {
    struct cw_bunch *a, *b;
    double now;
};

static inline void bunch_release(void *bunch)
{
    cw_bunch_destroy(bunch);
}

/* The test owns both ends. */
static inline struct bunch_pair bunch_pair_with(const struct cw_bunch_config *config)
{
    struct bunch_pair pair = {.now = 1000};
    assert_ok(cw_bunch_create(config, &pair.a));
    assert_ok(cw_bunch_create(config, &pair.b));
    own(pair.a, bunch_release);
    own(pair.b, bunch_release);
    return pair;
}

/* The default config with 4 properties and no limit to the bandwidth. */
static inline struct cw_bunch_config bunch_config(void)
{
    struct cw_bunch_config config = cw_bunch_config_default();
    config.properties = 4;
    config.bytes_per_second = 0;
    return config;
}

static inline struct bunch_pair bunch_pair_default(void)
{
    const struct cw_bunch_config config = bunch_config();
    return bunch_pair_with(&config);
}

static inline struct parcel parcel_of(struct cw_bunch *bunch)
{
    struct parcel parcel;
    parcel.size = cw_bunch_transmit(bunch, parcel.data, sizeof parcel.data);
    return parcel;
}

/* Returns the first datagram of a new tick. */
static inline struct parcel tick_of(struct bunch_pair *pair, struct cw_bunch *bunch)
{
    pair->now += 1.0 / 60;
    cw_bunch_update(bunch, pair->now);
    const struct parcel parcel = parcel_of(bunch);
    assert_true(parcel.size >= 8);
    return parcel;
}

static inline void hand_over(struct cw_bunch *to, const struct parcel *parcel)
{
    uint8_t *exact = malloc(parcel->size);
    memcpy(exact, parcel->data, parcel->size);
    assert_ok(cw_bunch_receive(to, exact, parcel->size));
    free(exact);
}

/* Lets a datagram of from arrive in a round of its own. */
static inline void tick_to(struct bunch_pair *pair, struct cw_bunch *from, struct cw_bunch *to)
{
    const struct parcel parcel = tick_of(pair, from);
    hand_over(to, &parcel);
    cw_bunch_update(to, pair->now);
}

static inline void expect_event(struct cw_bunch *bunch, enum cw_bunch_event_type type,
                                uint32_t number, const char *text, size_t size)
{
    struct cw_bunch_event event;
    assert_true(cw_bunch_next(bunch, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.number, number);
    assert_int_equal(event.size, size);
    assert_memory_equal(event.data, text, size);
}

/* Checks that the next events are these, with spaces between them: 1:text is a bunch on channel 1,
   p1:text a value of property 1, and a dot is no event. */
static inline void expect_events(struct cw_bunch *bunch, const char *events)
{
    for (const char *at = events; *at; at += strspn(at, " ")) {
        struct cw_bunch_event event;
        char *text;
        if (*at == '.') {
            assert_false(cw_bunch_next(bunch, &event));
            at++;
            continue;
        }
        const bool property = *at == 'p';
        const uint32_t number = (uint32_t)strtoul(at + property, &text, 10);
        text++;
        at = text + strcspn(text, " ");
        expect_event(bunch, property ? CW_BUNCH_EVENT_PROPERTY : CW_BUNCH_EVENT_BUNCH, number, text,
                     (size_t)(at - text));
    }
}

static inline void send_text(struct cw_bunch *bunch, uint32_t channel, const char *text)
{
    assert_ok(cw_bunch_send(bunch, channel, (const uint8_t *)text, strlen(text)));
}

static inline void set_text(struct cw_bunch *bunch, uint32_t property, const char *text)
{
    assert_ok(cw_bunch_set(bunch, property, (const uint8_t *)text, strlen(text)));
}

static inline struct cw_bunch_stats bunch_stats(const struct cw_bunch *bunch)
{
    struct cw_bunch_stats stats;
    cw_bunch_get_stats(bunch, &stats);
    return stats;
}

#endif
