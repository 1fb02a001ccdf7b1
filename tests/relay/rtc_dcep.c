/* DCEP: the channels that browsers open, and messages that are malformed. */
#include "fixture.h"

#include "relay/rtc/dcep.h"

#include <stdlib.h>
#include <string.h>

/* The channel is unordered, never repeated, with the label "game" and the protocol "v1". */
static const uint8_t open_message[] = {0x03, 0x81, 0, 0,   0,   0,   0,   0,   0,
                                       4,    0,    2, 'g', 'a', 'm', 'e', 'v', '1'};

static enum dcep_type read_exactly(struct dcep_message *message, const uint8_t *data, size_t size)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    const enum dcep_type type = dcep_read(message, copy, size);
    if (type != DCEP_OPEN) {
        free(copy);
        copy = NULL;
    }
    return type;
}

TEST(reads_an_open)
{
    struct dcep_message message;
    assert_int_equal(read_exactly(&message, open_message, sizeof open_message), DCEP_OPEN);
    assert_true(message.unordered);
    assert_true(message.unreliable);
    assert_int_equal(message.reliability, 0);
    assert_int_equal(message.label_size, 4);
    assert_memory_equal(message.label, "game", 4);
    read_exactly(&message, open_message, 0);
}

TEST(tells_the_kinds_apart)
{
    static const struct {
        uint8_t kind;
        bool unordered;
        bool unreliable;
    } cases[] = {{0x00, false, false}, {0x80, true, false}, {0x01, false, true},
                 {0x81, true, true},   {0x02, false, true}, {0x82, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t data[12] = {0x03, cases[i].kind, 0, 0, 0x01, 0x02, 0x03, 0x04};
        struct dcep_message message;
        assert_int_equal(dcep_read(&message, data, sizeof data), DCEP_OPEN);
        assert_int_equal(message.unordered, cases[i].unordered);
        assert_int_equal(message.unreliable, cases[i].unreliable);
        assert_int_equal(message.reliability, 0x01020304);
    }
}

TEST(refuses_what_is_malformed)
{
    struct dcep_message message;
    uint8_t data[sizeof open_message + 1];
    for (size_t size = 0; size < sizeof open_message; size++)
        assert_int_equal(read_exactly(&message, open_message, size), DCEP_MALFORMED);
    memcpy(data, open_message, sizeof open_message);
    assert_int_equal(read_exactly(&message, data, sizeof data), DCEP_MALFORMED);
    data[1] = 0x83;
    assert_int_equal(read_exactly(&message, data, sizeof open_message), DCEP_MALFORMED);
    data[1] = 0x81;
    data[8] = 0xff;
    assert_int_equal(read_exactly(&message, data, sizeof open_message), DCEP_MALFORMED);
    data[0] = 0x04;
    assert_int_equal(read_exactly(&message, data, 1), DCEP_MALFORMED);
}

TEST(writes_and_reads_an_ack)
{
    uint8_t ack[DCEP_ACK_SIZE];
    struct dcep_message message;
    dcep_write_ack(ack);
    assert_int_equal(ack[0], 2);
    assert_int_equal(read_exactly(&message, ack, sizeof ack), DCEP_ACK);
}
