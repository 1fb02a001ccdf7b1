/* Tests of our sender towards a receiver that does what the recorded peer of rudp.json does. This
   receiver asks for gaps in every round, but answers a heartbeat with the news that the package
   which it expects is missing, where ours asks for it. So it never asks for packages that are lost
   at the end of what was sent. */
#include "rudp_rig.h"

#include "protocols/rudp_wire.h"

#define PACKAGES 3000
#define SEEDS    20

/* The foreign end's knowledge of our packages. */
struct foreign {
    bool present[PACKAGES + 1];
    uint32_t next, end;
    bool heartbeat;
};

static void foreign_receive(struct foreign *foreign, const uint8_t *data, size_t size)
{
    struct cw_rudp_item item;
    for (size_t at = 0, used; at < size; at += used) {
        used = cw_rudp_item_read(data + at, size - at, &item);
        assert_true(used > 0);
        foreign->heartbeat |= item.tag == CW_RUDP_HEARTBEAT;
        if (item.tag != CW_RUDP_PACKAGE)
            continue; /* nobody asks it for packages, as it has sent none */
        assert_true(item.id <= PACKAGES);
        foreign->present[item.id] = true;
        if (item.id >= foreign->end)
            foreign->end = item.id + 1u;
    }
    while (foreign->next < foreign->end && foreign->present[foreign->next])
        foreign->next++;
}

/* Plays a round of the foreign end. */
static void foreign_answer(struct foreign *foreign, struct cw_rudp *to)
{
    uint8_t out[4096];
    size_t size = 0;
    for (uint32_t id = foreign->next; id < foreign->end && size + 8 < sizeof out; id++)
        if (!foreign->present[id])
            size += cw_rudp_item_write(
                &(struct cw_rudp_item){.tag = CW_RUDP_REQUEST, .id = (uint16_t)id}, out + size);
    if (foreign->heartbeat)
        size += cw_rudp_item_write(
            &(struct cw_rudp_item){.tag = CW_RUDP_MISSING, .id = (uint16_t)foreign->next},
            out + size);
    else if (size == 0)
        size = cw_rudp_item_write(&(struct cw_rudp_item){.tag = CW_RUDP_HEARTBEAT}, out);
    foreign->heartbeat = false;
    assert_ok(rudp_give_bytes(to, out, size));
}

static bool is_lost(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8 < (1u << 24) * 3 / 10;
}

/* Plays a tick: datagrams to the foreign end may be lost, and its own arrive. */
static void tick(struct cw_rudp *sender, struct foreign *foreign, uint32_t *random)
{
    uint8_t out[512];
    size_t size;
    cw_rudp_update(sender, 1);
    while ((size = cw_rudp_transmit(sender, out, sizeof out)) > 0)
        if (!random || !is_lost(random))
            foreign_receive(foreign, out, size);
    foreign_answer(foreign, sender);
}

static struct cw_rudp *make_sender(void)
{
    struct cw_rudp_config config = cw_rudp_config_default();
    config.max_package_size = 4;
    return rudp_make(&config);
}

/* All packages arrive but those at the end, which nobody asks for; the next package brings them. */
TEST(test_only_what_is_lost_at_the_end_stalls)
{
    uint32_t stalls = 0;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        static struct foreign foreign;
        struct cw_rudp *sender = make_sender();
        uint32_t random = seed;
        foreign = (struct foreign){0};
        for (uint32_t i = 0; i < PACKAGES; i++) {
            assert_ok(cw_rudp_send(sender, (const uint8_t *)&i, sizeof i));
            tick(sender, &foreign, &random);
        }
        for (int i = 0; i < 300; i++)
            tick(sender, &foreign, &random);
        assert_int_equal(foreign.next, foreign.end);
        assert_in_range(foreign.end, PACKAGES - 20, PACKAGES);
        stalls += foreign.next < PACKAGES;
        assert_ok(cw_rudp_send(sender, (const uint8_t *)"last", 4));
        for (int i = 0; i < 5; i++)
            tick(sender, &foreign, NULL);
        assert_int_equal(foreign.next, PACKAGES + 1);
    }
    print_message("%u of %u runs stalled\n", stalls, SEEDS);
    assert_in_range(stalls, 1, SEEDS - 1);
}

/* A receiver of ours asks for the end. */
TEST(test_ours_asks_for_the_end)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct cw_rudp *sender = make_sender(), *receiver = make_sender();
        struct cw_rudp_event event;
        uint32_t random = seed, arrived = 0;
        for (uint32_t i = 0; i < PACKAGES + 100; i++) {
            uint8_t out[512];
            size_t size;
            if (i < PACKAGES)
                assert_ok(cw_rudp_send(sender, (const uint8_t *)&i, sizeof i));
            cw_rudp_update(sender, 1);
            while ((size = cw_rudp_transmit(sender, out, sizeof out)) > 0)
                if (!is_lost(&random))
                    assert_ok(rudp_give_bytes(receiver, out, size));
            cw_rudp_update(receiver, 1);
            while ((size = cw_rudp_transmit(receiver, out, sizeof out)) > 0)
                assert_ok(rudp_give_bytes(sender, out, size));
            while (cw_rudp_next(receiver, &event))
                arrived += event.type == CW_RUDP_EVENT_PACKAGE;
        }
        assert_int_equal(arrived, PACKAGES);
    }
}
