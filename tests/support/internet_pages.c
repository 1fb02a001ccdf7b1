/* The pages of the internet in virtual time: how relays.ts, links.ts and dialer.ts open links, with
   their constants. */
#include "internet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The constants of the page, from its sources. */
static struct {
    double late, retry, retry_most;         /* relays.ts */
    double replace, growth, pause, growths; /* dialer.ts */
    double open;                            /* race.ts */
} rule;

/* Returns the number that follows a text in a source. */
static double number_after(const char *path, const char *text)
{
    static char source[100000];
    char name[1000];
    snprintf(name, sizeof name, "%s/%s", WEB_SOURCE, path);
    FILE *file = fopen(name, "r");
    const size_t size = file ? fread(source, 1, sizeof source - 1, file) : 0;
    source[size] = '\0';
    const char *at = strstr(source, text);
    if (file)
        fclose(file);
    if (!at) {
        fprintf(stderr, "%s has no \"%s\"\n", name, text);
        exit(2);
    }
    return strtod(at + strlen(text), NULL);
}

void pages_create(void)
{
    rule.late = number_after("relays.ts", "const LATE_SECONDS = ");
    rule.retry = number_after("relays.ts", "const RETRY_SECONDS = ");
    rule.retry_most = number_after("relays.ts", "const RETRY_MOST_SECONDS = ");
    rule.replace = number_after("dialer.ts", "const REPLACE_SECONDS = ");
    rule.growth = number_after("dialer.ts", "const GROWTH = ");
    rule.pause = number_after("dialer.ts", "const PAUSE_SECONDS = ");
    rule.growths = number_after("dialer.ts", "const GROWTHS = ");
    rule.open = number_after("race.ts", "timeoutSeconds: options.timeoutSeconds ?? ");
    internet.players = calloc(internet.player_count, sizeof *internet.players);
}

static uint32_t number_of(const struct player *player)
{
    return (uint32_t)(player - internet.players);
}

double region_way(unsigned one, unsigned other)
{
    const unsigned apart = (one + REGIONS - other) % REGIONS;
    const unsigned distance = apart < REGIONS - apart ? apart : REGIONS - apart;
    return 0.004 + 0.03 * distance;
}

double page_way(const struct player *player, unsigned region)
{
    return player->last_mile / 2 + region_way(player->region, region);
}

static struct machine *machine_of(const struct player *player, const struct slot *slot)
{
    return relay_machine(&internet.relays[slot->relay], number_of(player));
}

/* Attempts. */

static void give_up(struct slot *slot)
{
    slot->attempt++;
    slot->dials = slot->waits = false;
}

static struct event to_page(const struct player *player, const struct slot *slot,
                            void (*run)(const struct event *))
{
    return (struct event){.run = run,
                          .player = number_of(player),
                          .slot = (unsigned)(slot - player->slots),
                          .number = slot->attempt};
}

static struct slot *slot_of(const struct event *event)
{
    struct slot *slot = &internet.players[event->player].slots[event->slot];
    return slot->attempt == event->number ? slot : NULL;
}

static void failed(struct player *player, struct slot *slot);

static void has_failed(const struct event *event)
{
    struct slot *slot = slot_of(event);
    if (slot && slot->dials)
        failed(&internet.players[event->player], slot);
}

/* TCP sends its first packet again after 1, 3 and 7 seconds, or so; here after twice the time each
   time. */
static void arrives(const struct event *event)
{
    struct slot *slot = slot_of(event);
    struct player *player = &internet.players[event->player];
    struct machine *machine = event->object;
    if (!slot || !slot->dials)
        return;
    if (machine->state == MACHINE_REFUSES)
        event_add(page_way(player, machine->region), to_page(player, slot, has_failed));
    else if (machine->state == MACHINE_UP)
        machine_accept(machine, event->player, event->slot, event->number);
    else
        event_add(internet.now - slot->dialed, *event);
}

/* Begins an attempt. TCP takes a round trip before the first message of TLS. */
static void dial(struct player *player, struct slot *slot, double timeout)
{
    struct machine *machine = machine_of(player, slot);
    const double way = page_way(player, machine->region);
    if (slot->dials)
        return;
    give_up(slot);
    slot->dials = true;
    slot->dialed = internet.now;
    struct event event = to_page(player, slot, arrives);
    event.object = machine;
    event_add(machine->state == MACHINE_REFUSES ? way : 3 * way, event);
    event_add(timeout, to_page(player, slot, has_failed));
}

/* Dialer.replace */
static void replace(struct player *player, struct slot *slot)
{
    const double seconds =
        fmax(rule.replace, 2 * slot->took) * pow(rule.growth, (double)slot->pauses);
    dial(player, slot, fmin(rule.open, seconds));
}

static void after_pause(const struct event *event)
{
    struct player *player = &internet.players[event->player];
    struct slot *slot = slot_of(event);
    if (!slot || !slot->waits)
        return;
    slot->waits = false;
    if (slot->has_session)
        replace(player, slot);
    else
        dial(player, slot, rule.open);
}

/* pauseMs of dialer.ts */
static void pause_for(struct player *player, struct slot *slot, double seconds)
{
    give_up(slot);
    slot->waits = true;
    event_add(seconds * some(0, 2), to_page(player, slot, after_pause));
}

/* Dialer.replaceLater */
static void replace_later(struct player *player, struct slot *slot)
{
    pause_for(player, slot, rule.pause * pow(rule.growth, (double)slot->pauses));
    slot->pauses = (unsigned)fmin(slot->pauses + 1, rule.growths);
}

/* The session with the nearest relay. */

static struct slot *current_of(struct player *player)
{
    return player->current < 0 ? NULL : &player->slots[player->current];
}

/* Tells the policy whether there is a link. */
static void look(struct player *player)
{
    bool linked = false;
    for (unsigned i = 0; i < LISTED; i++)
        linked = linked || player->slots[i].link;
    if (player->opened && linked != player->linked)
        cw_client_policy_link(&player->policy, linked, internet.now);
    player->linked = linked;
}

static void ask(struct player *player)
{
    if (player->asks || !player->kept)
        return;
    player->asks = true;
    for (unsigned i = 0; i < LISTED; i++)
        if ((int)i != player->current)
            dial(player, &player->slots[i], rule.open);
}

/* NearestSession opens: the core may send. */
static void open(struct player *player)
{
    if (player->opened)
        return;
    player->opened = true;
    cw_client_policy_link(&player->policy, true, internet.now);
    core_connect(player);
    page_wake(number_of(player));
}

static bool all_are_tried(const struct player *player)
{
    bool dials = false;
    for (unsigned i = 0; i < LISTED; i++)
        dials = dials || player->slots[i].dials;
    return !dials;
}

static void is_late(const struct event *event)
{
    struct player *player = &internet.players[event->player];
    if (player->present && player->linked && player->slots[0].key == event->number)
        open(player);
}

static void end_attempt(struct player *player)
{
    cw_client_policy_fail(&player->policy, CW_CLIENT_REQUEST_TIMED_OUT, internet.now);
    page_wake(number_of(player));
}

static void failed(struct player *player, struct slot *slot)
{
    slot->dials = false;
    if (slot->has_session)
        replace_later(player, slot);
    else if (player->kept && player->asks)
        pause_for(player, slot,
                  fmin(rule.retry * pow(2, (double)slot->failures++), rule.retry_most));
    else if (!player->kept && all_are_tried(player) && player->linked)
        open(player);
    else if (!player->kept && all_are_tried(player))
        end_attempt(player);
}

void page_failed(uint32_t number, unsigned slot)
{
    struct player *player = &internet.players[number];
    event_add(page_way(player, machine_of(player, &player->slots[slot])->region),
              to_page(player, &player->slots[slot], has_failed));
}

static void close_slot(struct slot *slot)
{
    give_up(slot);
    if (slot->link)
        page_link_close(slot->link);
    slot->link = NULL;
    slot->has_session = slot->replaces = false;
    slot->key++;
}

/* Takes a link of which the relay has told. */
static void has_linked(const struct event *event)
{
    struct player *player = &internet.players[event->player];
    struct slot *slot = slot_of(event);
    struct page_link *link = event->object;
    if (!slot || !slot->dials || !link->machine) {
        page_link_close(link);
        return;
    }
    slot->dials = false;
    slot->took = internet.now - slot->dialed;
    slot->failures = 0;
    if (slot->link)
        page_link_close(slot->link);
    slot->link = link;
    slot->received = 0;
    slot->has_session = true;
    if (player->current < 0)
        player->current = (int)event->slot;
    look(player);
    if (player->kept) {
        core_move(player);
        page_wake(event->player);
    } else if (all_are_tried(player)) {
        open(player);
    } else {
        event_add(rule.late, (struct event){.run = is_late,
                                            .player = event->player,
                                            .number = player->slots[0].key});
    }
}

void page_linked(uint32_t number, unsigned slot, struct page_link *link)
{
    struct player *player = &internet.players[number];
    struct event event = to_page(player, &player->slots[slot], has_linked);
    event.object = link;
    event_add(page_way(player, link->machine->region), event);
}

/* The codes after which links.ts asks for the same session again, those that this world knows. */
#define CODE_STOPPING 1001

#define CODE_RESTART 1012
#define CODE_MOVED   4003

void page_link_lost(uint32_t number, unsigned index, unsigned code)
{
    struct player *player = &internet.players[number];
    struct slot *slot = &player->slots[index];
    const bool known =
        code == CODE_STOPPING || code == CODE_BROKEN || code == CODE_RESTART || code == CODE_MOVED;
    const bool fruitless = slot->replaces && slot->received == 0;
    look(player);
    if (player->lost_at == 0 && player->kept && (int)index == player->current)
        player->lost_at = internet.now;
    if (!player->kept || (int)index != player->current) {
        close_slot(slot);
        if (player->kept ? player->asks : !slot->dials)
            failed(player, slot);
        return;
    }
    slot->replaces = true;
    if (!known)
        slot->key++;
    if (!fruitless)
        slot->pauses = 0;
    if (known && !fruitless)
        replace(player, slot);
    else
        replace_later(player, slot);
    ask(player);
    page_wake(number);
}

/* Lets the policy of a page that was quiet think that packets have come all the time, until so many
   seconds ago. */
static void skip_time(struct player *player, double seconds)
{
    player->policy.last_call = internet.now;
    player->policy.last_received = player->heard = internet.now - seconds;
}

/* Goes on over this session alone. */
static void settle(struct player *player, unsigned winner)
{
    player->asks = false;
    player->current = (int)winner;
    for (unsigned i = 0; i < LISTED; i++)
        if (i != winner)
            close_slot(&player->slots[i]);
    give_up(&player->slots[winner]);
    look(player);
}

void page_receive(uint32_t number, unsigned index, const uint8_t *data, size_t size)
{
    struct player *player = &internet.players[number];
    player->slots[index].received++;
    if (player->asks)
        settle(player, index);
    if ((int)index != player->current || !player->opened)
        return;
    if (!player->ticks)
        skip_time(player, 0);
    core_receive(player, data, size);
    cw_client_policy_received(&player->policy, internet.now, internet.now);
    player->heard = internet.now;
    player->kept = player->kept || player->phase == CORE_CONNECTED;
    if (player->lost_at > 0 && player->phase == CORE_CONNECTED && !core_is_moving(player)) {
        internet_back(player, internet.now - player->lost_at);
        player->lost_at = 0;
    }
}

static void at_machine(const struct event *event)
{
    const struct slot *slot = &internet.players[event->player].slots[event->slot];
    if (slot->link && slot->link->number == event->number)
        machine_receive(slot->link, event->data, event->size);
}

static void send_over(struct player *player, const struct slot *slot, const uint8_t *data,
                      size_t size)
{
    if (!slot->link || !slot->link->machine)
        return;
    struct event event = to_page(player, slot, at_machine);
    event.number = slot->link->number;
    event.data = is_copy(data) ? data : memcpy(malloc(size), data, size);
    event.size = size;
    event_add(page_way(player, slot->link->machine->region), event);
}

void page_send(struct player *player, const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < LISTED; i++)
        if (player->asks || (int)i == player->current)
            send_over(player, &player->slots[i], data, size);
}

/* Begins to connect, as at the page's load and after a pause of the policy. */
static void begin(struct player *player)
{
    player->asks = true;
    player->kept = player->linked = player->opened = player->moving = false;
    player->current = -1;
    player->phase = CORE_NONE;
    for (unsigned i = 0; i < LISTED; i++) {
        close_slot(&player->slots[i]);
        player->slots[i].failures = player->slots[i].pauses = 0;
    }
    cw_client_policy_token(&player->policy, 1, INFINITY);
    cw_client_policy_next(&player->policy);
    for (unsigned i = 0; i < LISTED; i++)
        dial(player, &player->slots[i], rule.open);
}

/* Gives the page two relays of its region and one of any other region, as a matchmaker would. */
static void choose_relays(struct player *player)
{
    const unsigned each = RELAYS / REGIONS;
    const unsigned first = cw_prng_below(&internet.random, each);
    const unsigned beside = 1 + cw_prng_below(&internet.random, REGIONS - 1);
    player->slots[0].relay = player->region * each + first;
    player->slots[1].relay =
        player->region * each + (first + 1 + cw_prng_below(&internet.random, each - 1)) % each;
    player->slots[2].relay =
        (player->region + beside) % REGIONS * each + cw_prng_below(&internet.random, each);
}

void page_open(uint32_t number, unsigned region, unsigned server)
{
    struct player *player = &internet.players[number];
    player->present = true;
    player->region = region;
    player->server = server;
    player->last_mile = some(0.005, 0.04);
    player->lost_at = 0;
    choose_relays(player);
    player->policy =
        (struct cw_client_policy){.config = {.silence_seconds = CW_CLIENT_SILENCE_SECONDS,
                                             .attempts = UINT32_MAX,
                                             .after_any_end = true,
                                             .random = random_source()}};
    cw_client_policy_start(&player->policy, false, internet.now);
    begin(player);
}

void page_leave(uint32_t number)
{
    struct player *player = &internet.players[number];
    core_leave(player);
    player->present = player->opened = player->kept = false;
    player->policy.phase = CW_CLIENT_PHASE_OVER;
    for (unsigned i = 0; i < LISTED; i++)
        close_slot(&player->slots[i]);
}

bool page_is_playing(const struct player *player)
{
    return player->present && player->phase == CORE_CONNECTED;
}

static bool is_quiet(const struct player *player)
{
    return player->policy.phase == CW_CLIENT_PHASE_CONNECTED && !player->asks &&
           player->lost_at == 0 && !core_is_moving(player) && player->linked && !player->client;
}

static void plan_tick(struct player *player);

static void tick(const struct event *event)
{
    struct player *player = &internet.players[event->player];
    struct cw_client_policy *policy = &player->policy;
    player->ticks = false;
    if (!player->present || is_quiet(player))
        return;
    cw_client_policy_update(policy, internet.now, internet.now);
    if (player->opened)
        core_tick(player);
    switch (cw_client_policy_next(policy)) {
    case CW_CLIENT_ACTION_TOKEN:
        begin(player);
        break;
    case CW_CLIENT_ACTION_RENEW:
        dial(player, current_of(player), rule.open);
        ask(player);
        break;
    case CW_CLIENT_ACTION_END:
        if (player->kept)
            internet_lost(player);
        core_leave(player);
        break;
    default:
        break;
    }
    plan_tick(player);
}

static void plan_tick(struct player *player)
{
    player->ticks = true;
    event_add(TICK_SECONDS, (struct event){.run = tick, .player = number_of(player)});
}

void page_wake(uint32_t number)
{
    struct player *player = &internet.players[number];
    if (player->ticks || !player->present)
        return;
    if (player->policy.phase == CW_CLIENT_PHASE_CONNECTED)
        skip_time(player, some(0, TICK_SECONDS));
    plan_tick(player);
}
