/* The cost of one browser that floods to the others, in packets: a socket that all share, and a
   relay that can work off a limited number of packets in a millisecond, in virtual time. */
#include "fixture.h"
#include "rtc/policing.h"

#define LIMIT        1500.0 /* packets in a second, as --upstream-packets has it */
#define MILLISECONDS 10000

/* The relay's work in a millisecond, when it gets a quarter of a core, and the part of that for
   each packet, in microseconds. */
#define BUDGET       250
#define WORK_COST    10
#define DROP_COST    1
#define QUEUE_PLACES 3000

#define HONEST        20
#define HONEST_PERIOD 16 /* ms between two datagrams */
#define FLOOD         30 /* packets in a ms: 290 Mbit/s of 1,200 bytes */

struct world {
    struct policing policing[1 + HONEST];
    bool polices;
    int queue[QUEUE_PLACES]; /* the sender of each packet; 0 = the flooder */
    int first, count;
    int spent;
    /* numbers of packets */
    int honest_sent, honest_worked, honest_policed, honest_overflowed;
    int flood_worked, flood_policed;
};

static void arrive(struct world *world, int whose)
{
    world->honest_sent += whose > 0;
    if (world->count == QUEUE_PLACES) {
        world->honest_overflowed += whose > 0;
        return;
    }
    world->queue[(world->first + world->count++) % QUEUE_PLACES] = whose;
}

static void work(struct world *world, double now)
{
    while (world->count > 0 && world->spent < BUDGET) {
        const int whose = world->queue[world->first];
        world->first = (world->first + 1) % QUEUE_PLACES;
        world->count--;
        const bool taken =
            !world->polices || policing_take(&world->policing[whose], POLICED_DATA, LIMIT, now);
        world->spent += taken ? WORK_COST : DROP_COST;
        *(whose > 0 ? taken ? &world->honest_worked : &world->honest_policed
          : taken   ? &world->flood_worked
                    : &world->flood_policed) += 1;
    }
    world->spent = world->spent > BUDGET ? world->spent - BUDGET : 0;
}

static struct world run(bool polices)
{
    static struct world world;
    world = (struct world){.polices = polices};
    for (int i = 0; i <= HONEST; i++)
        policing_init(&world.policing[i]);
    for (int ms = 0; ms < MILLISECONDS; ms++) {
        for (int i = 0; i < FLOOD; i++)
            arrive(&world, 0);
        for (int i = 1; i <= HONEST; i++) {
            if ((ms + i) % HONEST_PERIOD == 0)
                arrive(&world, i);
        }
        work(&world, ms / 1000.0);
    }
    while (world.count > 0)
        work(&world, MILLISECONDS / 1000.0);
    assert_int_equal(world.honest_sent,
                     world.honest_worked + world.honest_policed + world.honest_overflowed);
    return world;
}

TEST(a_flooder_costs_others_nothing)
{
    const struct world without = run(false);
    print_message("without policing %d of %d lost\n", without.honest_overflowed,
                  without.honest_sent);
    assert_true(without.honest_overflowed > without.honest_sent / 2);
    const struct world with = run(true);
    assert_int_equal(with.honest_worked, with.honest_sent);
    print_message("with it %d, and %d of the flood dropped unread\n",
                  with.honest_sent - with.honest_worked, with.flood_policed);
    /* The flooder is no worse off than one that keeps to the limit. */
    assert_true(with.flood_worked >= (int)LIMIT * MILLISECONDS / 1000);
    assert_true(with.flood_worked <= 3 * (int)LIMIT * MILLISECONDS / 1000);
}

/* Returns how many of `count` packets that come at once are taken. */
static int take(struct policing *policing, enum policed kind, int count, double now)
{
    int taken = 0;
    for (int i = 0; i < count; i++)
        taken += policing_take(policing, kind, LIMIT, now);
    return taken;
}

TEST(who_keeps_to_the_limit_is_not_touched)
{
    struct policing policing;
    policing_init(&policing);
    /* A network holds up all packets of half a second, again and again. */
    for (int i = 0; i < 20; i++)
        assert_int_equal(take(&policing, POLICED_DATA, (int)LIMIT / 2, i * 0.5), (int)LIMIT / 2);
    /* The checks are for ten pairs of addresses. */
    for (int i = 0; i < 100; i++)
        assert_int_equal(take(&policing, POLICED_CHECK, 10, i * 0.05), 10);
    assert_int_equal(take(&policing, POLICED_OTHER, 20, 0.0), 20);
}

TEST(acknowledgements_are_not_counted)
{
    struct policing policing;
    policing_init(&policing);
    for (int ms = 0; ms < MILLISECONDS; ms++) {
        for (int i = 0; i < 10; i++)
            policing_sent(&policing);
        assert_int_equal(take(&policing, POLICED_DATA, 10 + 1, ms / 1000.0), 11);
    }
}

/* Packets that anyone can forge use up nothing of the allowance for those that only the browser can
   send. */
TEST(strangers_use_up_nothing)
{
    struct policing policing;
    int guesses = 0;
    policing_init(&policing);
    for (int ms = 0; ms < MILLISECONDS; ms++) {
        const double now = ms / 1000.0;
        guesses += take(&policing, POLICED_OTHER, 100, now);
        assert_int_equal(take(&policing, POLICED_DATA, 1, now), 1);
        if (ms % 50 == 0)
            assert_int_equal(take(&policing, POLICED_CHECK, 10, now), 10);
    }
    assert_true(guesses < 300 * MILLISECONDS / 1000);
}

TEST(without_a_limit_data_have_none)
{
    struct policing policing;
    policing_init(&policing);
    for (int i = 0; i < 100000; i++)
        assert_true(policing_take(&policing, POLICED_DATA, 0.0, 0.0));
    int checks = 0;
    for (int i = 0; i < 100000; i++)
        checks += policing_take(&policing, POLICED_CHECK, 0.0, 0.0);
    assert_true(checks > 0 && checks < 1000);
}
