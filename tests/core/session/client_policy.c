/* A client's policy, in virtual time and for each kind of host: a real client and a real server,
   and between them a path that may be cut in every way. */
#include "session/client_policy.h"

#include "secure_message_rig.h"

#include <math.h>

#define TICK            (1 / 60.0)
#define TIMEOUT_SECONDS 30
#define PATH_MOST       8192 /* datagrams on the way in one direction */
#define SOCKET_MOST     800  /* datagrams that wait for a program that does not run */
#define NEVER           ((double)INFINITY)

/* The numbers of the first server's challenges begin with the first of these, and those of one that
   follows it with another, which a client takes for newer ones or for older ones. */
#define FIRST_CHALLENGES  0x05
#define HIGHER_CHALLENGES 0x0a
#define LOWER_CHALLENGES  0x00

/* A host does I/O and nothing else. */
struct host_kind {
    const char *name;
    bool links;         /* it opens links to a relay, which come and go; else it has one socket */
    bool clock_stops;   /* while the machine sleeps */
    uint32_t attempts;  /* the policy's config's */
    bool after_any_end; /* likewise */
};

static const struct host_kind host_kinds[] = {
    {"native", false, true, UINT32_MAX, true},
    {"native, other clock", false, false, UINT32_MAX, true},
    {"page", true, false, 8, false},
    {"page, other clock", true, true, 8, false},
};
#define HOST_KINDS (sizeof host_kinds / sizeof *host_kinds)
#define PAGE       (&host_kinds[2])
#define NATIVE     (&host_kinds[0])

static const double round_trips[] = {0.0001, 0.05, 0.3, 1, 5};
#define ROUND_TRIPS (sizeof round_trips / sizeof *round_trips)

struct datagram {
    double due;
    uint32_t place;
    size_t size;
    uint8_t data[CW_SECURE_MAX];
};

/* One direction, first in first out. */
struct path {
    struct datagram datagrams[PATH_MOST];
    uint32_t first, count;
};

static struct world {
    struct message_rig messages;
    struct path up, down;
    double rtt;
    bool server_runs;
    uint8_t challenges; /* every byte of the random number from which the server counts them */
    bool way;           /* through the network and the relay */
    uint32_t life;      /* the life of tokens, seconds */
    bool exact;         /* tokens say when they were made */
    uint32_t addresses; /* the addresses of tokens, of which only the last is a server's */
    struct cw_address nobody[2];

    const struct host_kind *kind;
    struct cw_client_policy policy;
    struct cw_client *client;
    double asleep;  /* seconds for which its clock did not go */
    uint32_t place; /* from where datagrams leave, which the server sees */
    bool linked;    /* to it */
    double opens;   /* when the next link is open, which is tried now */
    uint32_t tokens, links, renewals, connections, ends, late;
    double ended, asked; /* when it ended last, and when it asked for a token */
    double client_heard; /* when a message came from the server that was no late one */
    double server_heard;
} world;

static double now_of_client(void)
{
    return world.messages.rig.now - world.asleep;
}

static double unix_now(void)
{
    return RIG_UNIX + world.messages.rig.now;
}

static void put(struct path *path, uint32_t place, const uint8_t *data, size_t size)
{
    if (!world.way)
        return;
    assert_true(path->count < PATH_MOST);
    struct datagram *datagram = &path->datagrams[(path->first + path->count++) % PATH_MOST];
    datagram->due = world.messages.rig.now + world.rtt / 2;
    datagram->place = place;
    datagram->size = size;
    memcpy(datagram->data, data, size);
}

/* The next one that has arrived. */
static struct datagram *take(struct path *path)
{
    struct datagram *datagram = &path->datagrams[path->first];
    if (path->count == 0 || datagram->due > world.messages.rig.now)
        return NULL;
    path->first = (path->first + 1) % PATH_MOST;
    path->count--;
    return datagram;
}

/* The server draws 8 bytes for the number of its first challenge, and for seeds of hashes, which do
   not matter here. */
static void fill_for_server(void *seed, uint8_t *bytes, size_t size)
{
    netcode_fill(seed, bytes, size);
    if (size == 8)
        memset(bytes, world.challenges, size);
}

static void open_server(void)
{
    struct rig *rig = &world.messages.rig;
    rig->config.addresses = &rig->address;
    rig->config.random = (struct cw_random){fill_for_server, &rig->seed};
    struct cw_server_config config = cw_server_config_default();
    config.netcode = rig->config;
    config.connection = rig->connection;
    rig->server = server_with(&config);
    world.server_runs = true;
}

static void close_server(void)
{
    world.server_runs = false;
}

static void run_server(void)
{
    struct rig *rig = &world.messages.rig;
    struct datagram *datagram;
    while ((datagram = take(&world.up)) != NULL) {
        const struct cw_address from = rig_client_address(datagram->place);
        if (world.server_runs)
            cw_server_receive(rig->server, &from, datagram->data, datagram->size, rig->now);
        struct cw_server_event event;
        while (world.server_runs && cw_server_next(rig->server, &event))
            if (event.type == CW_SERVER_EVENT_MESSAGE) {
                cw_message_release(event.message);
                world.server_heard = rig->now;
            }
    }
    if (!world.server_runs)
        return;
    struct cw_server_event event;
    while (cw_server_next(rig->server, &event))
        if (event.type == CW_SERVER_EVENT_MESSAGE)
            cw_message_release(event.message);
    for (uint32_t slot = 0; slot < rig->config.max_clients; slot++)
        if (cw_server_connection(rig->server, slot))
            cw_connection_send_value(cw_server_connection(rig->server, slot), UNRELIABLE, 0,
                                     &(struct note){.number = 1}, rig->now);
    cw_server_update(rig->server, rig->now);
    uint8_t data[CW_SECURE_MAX];
    struct cw_address to;
    size_t size;
    while ((size = cw_server_transmit(rig->server, data, sizeof data, rig->now, &to)) > 0)
        put(&world.down, (uint32_t)to.port - 1000, data, size);
}

static void open_link(void)
{
    world.links++;
    world.opens = world.messages.rig.now + 2 * world.rtt;
}

static void lose_link(void)
{
    world.linked = false;
    cw_client_policy_link(&world.policy, false, now_of_client());
    open_link();
}

/* There is another link, which the server does not know yet. */
static void use_link(void)
{
    world.opens = NEVER;
    world.place++;
    world.linked = true;
    const enum cw_client_state state = cw_client_state(world.client);
    if (state == CW_CLIENT_CONNECTED)
        cw_netcode_client_move(cw_client_netcode(world.client), now_of_client());
    cw_client_policy_link(&world.policy, true, now_of_client());
    if (state > CW_CLIENT_DISCONNECTED && state < CW_CLIENT_CONNECTED)
        cw_netcode_client_try_server(cw_client_netcode(world.client), world.policy.server,
                                     now_of_client());
}

static void use_token(void)
{
    struct rig *rig = &world.messages.rig;
    struct cw_token_grant grant = world.exact ? rig_exact_grant(rig, 5, 0) : rig_grant(rig, 5);
    struct cw_address addresses[3];
    for (uint32_t i = 0; i + 1 < world.addresses; i++)
        addresses[i] = world.nobody[i];
    addresses[world.addresses - 1] = rig->address;
    grant.addresses = addresses;
    grant.address_count = world.addresses;
    grant.timeout_seconds = TIMEOUT_SECONDS;
    grant.life_seconds = world.life;
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, rig_key, token));
    world.tokens++;
    world.asked = rig->now;
    assert_ok(cw_client_connect(world.client, token, sizeof token, now_of_client()));
    cw_client_policy_token(&world.policy, grant.address_count,
                           (double)(grant.create_time + grant.life_seconds));
}

static void act(void)
{
    for (;;)
        switch (cw_client_policy_next(&world.policy)) {
        case CW_CLIENT_ACTION_NONE:
            return;
        case CW_CLIENT_ACTION_TOKEN:
            use_token();
            break;
        case CW_CLIENT_ACTION_OPEN:
            world.linked = false;
            if (world.kind->links) {
                open_link();
            } else {
                world.linked = true;
                cw_client_policy_link(&world.policy, true, now_of_client());
            }
            break;
        case CW_CLIENT_ACTION_RENEW:
            world.renewals++;
            if (!world.kind->links) {
                if (!cw_netcode_client_moving(cw_client_netcode(world.client)))
                    cw_netcode_client_move(cw_client_netcode(world.client), now_of_client());
            } else if (world.opens == NEVER) {
                open_link();
            }
            break;
        case CW_CLIENT_ACTION_END:
            world.ends++;
            world.ended = world.messages.rig.now;
            cw_client_disconnect(world.client);
            break;
        }
}

static void follow(void)
{
    struct cw_client_event event;
    while (cw_client_next(world.client, &event)) {
        world.connections += event.type == CW_CLIENT_EVENT_CONNECTED;
        if (event.type == CW_CLIENT_EVENT_MESSAGE) {
            cw_message_release(event.message);
            world.client_heard = world.messages.rig.now;
        }
    }
    cw_client_policy_follow(&world.policy, cw_client_state(world.client),
                            cw_netcode_client_server_index(cw_client_netcode(world.client)),
                            now_of_client());
    act();
}

static void receive(void)
{
    struct datagram *datagram;
    while ((datagram = take(&world.down)) != NULL)
        if (world.linked && datagram->place == world.place &&
            cw_client_receive(world.client, NULL, datagram->data, datagram->size,
                              now_of_client()) == CW_OK) {
            cw_client_policy_received(&world.policy, now_of_client(), unix_now());
            follow();
        }
}

static void run_host(void)
{
    if (world.way && world.opens <= world.messages.rig.now)
        use_link();
    receive();
    cw_client_policy_update(&world.policy, now_of_client(), unix_now());
    act();
    struct cw_connection *connection = cw_client_connection(world.client);
    if (cw_client_state(world.client) == CW_CLIENT_CONNECTED)
        cw_connection_send_value(connection, UNRELIABLE, 0, &(struct note){.number = 1},
                                 now_of_client());
    cw_client_update(world.client, now_of_client());
    follow();
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_client_transmit(world.client, data, sizeof data, now_of_client(), NULL)) > 0)
        if (world.linked && world.policy.server + 1 == world.addresses)
            put(&world.up, world.place, data, size);
}

static void run(double seconds)
{
    for (const double until = world.messages.rig.now + seconds; world.messages.rig.now < until;
         world.messages.rig.now += TICK) {
        run_server();
        run_host();
    }
}

/* The program does not run. Only so many datagrams wait for it, the oldest. */
static void sleep_for(double seconds)
{
    const double began = world.messages.rig.now;
    while (world.messages.rig.now < began + seconds) {
        run_server();
        if (world.down.count > SOCKET_MOST)
            world.down.count = SOCKET_MOST;
        /* Nobody is left whom it could matter to. */
        world.messages.rig.now +=
            world.messages.rig.now < began + 2 * TIMEOUT_SECONDS ? TICK : 60 * TICK;
    }
    world.late = world.down.count;
    if (world.kind->clock_stops)
        world.asleep += world.messages.rig.now - began;
}

static void start(const struct host_kind *kind, double rtt)
{
    message_rig_start(&world.messages, 4);
    close_server();
    world.challenges = FIRST_CHALLENGES;
    world.messages.rig.config.max_token_life_seconds = 0; /* it takes those of before its start */
    open_server();
    world.rtt = rtt;
    world.kind = kind;
    world.server_runs = world.way = true;
    world.life = world.life > 0 ? world.life : 45;
    world.addresses = 1;
    world.opens = NEVER;
    world.nobody[0] = rig_address("127.0.0.1:1");
    world.nobody[1] = rig_address("127.0.0.1:2");
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world.messages.connection;
    world.client = client_with(&config);
    world.policy.config = (struct cw_client_policy_config){
        .silence_seconds = CW_CLIENT_SILENCE_SECONDS,
        .attempts = kind->attempts,
        .after_any_end = kind->after_any_end,
        .random = {netcode_fill, &world.messages.rig.seed},
    };
    cw_client_policy_start(&world.policy, false, now_of_client());
}

static void stop(void)
{
    fixture_release(NULL);
    memset(&world, 0, sizeof world); /* it is too large for a copy on the stack */
}

static void run_until_connected(double most)
{
    const double until = world.messages.rig.now + most;
    while (cw_client_state(world.client) != CW_CLIENT_CONNECTED) {
        assert_true(world.messages.rig.now < until);
        run(TICK);
    }
}

/* Connected, and calm since. */
static void start_connected(const struct host_kind *kind, double rtt)
{
    start(kind, rtt);
    run_until_connected(1 + 8 * rtt);
    run(5);
    assert_int_equal(world.renewals, 0);
    assert_int_equal(world.links, kind->links);
    world.links = 0;
}

/* Returns whether messages come through in both directions. */
static bool talks(void)
{
    const double since = world.messages.rig.now;
    run(1 + world.rtt);
    return world.client_heard > since && world.server_heard > since;
}

enum trouble {
    SLEEP,
    SLEEP_AND_MOVE,
    SERVER_RESTART,        /* The new server counts challenges from below. */
    SERVER_RESTART_HIGHER, /* It counts them from above. */
    RELAY_RESTART,
    NO_WAY,
    NAT_FORGETS
};

/* A fault befalls a connected client for so long, and this becomes of it. A client that is back in
   the same connection has one, and one that connects anew has two; a page does so only when it
   slept. */
static const struct scenario {
    const char *name;
    enum trouble trouble;
    double seconds;
    uint32_t connections[2]; /* in the end, of a native host and of a page; 0: it is over */
    double back;             /* seconds until it talks again, beside round trips */
    double trips;            /* round trips until then */
} scenarios[] = {
    {"sleeps 1 s", SLEEP, 1, {1, 1}, 0.1, 1},
    {"sleeps 3 s", SLEEP, 3, {1, 1}, 0.1, 1},
    {"sleeps 8 s", SLEEP, 8, {1, 1}, 0.1, 1},
    {"sleeps 1 min", SLEEP, 60, {2, 2}, 4.5, 9},
    {"sleeps 5 min", SLEEP, 300, {2, 2}, 4.5, 9},
    {"sleeps 1 h", SLEEP, 3600, {2, 2}, 4.5, 9},
    {"wakes elsewhere after 3 s", SLEEP_AND_MOVE, 3, {1, 1}, 1.5, 5},
    {"wakes elsewhere after 8 s", SLEEP_AND_MOVE, 8, {1, 1}, 1.5, 5},
    {"wakes elsewhere after 5 min", SLEEP_AND_MOVE, 300, {2, 2}, 4.5, 9},
    {"the server restarts", SERVER_RESTART, 2, {2, 0}, 31, 5},
    {"the server restarts, higher", SERVER_RESTART_HIGHER, 2, {2, 0}, 31, 5},
    {"the server is away for long", SERVER_RESTART, 60, {2, 0}, 31, 5},
    {"the server is away, higher", SERVER_RESTART_HIGHER, 60, {2, 0}, 31, 5},
    {"the relay restarts", RELAY_RESTART, 2, {1, 1}, 1.5, 5},
    {"all links are gone for 8 s", NO_WAY, 8, {1, 1}, 2, 5},
    {"all links are gone for 1 min", NO_WAY, 60, {2, 0}, 8.5, 5},
    {"a NAT forgets the client", NAT_FORGETS, 0, {1, 1}, 1.5, 5},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

static void befall(const struct scenario *scenario)
{
    switch (scenario->trouble) {
    case SLEEP:
    case SLEEP_AND_MOVE:
        sleep_for(scenario->seconds);
        assert_true(scenario->seconds < 8 || world.late >= 200);
        if (scenario->trouble == SLEEP_AND_MOVE)
            world.place++;
        break;
    case SERVER_RESTART:
    case SERVER_RESTART_HIGHER:
        close_server();
        run(scenario->seconds);
        world.challenges =
            scenario->trouble == SERVER_RESTART ? LOWER_CHALLENGES : HIGHER_CHALLENGES;
        open_server();
        break;
    case RELAY_RESTART:
    case NO_WAY:
        world.way = false;
        world.up.count = world.down.count = 0;
        if (world.kind->links)
            lose_link();
        run(scenario->seconds);
        if (scenario->trouble == RELAY_RESTART && !world.kind->links)
            world.place++;
        world.way = true;
        break;
    case NAT_FORGETS:
        world.place++;
        break;
    }
}

static void play(const struct scenario *scenario, const struct host_kind *kind, double rtt)
{
    start_connected(kind, rtt);
    befall(scenario);
    const double since = world.messages.rig.now;
    const uint32_t expected = scenario->connections[kind->links];
    const double most = scenario->back + scenario->trips * rtt + 4 * TICK;
    run(most);
    const bool back = talks();
    if (back != (expected > 0) || world.connections != (expected > 0 ? expected : 1))
        fail_msg("%s, %s, %g ms: %s, %u connections, %u tokens, end %d, %g s", scenario->name,
                 kind->name, 1000 * rtt, back ? "back" : "not back", world.connections,
                 world.tokens, world.policy.end, world.messages.rig.now - since);
    /* Few links are opened in vain, however far the server is. */
    assert_in_range(world.links, 0, 8);
    /* Players whom the same server lost do not all come at once; whoever slept is alone. */
    const bool slept = scenario->trouble == SLEEP || scenario->trouble == SLEEP_AND_MOVE;
    if (expected > 1)
        assert_int_equal(world.asked - world.ended < 2 * TICK, slept);
    if (expected > 0) {
        run(12);
        assert_true(talks());
        assert_int_equal(world.connections, expected);
        assert_true(unit_same(world.policy.absence, 0));
    } else {
        assert_false(cw_client_policy_returns(&world.policy));
        assert_int_equal(world.policy.end, CW_CLIENT_TIMED_OUT);
        assert_int_equal(world.tokens, 1);
    }
    stop();
}

TEST(every_trouble_at_every_distance)
{
    for (size_t i = 0; i < SCENARIOS; i++)
        for (size_t kind = 0; kind < HOST_KINDS; kind++)
            for (size_t rtt = 0; rtt < ROUND_TRIPS; rtt++)
                play(&scenarios[i], &host_kinds[kind], round_trips[rtt]);
}

/* The token's time is over long before the relay is replaced: whoever is connected goes on. */
TEST(a_token_that_expires_while_connected_is_no_matter)
{
    for (size_t kind = 0; kind < HOST_KINDS; kind++) {
        world.life = 2;
        start_connected(&host_kinds[kind], 0.05);
        befall(&(struct scenario){.trouble = RELAY_RESTART, .seconds = 3});
        run(3);
        assert_true(talks());
        assert_int_equal(world.connections, 1);
        stop();
    }
}

/* No server answers: it is the token's fault only when its time is over by the clock of the world.
   A native host gets another one, a page at its first attempt does not. */
TEST(a_token_that_expires_before_an_answer_explains_the_silence)
{
    for (int expired = 0; expired < 2; expired++)
        for (size_t kind = 0; kind < HOST_KINDS; kind++) {
            start(&host_kinds[kind], 0.05);
            world.life = 60;
            close_server();
            run(1);
            if (expired)
                world.policy.expire_time = unix_now() + 20;
            run(TIMEOUT_SECONDS + 1);
            assert_int_equal(world.policy.end,
                             expired ? CW_CLIENT_TOKEN_EXPIRED : CW_CLIENT_REQUEST_TIMED_OUT);
            assert_int_equal(world.ends, 1);
            open_server();
            run(4);
            assert_int_equal(talks(), host_kinds[kind].after_any_end);
            assert_int_equal(world.tokens, 1 + host_kinds[kind].after_any_end);
            stop();
        }
}

/* The client goes from server to server by itself, and at once where the relay knows of none. */
TEST(a_server_that_does_not_answer_is_followed_by_the_next)
{
    for (size_t kind = 0; kind < HOST_KINDS; kind++)
        for (int skipped = 0; skipped < 2; skipped++) {
            start(&host_kinds[kind], 0.05);
            world.life = 200;
            world.addresses = 3;
            run(0.5);
            assert_int_equal(world.policy.server, 0);
            if (skipped && world.kind->links) {
                assert_true(cw_client_policy_skip(&world.policy));
                act();
                run(0.5);
                assert_int_equal(world.policy.server, 1);
                assert_true(cw_client_policy_skip(&world.policy));
                assert_false(cw_client_policy_skip(&world.policy));
                act();
                run_until_connected(1);
            } else {
                run_until_connected(2 * TIMEOUT_SECONDS + 1);
            }
            assert_int_equal(world.policy.server, 2);
            assert_int_equal(world.links, world.kind->links ? 3 : 0);
            assert_int_equal(world.ends, 0);
            assert_true(talks());
            stop();
        }
}

/* A server starts while a client connects. It cannot know whether the client's token was used
   before, asks for another one, and has the client within a second, whatever kind of host it is. */
TEST(a_client_that_comes_while_its_server_starts)
{
    for (size_t kind = 0; kind < HOST_KINDS; kind++)
        for (double before = 0; before < 1; before += 0.05) {
            start(&host_kinds[kind], 0.05);
            close_server();
            world.messages.rig.config.max_token_life_seconds = 50;
            world.exact = true;
            run(0.5 + before);
            open_server();
            run_until_connected(1);
            assert_int_equal(world.connections, 1);
            assert_int_equal(world.tokens, 2);
            assert_true(talks());
            stop();
        }
}

/* Tokens that do not say when they were made have to wait for the rule about restarts, and so does
   the client. */
TEST(a_fresh_server_and_tokens_without_their_time)
{
    for (size_t kind = 0; kind < HOST_KINDS; kind++) {
        start(&host_kinds[kind], 0.05);
        close_server();
        world.messages.rig.config.max_token_life_seconds = 50;
        open_server();
        run_until_connected(15);
        assert_true(talks());
        stop();
    }
}

/* A policy that ends like this each time: when it asks for tokens. */
static uint32_t ask_in_vain(struct cw_client_policy *policy, enum cw_client_state end, double now,
                            double pauses[], uint32_t most)
{
    const double limit = now + 1000;
    double failed = now;
    uint32_t count = 0;
    for (; count < most && now < limit; now += TICK) {
        cw_client_policy_update(policy, now, RIG_UNIX + now);
        if (cw_client_policy_next(policy) != CW_CLIENT_ACTION_TOKEN)
            continue;
        pauses[count++] = now - failed;
        now += 1;
        failed = now;
        cw_client_policy_fail(policy, end, now);
        assert_int_equal(cw_client_policy_next(policy), CW_CLIENT_ACTION_END);
    }
    return count;
}

static uint32_t attempts_of(const struct host_kind *kind, bool after_absence,
                            enum cw_client_state end, double pauses[], uint32_t most)
{
    uint64_t seed = 1;
    struct cw_client_policy policy = {
        .config = {
            CW_CLIENT_SILENCE_SECONDS, kind->attempts, kind->after_any_end, {netcode_fill, &seed}}};
    cw_client_policy_start(&policy, after_absence, 0);
    return ask_in_vain(&policy, end, 0, pauses, most);
}

TEST(pauses_grow_and_differ)
{
    double pauses[100];
    assert_int_equal(attempts_of(NATIVE, false, CW_CLIENT_TIMED_OUT, pauses, 100), 100);
    uint32_t short_ones = 0;
    for (uint32_t i = 1; i < 100; i++) {
        const double most = fmin(0.5 * pow(2, i - 1), 8);
        assert_true(pauses[i] >= 0.25 && pauses[i] <= most + 2 * TICK);
        short_ones += pauses[i] < most / 4;
    }
    assert_in_range(short_ones, 10, 40);
    assert_true(unit_same(pauses[0], 0));
    assert_int_equal(attempts_of(PAGE, true, CW_CLIENT_TIMED_OUT, pauses, 100), 9);
    assert_int_equal(attempts_of(PAGE, false, CW_CLIENT_TIMED_OUT, pauses, 100), 1);
    assert_int_equal(attempts_of(PAGE, false, CW_CLIENT_NOT_YET, pauses, 100), 9);
}

/* After a sleep the first attempt comes at once, but a backend that fails is not asked in a loop.
 */
TEST(who_slept_pauses_too_when_a_token_is_refused)
{
    uint64_t seed = 1;
    struct cw_client_policy policy = {
        .config = {CW_CLIENT_SILENCE_SECONDS, UINT32_MAX, true, {netcode_fill, &seed}}};
    double pauses[20];
    cw_client_policy_start(&policy, false, 0);
    cw_client_policy_update(&policy, 0, RIG_UNIX);
    assert_int_equal(cw_client_policy_next(&policy), CW_CLIENT_ACTION_TOKEN);
    cw_client_policy_token(&policy, 1, INFINITY);
    cw_client_policy_link(&policy, true, 0);
    cw_client_policy_follow(&policy, CW_CLIENT_CONNECTED, 0, 0.1);
    cw_client_policy_update(&policy, 60, RIG_UNIX + 60);
    cw_client_policy_fail(&policy, CW_CLIENT_TIMED_OUT, 60);
    assert_int_equal(cw_client_policy_next(&policy), CW_CLIENT_ACTION_END);
    assert_int_equal(ask_in_vain(&policy, CW_CLIENT_TIMED_OUT, 60, pauses, 20), 20);
    assert_true(unit_same(pauses[0], 0));
    double sum = 0;
    for (uint32_t i = 1; i < 20; i++)
        sum += pauses[i];
    assert_true(pauses[1] >= 0.25 && sum > 19 * 2);
}

TEST(not_every_end_is_mended)
{
    static const enum cw_client_state final[] = {CW_CLIENT_ID_CONNECTED,  CW_CLIENT_REPLACED,
                                                 CW_CLIENT_KICKED,        CW_CLIENT_SCHEMA,
                                                 CW_CLIENT_INVALID_TOKEN, CW_CLIENT_DISCONNECTED};
    double pauses[10];
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        assert_int_equal(attempts_of(NATIVE, false, final[i], pauses, 10), 1);
}

/* The server may still have the slot of the connection that was lost. */
TEST(an_id_that_is_connected_is_perhaps_its_own)
{
    start_connected(NATIVE, 0.05);
    cw_client_policy_fail(&world.policy, CW_CLIENT_TIMED_OUT, now_of_client());
    act();
    while (world.tokens < 2)
        run(TICK);
    cw_client_disconnect(world.client);
    cw_client_policy_fail(&world.policy, CW_CLIENT_ID_CONNECTED, now_of_client());
    assert_true(cw_client_policy_returns(&world.policy));
    run(3);
    assert_true(talks());
    stop();
}

TEST(whoever_leaves_stays_away)
{
    for (size_t kind = 0; kind < HOST_KINDS; kind++) {
        start_connected(&host_kinds[kind], 0.05);
        cw_client_policy_leave(&world.policy);
        run(5);
        assert_true(talks());
        close_server();
        run(TIMEOUT_SECONDS + 10);
        assert_int_equal(world.tokens, 1);
        assert_int_equal(world.ends, 1);
        stop();

        start(&host_kinds[kind], 0.05);
        close_server();
        run(1);
        cw_client_policy_leave(&world.policy);
        cw_client_disconnect(world.client);
        run(TIMEOUT_SECONDS + 10);
        assert_int_equal(world.tokens, 1);
        assert_int_equal(world.ends, 0);
        stop();
    }
}

/* The clock of the world is set, by an hour to either side: nobody is asked to come back. */
TEST(a_clock_that_is_set_ends_nothing)
{
    for (int to = -3600; to <= 3600; to += 7200) {
        start_connected(PAGE, 0.05);
        cw_client_policy_update(&world.policy, now_of_client(), unix_now() + to);
        run(20);
        assert_true(talks());
        assert_int_equal(world.renewals, 0);
        assert_int_equal(world.ends, 0);
        stop();
    }
}

/* A connected policy with a link at time 0, for what it makes of silence alone. */
static struct cw_client_policy connected_policy(double silence_seconds)
{
    struct cw_client_policy policy = {.config = {.silence_seconds = silence_seconds}};
    cw_client_policy_token(&policy, 1, INFINITY);
    cw_client_policy_link(&policy, true, 0);
    cw_client_policy_follow(&policy, CW_CLIENT_CONNECTED, 0, 0);
    assert_int_equal(cw_client_policy_next(&policy), CW_CLIENT_ACTION_OPEN);
    return policy;
}

/* Returns how often another link is tried from tick to tick, when something comes every so many
   ticks. */
static uint32_t renewals(struct cw_client_policy *policy, int from, int to, int pause)
{
    uint32_t count = 0;
    for (int tick = from; tick < to; tick++) {
        const double now = tick * TICK;
        if (pause > 0 && tick % pause == 0)
            cw_client_policy_received(policy, now, RIG_UNIX + now);
        cw_client_policy_update(policy, now, RIG_UNIX + now);
        count += cw_client_policy_next(policy) == CW_CLIENT_ACTION_RENEW;
    }
    return count;
}

TEST(a_server_that_is_silent_by_itself_is_left_in_peace)
{
    static const int pauses[] = {48, 60, 120, 300};
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        struct cw_client_policy policy = connected_policy(CW_CLIENT_SILENCE_SECONDS);
        assert_true(renewals(&policy, 0, 60 * 60, pauses[i]) > 0);
        assert_int_equal(renewals(&policy, 60 * 60, 60000, pauses[i]), 0);
        /* When nothing comes any more, this is seen a little later than with others. */
        assert_int_equal(renewals(&policy, 60001, 60000 + pauses[i], 0), 0);
        assert_true(renewals(&policy, 60000 + pauses[i], 60000 + 5 * pauses[i], 0) > 0);
    }
}

TEST(a_server_that_talks_is_missed_at_once)
{
    struct cw_client_policy policy = connected_policy(CW_CLIENT_SILENCE_SECONDS);
    assert_int_equal(renewals(&policy, 0, 6000, 1), 0);
    assert_int_equal(renewals(&policy, 6000, 6030, 0), 0);
    assert_int_equal(renewals(&policy, 6030, 6032, 0), 1);
    assert_int_equal(renewals(&policy, 6032, 6240, 0), 2);
    /* The other link perhaps ends the silence, so this says nothing of the server. */
    assert_int_equal(renewals(&policy, 6240, 18000, 1), 0);
    assert_int_equal(renewals(&policy, 18000, 18028, 0), 0);
    assert_int_equal(renewals(&policy, 18028, 18032, 0), 1);

    policy = connected_policy(0);
    assert_int_equal(renewals(&policy, 0, 6000, 0), 0);
}
