/* Tests of the bytes in front of packets and fragments. */
#include "packet/packet_header.h"

#include "base/prng.h"
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

TEST(the_forms_of_a_header)
{
    static const struct {
        struct cw_packet_header header;
        size_t size;
        uint8_t bytes[CW_PACKET_HEADER_MAX_SIZE];
    } forms[] = {
        {{0x1234, 0x1234, 0xFFFFFFFF}, 4, {0x20, 0x34, 0x12, 0}},
        {{0x1234, 0x1135, 0xFFFFFFFF}, 4, {0x20, 0x34, 0x12, 255}},
        {{0x1234, 0x1134, 0xFFFFFFFF}, 5, {0, 0x34, 0x12, 0x34, 0x11}},
        {{0, 0xFFFF, 0xFFFFFFFF}, 4, {0x20, 0, 0, 1}},
        {{5, 4, 0xFFFFFF01}, 5, {0x22, 5, 0, 1, 0x01}},
        {{5, 4, 0x02FFFFFF}, 5, {0x30, 5, 0, 1, 0x02}},
        {{5, 6, 0x01020304}, 9, {0x1E, 5, 0, 6, 0, 4, 3, 2, 1}},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        uint8_t bytes[CW_PACKET_HEADER_MAX_SIZE];
        assert_int_equal(cw_packet_header_write(bytes, &forms[i].header), forms[i].size);
        assert_memory_equal(bytes, forms[i].bytes, forms[i].size);
    }
}

TEST(what_is_written_is_read)
{
    struct cw_prng random = {1};
    for (int i = 0; i < 20000; i++) {
        struct cw_packet_header header = {.sequence = (uint16_t)cw_prng_bits(&random),
                                          .ack_bits = (uint32_t)cw_prng_bits(&random)};
        header.ack = (uint16_t)(header.sequence - cw_prng_below(&random, 300));
        for (int byte = 0; byte < 4; byte++)
            if (cw_prng_chance(&random, 0.5))
                header.ack_bits |= 0xFFu << (8 * byte);
        uint8_t bytes[CW_PACKET_HEADER_MAX_SIZE];
        const size_t size = cw_packet_header_write(bytes, &header);
        struct cw_packet_header read;
        assert_int_equal(cw_packet_header_read(&read, bytes, size), size);
        assert_int_equal(read.sequence, header.sequence);
        assert_int_equal(read.ack, header.ack);
        assert_int_equal(read.ack_bits, header.ack_bits);
        assert_int_equal(cw_packet_header_read_canonical(&read, bytes, size), size);
        for (size_t cut = 0; cut < size; cut++) {
            uint8_t *exact = malloc(cut + 1);
            memcpy(exact, bytes, cut);
            assert_int_equal(cw_packet_header_read(&read, exact, cut), 0);
            free(exact);
        }
    }
}

TEST(only_one_form_is_canonical)
{
    static const uint8_t long_ack[] = {0, 5, 0, 4, 0};
    static const uint8_t full_byte[] = {0x22, 5, 0, 1, 0xFF};
    static const uint8_t unknown_bit[] = {0xA0, 5, 0, 1};
    static const uint8_t fragment[] = {0x21, 5, 0, 1};
    struct cw_packet_header header;
    assert_int_equal(cw_packet_header_read(&header, long_ack, 5), 5);
    assert_int_equal(header.ack, 4);
    assert_int_equal(cw_packet_header_read_canonical(&header, long_ack, 5), 0);
    assert_int_equal(cw_packet_header_read(&header, full_byte, 5), 5);
    assert_int_equal(header.ack_bits, 0xFFFFFFFF);
    assert_int_equal(cw_packet_header_read_canonical(&header, full_byte, 5), 0);
    assert_int_equal(cw_packet_header_read_canonical(&header, unknown_bit, 4), 0);
    assert_int_equal(cw_packet_header_read(&header, fragment, 4), 0);
}

TEST(fragments)
{
    const struct cw_fragment_header header = {.sequence = 0x1234, .id = 2, .count = 256};
    struct cw_fragment_header read;
    uint8_t bytes[CW_FRAGMENT_HEADER_SIZE];
    cw_fragment_header_write(bytes, &header);
    assert_memory_equal(bytes, "\x01\x34\x12\x02\xFF", 5);
    assert_true(cw_fragment_header_read(&read, bytes, 5));
    assert_int_equal(read.sequence, header.sequence);
    assert_int_equal(read.id, header.id);
    assert_int_equal(read.count, header.count);

    assert_false(cw_fragment_header_read(&read, bytes, 4));
    bytes[4] = 1;
    assert_false(cw_fragment_header_read(&read, bytes, 5)); /* this is the third of two */
    bytes[4] = 2;
    assert_true(cw_fragment_header_read(&read, bytes, 5));
    bytes[0] = 3;
    assert_false(cw_fragment_header_read(&read, bytes, 5));
}
