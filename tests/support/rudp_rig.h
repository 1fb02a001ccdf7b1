/* Ends of the request-based protocol, and datagrams written as hex. */
#ifndef CAUSEWAY_TESTS_RUDP_RIG_H
#define CAUSEWAY_TESTS_RUDP_RIG_H

#include "causeway/protocols/rudp.h"
#include "fixture.h"

#include <inttypes.h>
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
    assert_ok(cw_rudp_create(config, &rudp));
    return own(rudp, rudp_release);
}

/* Returns an end with windows of 32 packages of up to 600 bytes, kept for 10 ticks. */
static inline struct cw_rudp *rudp_make_small(void)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.send_window = config.receive_window = 32;
    config.expiry_ticks = 10;
    config.max_package_size = 600;
    return rudp_make(&config);
}

/* Gives the end bytes in memory of exactly their size. */
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

/* Sends a package of one byte, the lowest byte of number. */
static inline enum cw_protocol_error rudp_send_byte(struct cw_rudp *rudp, uint64_t number)
{
    const uint8_t data = (uint8_t)number;
    return cw_rudp_send(rudp, &data, 1);
}

/* Writes the next event as a script has it: id:byte, id?, corrupt, or a dot for none. */
static inline void rudp_event_text(struct cw_rudp *rudp, char text[40])
{
    struct cw_rudp_event event;
    if (!cw_rudp_next(rudp, &event)) {
        snprintf(text, 40, ".");
        return;
    }
    const bool package = event.type == CW_RUDP_EVENT_PACKAGE;
    assert_true(package ? event.data && event.size == 1 : !event.data && event.size == 0);
    if (package)
        snprintf(text, 40, "%" PRIu64 ":%02x", event.id, event.data[0]);
    else if (event.type == CW_RUDP_EVENT_MISSING)
        snprintf(text, 40, "%" PRIu64 "?", event.id);
    else
        snprintf(text, 40, "corrupt");
}

static inline void rudp_expect_package(struct cw_rudp *rudp, uint64_t id, uint64_t number)
{
    char text[40], expected[40];
    snprintf(expected, sizeof expected, "%" PRIu64 ":%02x", id, (unsigned)(uint8_t)number);
    rudp_event_text(rudp, text);
    assert_string_equal(text, expected);
}

/* Does one step of a script and writes the step that came of it, which must be the same. */
static inline void rudp_step(struct cw_rudp *rudp, const char *step, char came[2048])
{
    uint8_t data[1024];
    const size_t size = strlen(step + 1) / 2;
    for (size_t i = 0; i < size && strchr("<!+", *step); i++) {
        const char digits[] = {step[1 + 2 * i], step[2 + 2 * i], 0};
        data[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    strcpy(came, step);
    if (*step == '<' || *step == '!') {
        const enum cw_protocol_error error = rudp_give_bytes(rudp, data, size);
        assert_true(error == CW_PROTOCOL_OK || error == CW_PROTOCOL_ERROR_MALFORMED);
        *came = error == CW_PROTOCOL_OK ? '<' : '!';
    } else if (*step == '+') {
        assert_ok(cw_rudp_send(rudp, data, size));
    } else if (*step == '@') {
        cw_rudp_update(rudp, (uint32_t)strtoul(step + 1, NULL, 10));
    } else if (*step == '>' || *step == '=') {
        uint8_t out[604];
        if (*step == '>')
            cw_rudp_update(rudp, 1);
        const size_t sent = cw_rudp_transmit(rudp, out, sizeof out);
        came[1] = 0;
        for (size_t i = 0; i < sent; i++)
            snprintf(came + 1 + 2 * i, 3, "%02x", out[i]);
        if (*step == '>')
            assert_int_equal(cw_rudp_transmit(rudp, out, sizeof out), 0);
    } else {
        rudp_event_text(rudp, came);
    }
}

/* Plays a script of steps with spaces between them. Bytes are written as hex.
     <bytes    a datagram arrives; !bytes: one that is malformed
     +bytes    a package is sent
     @ticks    time passes
     =bytes    the next datagram is this one; = alone: there is none
     >bytes    a tick passes, and its round is this datagram alone
     id:byte   the application gets package id, of one byte; id?: it is missing
     corrupt   it is told that the other end got what made no sense
     .         it gets nothing */
static inline void rudp_play(struct cw_rudp *rudp, const char *script)
{
    char step[2048], came[2048];
    for (const char *at = script; *at; at += *at == ' ') {
        const size_t size = strcspn(at, " ");
        assert_true(size < sizeof step);
        memcpy(step, at, size);
        step[size] = 0;
        rudp_step(rudp, step, came);
        if (strcmp(step, came) != 0)
            fail_msg("%s, step %s: %s", script, step, came);
        at += size;
    }
}

static inline struct cw_rudp_stats rudp_stats(const struct cw_rudp *rudp)
{
    struct cw_rudp_stats stats;
    cw_rudp_get_stats(rudp, &stats);
    return stats;
}

#endif
