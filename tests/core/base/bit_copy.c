/* Tests of bits copied from and to every place in a byte, into buffers that they fill, or that are
   too short. */
#include "base/bit_copy.h"

#include "fixture.h"
#include "netcode.h"

#define MOST 40

static uint32_t bit_of(const uint8_t *bytes, size_t at)
{
    return bytes[at / 8] >> at % 8 & 1;
}

static void copy(const uint8_t *from, unsigned before, unsigned first, size_t bits, bool fits)
{
    const size_t size = (before + bits + 7) / 8;
    if (size == 0 && !fits)
        return;
    uint8_t *out = malloc(size > 0 ? size : 1);
    struct cw_bit_writer writer = cw_bit_writer_begin(out, fits ? size : size - 1);
    bool written = true;
    for (unsigned i = 0; i < before; i++)
        written = cw_bit_writer_bits(&writer, 1, 1);
    written = cw_bit_copy(&writer, from, first, bits) && written;
    assert_int_equal(written, fits);
    assert_int_equal(cw_bit_writer_flush(&writer), fits ? size : 0);
    for (size_t i = 0; fits && i < before + bits; i++)
        assert_int_equal(bit_of(out, i), i < before ? 1 : bit_of(from, first + i - before));
    free(out);
}

TEST(test_every_place)
{
    uint64_t seed = 3;
    for (size_t bits = 0; bits <= 8 * MOST; bits += bits < 70 ? 1 : 31) {
        for (unsigned first = 0; first < 8; first++) {
            /* The buffer ends at the byte beyond which nothing may be read. */
            const size_t size = (first + bits) / 8 + 8;
            uint8_t *from = malloc(size);
            netcode_fill(&seed, from, size);
            for (unsigned before = 0; before <= 40; before++) {
                copy(from, before, first, bits, true);
                if (bits > 0)
                    copy(from, before, first, bits, false);
            }
            free(from);
        }
    }
}
