/* Tests of the items of the lab's traffic: their bytes follow from three numbers. */
#include "lab/peer.h"

#include "fixture.h"

#include <string.h>

static const struct cw_lab_item message = {CW_LAB_MESSAGE, 0x01020304, 64};

TEST(an_item_begins_with_its_numbers)
{
    uint8_t data[64];
    const uint8_t head[CW_LAB_ITEM_MIN] = {2, 1, 2, 3, 4, 0, 0, 0, 64};
    cw_lab_item_write(&message, 0, data, sizeof data);
    assert_memory_equal(data, head, sizeof head);
    struct cw_lab_item item;
    assert_true(cw_lab_item_read(data, CW_LAB_ITEM_MIN, &item));
    assert_int_equal(item.traffic, CW_LAB_MESSAGE);
    assert_int_equal(item.id, message.id);
    assert_int_equal(item.size, message.size);
}

TEST(what_is_no_item_is_not_read)
{
    uint8_t data[64];
    struct cw_lab_item item = {0};
    cw_lab_item_write(&message, 0, data, sizeof data);
    assert_false(cw_lab_item_read(data, CW_LAB_ITEM_MIN - 1, &item));
    data[0] = 0;
    assert_false(cw_lab_item_read(data, sizeof data, &item));
    data[0] = CW_LAB_BLOCK + 1;
    assert_false(cw_lab_item_read(data, sizeof data, &item));
    data[0] = CW_LAB_MESSAGE;
    data[8] = CW_LAB_ITEM_MIN - 1;
    assert_false(cw_lab_item_read(data, sizeof data, &item));
    data[7] = 1;
    data[8] = 1; /* 257 is too long for a message, but not for a block */
    assert_false(cw_lab_item_read(data, sizeof data, &item));
    assert_int_equal(item.traffic, 0);
    data[0] = CW_LAB_BLOCK;
    assert_true(cw_lab_item_read(data, sizeof data, &item));
    assert_int_equal(item.size, 257);
}

TEST(parts_are_those_of_the_whole)
{
    uint8_t whole[64], parts[64];
    cw_lab_item_write(&message, 0, whole, sizeof whole);
    for (uint32_t i = 0; i < sizeof parts; i += 8) {
        cw_lab_item_write(&message, i, parts + i, 8);
        assert_true(cw_lab_item_check(&message, i, whole + i, 8));
    }
    assert_memory_equal(whole, parts, sizeof whole);
}

TEST(wrong_bytes_are_found)
{
    uint8_t data[65] = {0};
    cw_lab_item_write(&message, 0, data, 64);
    assert_false(cw_lab_item_check(&message, 0, data, 65));
    assert_false(cw_lab_item_check(&message, 1, data + 1, 64));
    assert_false(cw_lab_item_check(&message, 65, data, 0));
    assert_false(cw_lab_item_check(&message, 1, data, 16));
    for (size_t i = 0; i < 64; i++) {
        data[i] ^= 1;
        assert_false(cw_lab_item_check(&message, 0, data, 64));
        data[i] ^= 1;
    }
    assert_true(cw_lab_item_check(&message, 0, data, 64));
    const struct cw_lab_item other = {CW_LAB_MESSAGE, message.id + 1, 64};
    assert_false(cw_lab_item_check(&other, CW_LAB_ITEM_MIN, data + CW_LAB_ITEM_MIN, 16));
}

TEST(nothing_is_written_beyond_the_end)
{
    uint8_t data[65], before[65];
    memset(data, 0xee, sizeof data);
    memcpy(before, data, sizeof data);
    cw_lab_item_write(&message, 0, data, sizeof data);
    cw_lab_item_write(&message, 65, data, 1);
    cw_lab_item_write(&message, 1, data, 64);
    assert_memory_equal(data, before, sizeof data);
}
