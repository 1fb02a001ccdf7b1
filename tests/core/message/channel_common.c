/* Tests of what both kinds of channels write and read alike. */
#include "fixture.h"

#include "message/channel_common.h"

#include "channel_rig.h"

TEST(the_head_of_an_entry)
{
    struct channel_rig rig;
    channel_rig_start(&rig);
    struct cw_channel_common common = channel_rig_common(&rig, CW_CHANNEL_UNRELIABLE);
    assert_int_equal(common.type_bits, 1);
    assert_int_equal(common.entry_bits, 2 + 2 + 2); /* 3 channels, 2 flags, up to 4 messages */
    for (uint32_t count = 1; count <= 4; count++) {
        uint8_t bytes[8] = {0};
        struct cw_stream writer = cw_stream_writer(bytes, sizeof bytes);
        common.selection_count = count;
        assert_true(cw_channel_write_head(&writer, &common, 1, 0x2A5, 10));
        assert_int_equal(cw_stream_position(&writer), common.entry_bits + 10);
        cw_stream_flush(&writer);
        struct cw_stream reader = cw_stream_reader(bytes, sizeof bytes);
        bool any = false;
        uint32_t read = 0, more = 0;
        assert_false(channel_rig_is_fragment(&reader));
        assert_true(cw_stream_bool(&reader, &any) && any);
        assert_true(cw_stream_uint(&reader, &read, 1, 4) && read == count);
        assert_true(cw_stream_bits(&reader, &more, 10) && more == 0x2A5);
    }
    cw_channel_set_widths(&common, 1);
    assert_int_equal(common.entry_bits, 0 + 2 + 2);
    channel_rig_stop(&rig);
}

TEST(messages_are_read_into_the_pool_up_to_its_limit)
{
    struct channel_rig rig;
    channel_rig_start(&rig);
    const struct cw_channel_common common = channel_rig_common(&rig, CW_CHANNEL_UNRELIABLE);
    uint8_t bytes[32] = {0};
    struct cw_stream writer = cw_stream_writer(bytes, sizeof bytes);
    for (uint32_t number = 1; number <= 3; number++) {
        struct cw_message *message = channel_rig_message(&rig, number, NULL, 0);
        assert_true(cw_channel_write_message(&writer, &common, message));
        cw_message_drop(message);
    }
    cw_stream_flush(&writer);
    struct cw_stream reader = cw_stream_reader(bytes, sizeof bytes);
    struct cw_parsed_entry parsed = {.pool_limit = 1};
    for (uint32_t number = 1; number <= 3; number++) {
        uint32_t type;
        struct cw_message *message;
        assert_true(cw_channel_read_type(&reader, &common, &type));
        assert_int_equal(type, RIG_NUMBER);
        /* The first is not wanted, the second is kept, and for the third there is no room. */
        assert_true(cw_channel_read_body(&reader, &common, &parsed, type, number > 1, &message));
        assert_int_equal(message != NULL, number == 2);
        if (message)
            cw_parsed_add(&parsed, message);
    }
    assert_int_equal(parsed.missing, 1);
    assert_ptr_equal(parsed.first, parsed.last);
    assert_int_equal(channel_rig_number(parsed.first), 2);
    channel_rig_stop(&rig);
}

TEST(what_is_malformed_leaves_nothing)
{
    struct channel_rig rig;
    channel_rig_start(&rig);
    struct cw_channel_common common = channel_rig_common(&rig, CW_CHANNEL_UNRELIABLE);
    const uint8_t bytes[4] = {0xFF, 0xFF, 0xFF, 0xFF};
    struct cw_parsed_entry parsed = {.pool_limit = 8};
    struct cw_message *message;
    uint32_t type;
    struct cw_stream reader = cw_stream_reader(bytes, 1);
    assert_false(cw_channel_read_body(&reader, &common, &parsed, RIG_NUMBER, true, &message));
    assert_int_equal(cw_message_pool_used(rig.arrived), 0);
    common.type_bits = 2; /* stands for a third type, which the schema lacks */
    reader = cw_stream_reader(bytes, sizeof bytes);
    assert_false(cw_channel_read_type(&reader, &common, &type));
    reader = cw_stream_reader(bytes, 0);
    assert_false(cw_channel_read_type(&reader, &common, &type));
    channel_rig_stop(&rig);
}
