/* Ends of the request-based protocol, and datagrams written as hex. */
#ifndef CAUSEWAY_TESTS_RUDP_RIG_H
#define CAUSEWAY_TESTS_RUDP_RIG_H

#include "causeway/protocols/rudp.h"
#include "fixture.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void rudp_release(void *rudp)
{
    cw_rudp_destroy(rudp);
}

/* The test owns the end. */
static inline struct cw_rudp *rudp_make(const struct cw_rudp_config *config)
{
    struct cw_rudp *rudp = NULL;
    assert_int_equal(cw_rudp_create(config, &rudp), CW_PROTOCOL_OK);
    return own(rudp, rudp_release);
}

/* With windows of 32 packages of up to 600 bytes, kept for 10 ticks. */
static inline struct cw_rudp *rudp_make_small(void)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_window = config.receive_window = 32;
    config.expiry_ticks = 10;
    config.max_package_size = 600;
    return rudp_make(&config);
}

/* The next datagram must be this one; "" means that there is none. */
static inline void rudp_expect(struct cw_rudp *rudp, const char *hex)
{
    uint8_t out[604];
    char text[2 * sizeof out + 1] = "";
    const size_t size = cw_rudp_transmit(rudp, out, sizeof out);
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, hex);
}

/* A tick passes, and these are all datagrams of its round: one, or none. */
static inline void rudp_expect_round(struct cw_rudp *rudp, const char *hex)
{
    cw_rudp_update(rudp, 1);
    rudp_expect(rudp, hex);
    rudp_expect(rudp, "");
}

/* Gives bytes in memory of exactly their size. */
static inline enum cw_protocol_error rudp_give_bytes(struct cw_rudp *rudp, const uint8_t *data,
                                                     size_t size)
{
    uint8_t *exact = malloc(size);
    if (size)
        memcpy(exact, data, size);
    const enum cw_protocol_error error = cw_rudp_receive(rudp, exact, size);
    free(exact);
    return error;
}

static inline enum cw_protocol_error rudp_give(struct cw_rudp *rudp, const char *hex)
{
    uint8_t data[1024];
    const size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        data[i] = (uint8_t)byte;
    }
    return rudp_give_bytes(rudp, data, size);
}

/* Sends a package of one byte, the lowest of number. */
static inline enum cw_protocol_error rudp_send_byte(struct cw_rudp *rudp, uint64_t number)
{
    const uint8_t data = (uint8_t)number;
    return cw_rudp_send(rudp, &data, 1);
}

/* The next event must be the package `id` with one byte, the lowest of number. */
static inline void rudp_expect_package(struct cw_rudp *rudp, uint64_t id, uint64_t number)
{
    struct cw_rudp_event event;
    assert_true(cw_rudp_next(rudp, &event));
    assert_int_equal(event.type, CW_RUDP_EVENT_PACKAGE);
    assert_int_equal(event.id, id);
    assert_int_equal(event.size, 1);
    assert_int_equal(event.data[0], (uint8_t)number);
}

static inline void rudp_expect_missing(struct cw_rudp *rudp, uint64_t id)
{
    struct cw_rudp_event event;
    assert_true(cw_rudp_next(rudp, &event));
    assert_int_equal(event.type, CW_RUDP_EVENT_MISSING);
    assert_int_equal(event.id, id);
    assert_null(event.data);
    assert_int_equal(event.size, 0);
}

static inline void rudp_expect_corrupt(struct cw_rudp *rudp)
{
    struct cw_rudp_event event;
    assert_true(cw_rudp_next(rudp, &event));
    assert_int_equal(event.type, CW_RUDP_EVENT_CORRUPT);
    assert_null(event.data);
}

static inline void rudp_expect_nothing(struct cw_rudp *rudp)
{
    struct cw_rudp_event event;
    assert_false(cw_rudp_next(rudp, &event));
}

static inline struct cw_rudp_stats rudp_stats(const struct cw_rudp *rudp)
{
    struct cw_rudp_stats stats;
    cw_rudp_stats(rudp, &stats);
    return stats;
}

#endif
