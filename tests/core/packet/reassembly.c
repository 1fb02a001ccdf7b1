/* Tests of packets put together from fragments, in a few slots. */
#include "packet/reassembly.h"

#include "fixture.h"

#include <string.h>

#define SLOTS         2
#define FRAGMENT_SIZE 10
#define MAX_FRAGMENTS 4
#define MAX_SIZE      35

struct rig {
    struct cw_reassemblies all;
    struct cw_reassembly slots[SLOTS];
    uint8_t payloads[SLOTS][MAX_SIZE];
};

static void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    rig->all.slots = rig->slots;
    rig->all.capacity = SLOTS;
    rig->all.fragment_size = FRAGMENT_SIZE;
    rig->all.max_fragments = MAX_FRAGMENTS;
    rig->all.max_packet_size = MAX_SIZE;
    for (int i = 0; i < SLOTS; i++)
        rig->slots[i].payload = rig->payloads[i];
    cw_reassemblies_reset(&rig->all);
}

/* Receives a fragment with `size` bytes of the packet, which are all equal. */
static enum cw_error receive(struct rig *rig, uint16_t sequence, uint32_t id, uint32_t count,
                             size_t size, struct cw_reassembly **complete)
{
    uint8_t data[100];
    const struct cw_fragment_header header = {.sequence = sequence, .id = id, .count = count};
    const struct cw_packet_header packet = {.sequence = sequence, .ack = 7, .ack_bits = 0xFFFFFF01};
    size_t at = CW_FRAGMENT_HEADER_SIZE;
    cw_fragment_header_write(data, &header);
    if (id == 0)
        at += cw_packet_header_write(data + at, &packet);
    memset(data + at, (int)('a' + id), size);
    return cw_reassemblies_receive(&rig->all, &header, data, at + size, complete);
}

TEST(fragments_in_any_order)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    struct rig rig;
    rig_init(&rig);
    for (uint16_t i = 0; i < 4; i++) {
        struct cw_reassembly *complete;
        for (int step = 0; step < 3; step++) {
            const uint32_t id = orders[i][step];
            assert_int_equal(receive(&rig, i, id, 3, id == 2 ? 4 : FRAGMENT_SIZE, &complete),
                             CW_OK);
            assert_int_equal(complete != NULL, step == 2);
        }
        assert_int_equal(complete->size, 24);
        assert_memory_equal(complete->payload, "aaaaaaaaaabbbbbbbbbbcccc", 24);
        assert_int_equal(complete->header.sequence, i);
        assert_int_equal(complete->header.ack, 7);
        assert_int_equal(complete->header.ack_bits, 0xFFFFFF01);
        cw_reassemblies_release(&rig.all, complete);
    }
    assert_int_equal(rig.all.abandoned, 0);
    assert_int_equal(rig.all.fragments, 12);
}

TEST(what_does_not_fit_is_malformed)
{
    struct rig rig;
    struct cw_reassembly *complete;
    rig_init(&rig);
    assert_int_equal(receive(&rig, 1, 1, 5, FRAGMENT_SIZE, &complete), CW_ERROR_MALFORMED);
    assert_int_equal(receive(&rig, 1, 1, 3, FRAGMENT_SIZE - 1, &complete), CW_ERROR_MALFORMED);
    assert_int_equal(receive(&rig, 1, 1, 3, FRAGMENT_SIZE + 1, &complete), CW_ERROR_MALFORMED);
    assert_int_equal(receive(&rig, 1, 3, 4, MAX_SIZE - 30 + 1, &complete), CW_ERROR_MALFORMED);
    assert_int_equal(rig.all.active, 0);
    assert_int_equal(receive(&rig, 1, 3, 4, MAX_SIZE - 30, &complete), CW_OK);
    assert_int_equal(receive(&rig, 1, 1, 3, FRAGMENT_SIZE, &complete), CW_ERROR_MALFORMED);
    assert_int_equal(receive(&rig, 1, 3, 4, MAX_SIZE - 30, &complete), CW_ERROR_DUPLICATE);
    assert_null(complete);

    /* The header in the first fragment is of another packet, or is cut off. */
    const struct cw_fragment_header header = {.sequence = 1, .id = 0, .count = 4};
    uint8_t data[CW_FRAGMENT_HEADER_SIZE + 4 + FRAGMENT_SIZE] = {0x01, 1, 0, 0, 3, 0x20, 2, 0, 1};
    assert_int_equal(cw_reassemblies_receive(&rig.all, &header, data, sizeof data, &complete),
                     CW_ERROR_MALFORMED);
    data[6] = 1;
    assert_int_equal(cw_reassemblies_receive(&rig.all, &header, data, 8, &complete),
                     CW_ERROR_MALFORMED);
    assert_int_equal(cw_reassemblies_receive(&rig.all, &header, data, sizeof data, &complete),
                     CW_OK);
}

TEST(a_newer_packet_takes_the_place_of_the_oldest)
{
    struct rig rig;
    struct cw_reassembly *complete;
    rig_init(&rig);
    assert_int_equal(receive(&rig, 65535, 1, 2, 5, &complete), CW_OK);
    assert_int_equal(receive(&rig, 1, 1, 2, 5, &complete), CW_OK);
    assert_int_equal(receive(&rig, 65534, 1, 2, 5, &complete), CW_ERROR_STALE);
    assert_int_equal(receive(&rig, 0, 1, 2, 5, &complete), CW_OK); /* 65535 is older */
    assert_int_equal(rig.all.abandoned, 1);
    assert_int_equal(receive(&rig, 65535, 0, 2, FRAGMENT_SIZE, &complete), CW_ERROR_STALE);
    assert_int_equal(receive(&rig, 1, 0, 2, FRAGMENT_SIZE, &complete), CW_OK);
    assert_non_null(complete);
    cw_reassemblies_release(&rig.all, complete);
    assert_int_equal(receive(&rig, 0, 0, 2, FRAGMENT_SIZE, &complete), CW_OK);
    assert_non_null(complete);
}

TEST(old_packets_are_given_up)
{
    struct rig rig;
    struct cw_reassembly *complete;
    rig_init(&rig);
    assert_int_equal(receive(&rig, 65535, 1, 2, 5, &complete), CW_OK);
    assert_int_equal(receive(&rig, 3, 1, 2, 5, &complete), CW_OK);
    cw_reassemblies_expire(&rig.all, 65535);
    assert_int_equal(rig.all.active, 2);
    cw_reassemblies_expire(&rig.all, 3);
    assert_int_equal(rig.all.active, 1);
    assert_int_equal(rig.all.abandoned, 1);
    assert_int_equal(receive(&rig, 3, 0, 2, FRAGMENT_SIZE, &complete), CW_OK);
    assert_non_null(complete);
}
