/* Tests of configs of channels. */
#include "causeway/connection.h"

#include "config_error.h"
#include "fixture.h"

#define PACKET_SIZE 1064

static struct cw_channel_config config_of(enum cw_channel_kind kind)
{
    return cw_channel_config_default(kind);
}

static enum cw_error check(const struct cw_channel_config *config)
{
    return cw_channel_config_check(config, PACKET_SIZE);
}

TEST(test_the_defaults_are_as_told)
{
    for (int kind = CW_CHANNEL_RELIABLE_ORDERED; kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++) {
        struct cw_channel_config config = config_of((enum cw_channel_kind)kind);
        assert_int_equal(config.kind, kind);
        assert_int_equal(config.max_messages_per_packet, 256);
        assert_int_equal(config.receive_queue_size, 256);
        assert_false(config.blocks);
        assert_int_equal(config.max_block_size, 256 * 1024);
        assert_int_equal(config.block_fragment_size, 1024);
        assert_int_equal(config.send_queue_size, 256);
        assert_int_equal(config.packet_budget, CW_AUTO);
        assert_int_equal(config.weight, 1);
        assert_int_equal(config.recovery, CW_RECOVERY_RESEND);
        assert_int_equal(config.extra_bytes, 100);
        assert_int_equal(check(&config), CW_OK);
        config.blocks = true;
        assert_int_equal(check(&config), CW_OK);
    }
}

/* Checks one member at its limits and past them. */
#define CHECK_LIMITS(member, least, most)                                                          \
    do {                                                                                           \
        struct cw_channel_config config = config_of(CW_CHANNEL_RELIABLE_ORDERED);                  \
        config.blocks = true;                                                                      \
        config.member = (least);                                                                   \
        assert_int_equal(check(&config), CW_OK);                                                   \
        config.member = (most);                                                                    \
        assert_int_equal(check(&config), CW_OK);                                                   \
        config.member = (least)-1;                                                                 \
        assert_error_names(check(&config), #member);                                               \
        config.member = (most) + 1;                                                                \
        assert_error_names(check(&config), #member);                                               \
    } while (0)

TEST(test_numbers_have_limits)
{
    CHECK_LIMITS(max_messages_per_packet, 1, CW_MAX_MESSAGES_PER_PACKET);
    CHECK_LIMITS(weight, 1, 1000);
    CHECK_LIMITS(send_queue_size, 2, 16384);
    CHECK_LIMITS(receive_queue_size, 2, 16384);
    CHECK_LIMITS(extra_bytes, 1, 400);
    struct cw_channel_config config = config_of(CW_CHANNEL_RELIABLE_ORDERED);
    config.recovery = (enum cw_recovery_kind)3;
    assert_error_names(check(&config), "recovery");
    config = config_of((enum cw_channel_kind)4);
    assert_error_names(check(&config), "kind");
    for (int kind = CW_CHANNEL_RELIABLE_ORDERED; kind <= CW_CHANNEL_RELIABLE_UNORDERED; kind++) {
        const bool reliable =
            kind == CW_CHANNEL_RELIABLE_ORDERED || kind == CW_CHANNEL_RELIABLE_UNORDERED;
        config = config_of((enum cw_channel_kind)kind);
        for (int recovery = CW_RECOVERY_COPIES; recovery <= CW_RECOVERY_CODED; recovery++) {
            config.recovery = (enum cw_recovery_kind)recovery;
            if (reliable)
                assert_int_equal(check(&config), CW_OK);
            else
                assert_error_names(check(&config), "recovery");
        }
    }
}

TEST(test_queues_are_powers_of_two)
{
    struct cw_channel_config config = config_of(CW_CHANNEL_UNRELIABLE);
    config.send_queue_size = 96;
    assert_error_names(check(&config), "send_queue_size");
    config = config_of(CW_CHANNEL_UNRELIABLE);
    config.receive_queue_size = 255;
    assert_error_names(check(&config), "receive_queue_size");
}

TEST(test_blocks_must_fit)
{
    struct cw_channel_config config = config_of(CW_CHANNEL_RELIABLE_ORDERED);
    config.blocks = true;
    config.block_fragment_size = PACKET_SIZE;
    assert_error_names(check(&config), "block_fragment_size");
    config.block_fragment_size = 0;
    assert_error_names(check(&config), "block_fragment_size");
    config.block_fragment_size = 1;
    config.max_block_size = 65535;
    assert_int_equal(check(&config), CW_OK);
    config.max_block_size = 65536;
    assert_error_names(check(&config), "max_block_size");
    config.block_fragment_size = 1024;
    config.max_block_size = 0;
    assert_error_names(check(&config), "max_block_size");
    config.max_block_size = UINT32_MAX;
    assert_error_names(check(&config), "max_block_size");
    config.max_block_size = 1024;
    config.block_fragment_size = UINT32_MAX;
    assert_error_names(check(&config), "block_fragment_size");
    config.block_fragment_size = PACKET_SIZE - 16;
    assert_int_equal(check(&config), CW_OK);
    assert_error_names(cw_channel_config_check(&config, 15), "block_fragment_size");
    /* Without blocks their sizes do not matter. */
    config.blocks = false;
    assert_int_equal(check(&config), CW_OK);
}
