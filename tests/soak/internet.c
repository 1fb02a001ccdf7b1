/* A day of many players on 20 relays and 50 game servers, in virtual time, with one fault after
   another: internet.h says what of it is real. Nobody who had a path may be lost. After a region's
   death, all must play again within BACK_SECONDS, while no relay has more than LOAD_MOST times the
   work for which it is sized. When all relays come back, pages do not try all at the same time. */
#include "internet.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACK_SECONDS 10.0
#define LOAD_MOST    2.0
/* The pauses of pages differ, so this share of those of a relay at most tries again in one tick. */
#define RUSH_MOST       0.5
#define FULL            0.5   /* the share of a core that relay/OPERATING.md treats as full */
#define PLAY_SECONDS    600.0 /* a player's mean */
#define FAULT_SECONDS   20.0  /* a fault lasts so long */
#define NIGHT           0.4   /* the share of a region's players that play at its quietest hour */
#define HERD            0.1   /* the share of all players that come within a second */
#define DRAIN_SECONDS   15.0
#define RESTART_SECONDS 3.0

struct internet internet;

/* The queue of events: a binary heap. */

static struct event *heap;
static size_t heap_count, heap_capacity;

static bool is_before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (!(b->time < a->time) && a->order < b->order);
}

void event_add(double seconds, struct event event)
{
    if (heap_count == heap_capacity) {
        heap_capacity = heap_capacity ? 2 * heap_capacity : 4096;
        heap = realloc(heap, heap_capacity * sizeof *heap);
    }
    event.time = internet.now + seconds;
    event.order = internet.events++;
    size_t at = heap_count++;
    for (; at > 0 && is_before(&event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

static struct event event_take(void)
{
    const struct event first = heap[0], last = heap[--heap_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < heap_count) {
        child += child + 1 < heap_count && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

void events_run(double until)
{
    while (heap_count > 0 && heap[0].time <= until) {
        const struct event event = event_take();
        internet.now = event.time;
        event.run(&event);
        if (event.data && !is_copy(event.data))
            free((void *)(uintptr_t)event.data);
    }
    internet.now = until;
}

double some(double least, double most)
{
    return least + (most - least) * cw_prng_share(&internet.random);
}

/* Faults, and what they have done. */

enum fault { CRASH, SILENCE, REGION, UPGRADE, RENAME, RESTART, HERDS, FAULTS };
static const char *const fault_names[FAULTS] = {
    "a relay dies",         "a relay's machine falls silent", "a region is cut off",
    "a relay upgrades",     "a name leads to a new machine",  "all relays restart",
    "a tenth comes at once"};

#define TIMES 3000 /* steps of 10 ms */

static struct {
    uint32_t faults, players, lost;
    double load;           /* the most of a relay in a second, relative to a full one */
    double rush;           /* the most attempts that a relay got in a tick, as a share */
    double longest;        /* seconds without a path */
    uint32_t times[TIMES]; /* the players who came back after so long */
} results[FAULTS];
static enum fault fault = HERDS;
static double fault_end;

void internet_back(struct player *player, double seconds)
{
    const int time = (int)(seconds * 100);
    results[fault].players++;
    results[fault].longest = fmax(results[fault].longest, seconds);
    results[fault].times[time < TIMES ? time : TIMES - 1]++;

    (void)player;
}

void internet_lost(struct player *player)
{
    results[fault].lost++;
    player->lost_at = 0;
}

static double quantile(enum fault kind, double share)
{
    uint32_t left = (uint32_t)(share * results[kind].players);
    for (int i = 0; i < TIMES; i++) {
        if (results[kind].times[i] > left)
            return i / 100.0;
        left -= results[kind].times[i];
    }
    return TIMES / 100.0;
}

static struct machine *any_machine(void)
{
    return internet.relays[cw_prng_below(&internet.random, RELAYS)].machine;
}

static struct machine *machine_add(unsigned region)
{
    struct machine *machine = calloc(1, sizeof *machine);
    machine_start(machine, region);
    return machine;
}

static void mend(const struct event *event)
{
    struct machine *machine = event->object;
    if (machine->state == MACHINE_REFUSES)
        machine_start(machine, machine->region);
    machine->state = MACHINE_UP;
}

static void restart(struct machine *machine, double seconds)
{
    machine_stop(machine, MACHINE_REFUSES);
    event_add(seconds, (struct event){.run = mend, .object = machine});
}

static void end_machine(const struct event *event)
{
    machine_stop(event->object, MACHINE_REFUSES);
}

static void cut(struct machine *machine)
{
    machine_stop(machine, MACHINE_SILENT);
    event_add(FAULT_SECONDS, (struct event){.run = mend, .object = machine});
    for (uint32_t i = 0; i < internet.player_count; i++) {
        struct player *player = &internet.players[i];
        const struct page_link *link =
            player->present && player->current >= 0 ? player->slots[player->current].link : NULL;
        if (!link || link->machine != machine || !player->kept)
            continue;
        page_wake(i);
        player->lost_at = internet.now;
    }
}

static void rename_relay(void)
{
    struct relay *relay = &internet.relays[cw_prng_below(&internet.random, RELAYS)];
    relay->old = relay->machine;
    relay->machine = machine_add(relay->old->region);
    relay->moved = internet.now;
    machine_drain(relay->old);
    event_add(DRAIN_SECONDS, (struct event){.run = end_machine, .object = relay->old});
}

/* Players come and go. */

static uint32_t *absent, absent_count;
static uint32_t present[REGIONS];

static struct player *arrive(unsigned region)
{
    const uint32_t number = absent[--absent_count];
    present[region]++;
    page_open(number, region,
              region + REGIONS * cw_prng_below(&internet.random, SERVERS / REGIONS));
    return &internet.players[number];
}

static void come(const struct event *event)
{
    if (absent_count > 0)
        arrive(event->number)->lost_at = internet.now;
}

static void herd(void)
{
    const uint32_t most = (uint32_t)(HERD * internet.player_count);
    for (uint32_t i = 0; i < most; i++)
        event_add(some(0, 1), (struct event){.run = come, .number = i % REGIONS});
}

static void begin_fault(const struct event *event)
{
    const unsigned region = cw_prng_below(&internet.random, REGIONS);
    fault = (enum fault)event->number;
    fault_end = internet.now + FAULT_SECONDS;

    results[fault].faults++;
    switch (fault) {
    case CRASH:
        restart(any_machine(), FAULT_SECONDS);
        break;
    case SILENCE:
        cut(any_machine());
        break;
    case REGION:
        for (unsigned i = 0; i < RELAYS / REGIONS; i++)
            cut(internet.relays[region * (RELAYS / REGIONS) + i].machine);
        break;
    case UPGRADE:
        machine_upgrade(any_machine());
        break;
    case RENAME:
        rename_relay();
        break;
    case RESTART:
        for (unsigned i = 0; i < RELAYS; i++)
            restart(internet.relays[i].machine, RESTART_SECONDS);
        break;
    default:
        herd();
        break;
    }
}

static double wanted(unsigned region, double day)
{
    const double hour = internet.now / day + (double)region / (3 * REGIONS);
    const double share = NIGHT + (1 - NIGHT) * (0.5 - 0.5 * cos(2 * acos(-1) * hour));
    return (1 - HERD) * share * internet.player_count / REGIONS;
}

/* Sees each player once in QUIET_SECONDS: a quiet one sends its datagram, and some leave. */
static void visit(uint32_t number)
{
    struct player *player = &internet.players[number];
    struct page_link *link = player->current < 0 ? NULL : player->slots[player->current].link;
    if (!page_is_playing(player) || player->lost_at > 0 || !link)
        return;
    if (cw_prng_chance(&internet.random, QUIET_SECONDS / PLAY_SECONDS)) {
        present[player->region]--;
        page_leave(number);
        absent[absent_count++] = number;
    } else if (!player->ticks && !machine_refresh(link) && link->machine &&
               link->machine->state == MACHINE_UP) {
        /* Somebody has moved it, or its relay has forgotten it. */
        page_wake(number);
    }
}

/* Notes how many attempts a relay got in a tick, relative to the players that it is sized for. */
static void note_rush(void)
{
    for (unsigned i = 0; i < RELAYS; i++) {
        struct machine *machine = internet.relays[i].machine;
        results[fault].rush =
            fmax(results[fault].rush, machine->arrived * (double)RELAYS / internet.player_count);
        machine->arrived = 0;
    }
}

static void each_tick(double day)
{
    static double place;
    const double next = place + internet.player_count * TICK_SECONDS / QUIET_SECONDS;
    for (uint32_t i = (uint32_t)place; i < (uint32_t)next && i < internet.player_count; i++)
        visit(i);
    place = next < internet.player_count ? next : 0;
    note_rush();
    for (unsigned region = 0; region < REGIONS; region++)
        for (unsigned i = 0; i <= internet.player_count / 2000; i++)
            if (absent_count > 0 && present[region] < wanted(region, day))
                arrive(region);
}

/* Returns how many links a machine serves. */
static uint32_t links_of(const struct machine *machine)
{
    uint32_t count = 0;
    for (const struct page_link *link = machine->links; link; link = link->next)
        count += !link->page_done && !link->closing;
    return count;
}

/* Notes how busy the busiest relay was in the last second, when there is a fault. */
static void each_second(void)
{
    double busiest = 0;
    for (unsigned i = 0; i < RELAYS; i++) {
        struct machine *machine = internet.relays[i].machine;
        if (machine->state == MACHINE_UP && internet.now < fault_end)
            busiest = fmax(busiest, machine->spent + links_of(machine) * RATE * COST_DATAGRAMS);
        machine->spent = 0;
    }
    results[fault].load = fmax(results[fault].load, busiest / (FULL * internet.workers));
}

static bool expect(bool fine, const char *what)
{
    if (!fine)
        fprintf(stderr, "%s\n", what);
    return fine;
}

static int report(void)
{
    uint32_t lost = 0;
    printf("%-32s %6s %9s %6s %8s %8s %8s %6s %6s\n", "", "faults", "players", "lost", "median s",
           "99 % s", "longest", "load", "rush");
    for (enum fault kind = 0; kind < FAULTS; kind++) {
        printf("%-32s %6" PRIu32 " %9" PRIu32 " %6" PRIu32 " %8.2f %8.2f %8.2f %6.2f %6.2f\n",
               fault_names[kind], results[kind].faults, results[kind].players, results[kind].lost,
               quantile(kind, 0.5), quantile(kind, 0.99), results[kind].longest, results[kind].load,
               results[kind].rush);
        lost += results[kind].lost;
    }
    const bool fine[] = {
        expect(lost == 0, "somebody was lost who had a path"),
        expect(results[REGION].players > 0, "nobody lost a region"),
        expect(results[REGION].longest <= BACK_SECONDS, "somebody came back late"),
        expect(results[REGION].load <= LOAD_MOST, "a relay had too much to do"),
        expect(results[RESTART].rush <= RUSH_MOST, "too many pages tried again at the same time"),
    };
    return memchr(fine, false, sizeof fine) ? 1 : 0;
}

static void create(uint64_t seed, uint32_t players, uint32_t sample)
{
    internet.random.state = seed;
    internet.player_count = players;
    internet.sample = sample;
    internet.workers = (unsigned)fmax(1, round(players / RELAYS * RATE * COST_DATAGRAMS / FULL));
    internet.places = 3 * players / RELAYS;
    pages_create();
    servers_create();
    for (unsigned i = 0; i < RELAYS; i++)
        internet.relays[i].machine = machine_add(i / (RELAYS / REGIONS));
    absent = malloc(players * sizeof *absent);
    while (absent_count < players) {
        internet.players[absent_count].current = -1;
        absent[absent_count] = absent_count;
        absent_count++;
    }
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},    {"hours", required_argument, NULL, 'h'},
        {"players", required_argument, NULL, 'p'}, {"faults", required_argument, NULL, 'f'},
        {"sample", required_argument, NULL, 'n'},  {NULL, 0, NULL, 0}};
    double values[128] = {['s'] = 1, ['h'] = 1, ['p'] = 10000, ['f'] = 100, ['n'] = 200};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == '?')
            return 2;
        values[option] = strtod(optarg, NULL);
    }
    printf("seed %.0f, %g simulated hours, %.0f players, %.0f faults, a whole core for one player "
           "of %.0f\n",
           values['s'], values['h'], values['p'], values['f'], values['n']);
    fflush(stdout);
    create((uint64_t)values['s'], (uint32_t)values['p'], (uint32_t)values['n']);
    const double day = 3600 * values['h'], pause = day / values['f'];
    for (uint32_t i = 0; i < values['f']; i++)
        event_add((i + 0.5) * pause, (struct event){.run = begin_fault, .number = i % FAULTS});
    for (uint32_t i = 1; i < day / TICK_SECONDS; i++) {
        events_run(i * TICK_SECONDS);
        each_tick(day);
        if (i % 10 == 0)
            each_second();
    }
    return report();
}
