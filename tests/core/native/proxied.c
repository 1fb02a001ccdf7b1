/* Players behind proxies that say whose a datagram is: what the headers look like, whom a server
   believes, and where its datagrams go. */
#include "native/proxied.h"
#include "causeway/native/clock.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"
#include "causeway/netcode_client.h"

#include "config_error.h"
#include "owned_native.h"

#include <string.h>

/* Far more than anything here takes; a test that passes never waits so long. */
#define PATIENCE 10.0
#define PROTOCOL 7

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};

/* As the formats' papers have them: the client 192.0.2.1:8000 and 2001:db8::7:8000, the proxy
   198.51.100.2:7000 and 2001:db8::9:7000. */
static const uint8_t simple_ipv4[] = {
    0x56, 0xEC, 0, 0, 0, 0, 0, 0, 0, 0,    0,    0,   0xFF, 0xFF, 192, 0,    2,    1,    0,
    0,    0,    0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 198, 51,   100,  2,   0x1F, 0x40, 0x1B, 0x58};
static const uint8_t simple_ipv6[] = {
    0x56, 0xEC, 0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,    0,    7,    0x20,
    0x01, 0x0D, 0xB8, 0,    0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 9, 0x1F, 0x40, 0x1B, 0x58};
#define SIGNATURE 0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A
static const uint8_t v2_ipv4[] = {SIGNATURE, 0x21, 0x12, 0, 12,   192,  0,    2,   1,
                                  198,       51,   100,  2, 0x1F, 0x40, 0x1B, 0x58};
static const uint8_t v2_ipv6[] = {SIGNATURE, 0x21, 0x22, 0, 36,   0x20, 0x01, 0x0D, 0xB8, 0, 0,
                                  0,         0,    0,    0, 0,    0,    0,    0,    0,    7, 0x20,
                                  0x01,      0x0D, 0xB8, 0, 0,    0,    0,    0,    0,    0, 0,
                                  0,         0,    0,    9, 0x1F, 0x40, 0x1B, 0x58};

struct header {
    enum cw_proxy_header kind;
    size_t size;
    char client[CW_ADDRESS_TEXT_SIZE];
};

static struct header read_header(const uint8_t *data, size_t size)
{
    struct header header = {0};
    struct cw_address client = {0};
    header.kind = cw_proxy_header_read(data, size, &client, &header.size);
    cw_address_format(&client, header.client);
    return header;
}

TEST(headers_name_the_client)
{
    const struct {
        const uint8_t *data;
        size_t size;
        enum cw_proxy_header kind;
        const char *client;
    } vectors[] = {
        {simple_ipv4, sizeof simple_ipv4, CW_PROXY_HEADER_SIMPLE, "192.0.2.1:8000"},
        {simple_ipv6, sizeof simple_ipv6, CW_PROXY_HEADER_SIMPLE, "[2001:db8::7]:8000"},
        {v2_ipv4, sizeof v2_ipv4, CW_PROXY_HEADER_V2, "192.0.2.1:8000"},
        {v2_ipv6, sizeof v2_ipv6, CW_PROXY_HEADER_V2, "[2001:db8::7]:8000"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint8_t datagram[128] = {0};
        memcpy(datagram, vectors[i].data, vectors[i].size);
        const struct header header = read_header(datagram, vectors[i].size + 9);
        assert_int_equal(header.kind, vectors[i].kind);
        assert_int_equal(header.size, vectors[i].size);
        assert_string_equal(header.client, vectors[i].client);
        /* A part of it is malformed, or no header at all when it is not yet to be told. */
        for (size_t size = 0; size < vectors[i].size; size++)
            assert_in_range(read_header(datagram, size).kind, CW_PROXY_HEADER_NONE,
                            CW_PROXY_HEADER_BAD);
    }
}

TEST(what_else_a_header_of_version_2_says)
{
    uint8_t data[600] = {0};
    memcpy(data, v2_ipv4, sizeof v2_ipv4);
    data[15] = 12 + 7; /* something added to the addresses */
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_V2);
    assert_int_equal(read_header(data, 100).size, 16 + 12 + 7);
    data[15] = 11; /* too short for addresses */
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_BAD);
    data[14] = 2; /* longer than any */
    assert_int_equal(read_header(data, sizeof data).kind, CW_PROXY_HEADER_BAD);
    data[14] = 0;
    data[15] = 12;
    data[13] = 0x11; /* a stream */
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_BAD);
    data[13] = 0x00;
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_LOCAL);
    data[13] = 0x12;
    data[12] = 0x20;
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_LOCAL);
    data[12] = 0x11; /* version 1 */
    assert_int_equal(read_header(data, 100).kind, CW_PROXY_HEADER_BAD);
}

struct world {
    struct cw_netcode_host_config config;
    struct cw_netcode_host *host;
    struct cw_netcode_client *client;
    struct cw_socket *relay; /* the one that the player's datagrams pass */
    const uint8_t *header;   /* before those of the client */
    size_t header_size;
    bool answers_have_it;
};

static void open_world(struct world *world, const char *trusted)
{
    *world = (struct world){.config = cw_netcode_host_config_default()};
    world->config.server.protocol_id = PROTOCOL;
    world->config.server.max_token_life_seconds = 0;
    memcpy(world->config.server.private_key, key, sizeof key);
    world->config.trusted_proxies = &trusted;
    world->config.trusted_proxy_count = trusted != NULL;
    world->host = netcode_host_at("127.0.0.1:0", &world->config);
    struct cw_token_grant grant = cw_token_grant_default();
    grant.protocol_id = PROTOCOL;
    grant.client_id = 5;
    grant.timeout_seconds = 5;
    grant.create_time = (uint64_t)cw_clock_unix();
    grant.addresses = cw_netcode_host_address(world->host);
    grant.address_count = 1;
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, key, token));
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    world->client = netcode_client_with(&config);
    assert_ok(cw_netcode_client_connect(world->client, token, sizeof token, cw_clock_now()));
    world->relay = socket_on_loopback();
}

static void use(struct world *world, const uint8_t *header, size_t size)
{
    world->header = header;
    world->header_size = size;
    world->answers_have_it = size == CW_SIMPLE_HEADER_SIZE;
}

/* Sends what the client sends, and gives it what comes for it. */
static void step_client(struct world *world)
{
    uint8_t data[CW_PROXY_HEADER_MAX + CW_SECURE_MAX];
    struct cw_address address;
    size_t size;
    const double now = cw_clock_now();
    while ((size = cw_socket_receive(world->relay, data, sizeof data, &address)) > 0) {
        const size_t skipped = world->answers_have_it ? world->header_size : 0;
        assert_true(size > skipped);
        assert_memory_equal(data, world->header, skipped);
        cw_netcode_client_receive(world->client, &address, data + skipped, size - skipped, now);
    }
    cw_netcode_client_update(world->client, now);
    if (world->header_size > 0)
        memcpy(data, world->header, world->header_size);
    while ((size = cw_netcode_client_transmit(world->client, data + world->header_size,
                                              CW_SECURE_MAX, now, &address)) > 0)
        assert_ok(cw_socket_send(world->relay, &address, data, world->header_size + size));
}

static void step_host(struct world *world)
{
    struct cw_netcode_server_event event;
    while (cw_netcode_host_next(world->host, cw_clock_now() + 0.005, &event))
        ;
    cw_netcode_host_update(world->host);
}

static void connect_player(struct world *world)
{
    const double end = cw_clock_now() + PATIENCE;
    while (cw_netcode_client_state(world->client) != CW_CLIENT_CONNECTED && cw_clock_now() < end) {
        step_client(world);
        step_host(world);
    }
    assert_int_equal(cw_netcode_client_state(world->client), CW_CLIENT_CONNECTED);
}

static void server_knows_the_player_as(struct world *world, const char *address)
{
    struct cw_server_client_info about;
    char text[CW_ADDRESS_TEXT_SIZE];
    assert_true(cw_netcode_server_client(cw_netcode_host_server(world->host), 0, &about));
    assert_string_equal(cw_address_format(&about.address, text), address);
}

/* Once more from the server to the client, whatever has come before. */
static void the_server_reaches_the_client(struct world *world)
{
    struct cw_netcode_client_stats before, after;
    const double end = cw_clock_now() + PATIENCE;
    step_client(world);
    cw_netcode_client_get_stats(world->client, &before);
    do {
        step_host(world);
        step_client(world);
        cw_netcode_client_get_stats(world->client, &after);
    } while (after.datagrams_received == before.datagrams_received && cw_clock_now() < end);
    assert_true(after.datagrams_received > before.datagrams_received);
}

TEST(the_server_knows_the_player_behind_a_proxy)
{
    const struct {
        const uint8_t *header;
        size_t size;
        const char *trusted, *player;
    } ways[] = {
        {simple_ipv4, sizeof simple_ipv4, "127.0.0.1", "192.0.2.1:8000"},
        {simple_ipv6, sizeof simple_ipv6, "127.0.0.0/31", "[2001:db8::7]:8000"},
        {v2_ipv4, sizeof v2_ipv4, "126.0.0.0/7", "192.0.2.1:8000"},
        {v2_ipv6, sizeof v2_ipv6, "0.0.0.0/0", "[2001:db8::7]:8000"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct world world;
        open_world(&world, ways[i].trusted);
        use(&world, ways[i].header, ways[i].size);
        connect_player(&world);
        server_knows_the_player_as(&world, ways[i].player);
        the_server_reaches_the_client(&world);
        /* Version 2 is before the first ones only: the source keeps its player. */
        if (!world.answers_have_it)
            use(&world, NULL, 0);
        const double end = cw_clock_now() + 0.15;
        while (cw_clock_now() < end) {
            step_client(&world);
            step_host(&world);
        }
        the_server_reaches_the_client(&world);
        assert_int_equal(
            cw_netcode_server_dropped(cw_netcode_host_server(world.host), CW_ERROR_NOT_CONNECTED),
            0);
    }
}

TEST(a_stranger_cannot_say_who_it_is)
{
    const char *const trusted[] = {NULL, "127.0.0.2", "128.0.0.0/1", "::/0"};
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++) {
        struct world world;
        open_world(&world, trusted[i]);
        use(&world, i % 2 ? simple_ipv4 : v2_ipv4, i % 2 ? sizeof simple_ipv4 : sizeof v2_ipv4);
        struct cw_netcode_server_stats stats = {0};
        const double end = cw_clock_now() + PATIENCE;
        while (stats.datagrams_dropped < 2 && cw_clock_now() < end) {
            step_client(&world);
            step_host(&world);
            cw_netcode_server_get_stats(cw_netcode_host_server(world.host), &stats);
        }
        assert_true(stats.datagrams_dropped >= 2);
        assert_int_equal(stats.datagrams_dropped, stats.datagrams_received);
        assert_int_equal(stats.challenges_sent, 0);
    }
}

TEST(who_needs_no_header_sends_none)
{
    struct world world;
    open_world(&world, "127.0.0.1");
    struct cw_address own;
    char text[CW_ADDRESS_TEXT_SIZE];
    cw_socket_address(world.relay, &own);
    connect_player(&world);
    server_knows_the_player_as(&world, cw_address_format(&own, text));
}

TEST(a_player_moves_to_another_relay_and_nobody_else_moves_one)
{
    struct world world;
    open_world(&world, "127.0.0.1");
    use(&world, simple_ipv4, sizeof simple_ipv4);
    connect_player(&world);

    /* A stranger behind another relay seems to have the same address: nothing goes there. */
    uint8_t junk[sizeof simple_ipv4 + 40] = {0};
    struct cw_socket *other = socket_on_loopback();
    memcpy(junk, simple_ipv4, sizeof simple_ipv4);
    assert_ok(cw_socket_send(other, cw_netcode_host_address(world.host), junk, sizeof junk));
    step_host(&world);
    the_server_reaches_the_client(&world);
    struct cw_address address;
    assert_int_equal(cw_socket_receive(other, junk, sizeof junk, &address), 0);

    /* The player really comes by that way. */
    world.relay = other;
    the_server_reaches_the_client(&world);
    server_knows_the_player_as(&world, "192.0.2.1:8000");
}

/* The map alone, with the clock in hand. */

static void map_end(void *map)
{
    cw_proxied_destroy(map);
}

static struct cw_proxied *make_map(uint32_t places)
{
    static const char *const trusted[] = {"10.0.0.0/8"};
    const struct cw_proxied_config config = {
        .trusted = trusted, .trusted_count = 1, .places = places, .seed = 3};
    struct cw_proxied *map = NULL;
    assert_ok(cw_proxied_create(&config, &map));
    return own(map, map_end);
}

/* A datagram of the player with that number, through the relay socket of that number. */
static void arrive(struct cw_proxied *map, uint32_t player, uint16_t source, bool accepted,
                   double now)
{
    uint8_t data[sizeof simple_ipv4 + 1];
    memcpy(data, simple_ipv4, sizeof simple_ipv4);
    memcpy(data + 14, &player, sizeof player);
    const struct cw_socket_datagram datagram = {
        .address = {CW_ADDRESS_IPV4, source, {10, 1}}, .data = data, .size = sizeof data};
    struct cw_proxied_packet packet;
    cw_proxied_receive(map, &datagram, now, &packet);
    assert_int_equal(packet.size, 1);
    if (accepted)
        cw_proxied_accept(map, &packet, now);
}

/* The port of the relay socket that datagrams for a player go to; 0: to the player. */
static unsigned way(struct cw_proxied *map, uint32_t player, double now)
{
    uint8_t data[CW_SIMPLE_HEADER_SIZE + 1];
    struct cw_socket_datagram datagram = {
        .address = {CW_ADDRESS_IPV4, 8000, {0}}, .data = data + CW_SIMPLE_HEADER_SIZE, .size = 1};
    memcpy(datagram.address.bytes, &player, sizeof player);
    cw_proxied_readdress(map, &datagram, now);
    return datagram.address.bytes[0] == 10 ? datagram.address.port : 0;
}

TEST(strangers_cannot_drive_players_out)
{
    enum { PLACES = 8, PLAYERS = 6, FLOOD = 5000 };
    struct cw_proxied *map = make_map(PLACES);
    for (uint32_t i = 0; i < PLAYERS; i++)
        arrive(map, 0xAA00 + i, (uint16_t)(100 + i), true, 0);
    for (uint32_t i = 0; i < FLOOD; i++)
        arrive(map, 0xBB0000 + i, 200, false, i * 0.001);
    for (uint32_t i = 0; i < PLAYERS; i++)
        assert_int_equal(way(map, 0xAA00 + i, 5), 100 + i);
    assert_int_equal(way(map, 0xBB0000 + FLOOD - 1, 5), 200);
    assert_int_equal(way(map, 0xBB0000 + FLOOD - PLACES, 5), 0);
    /* Nor can they take one's way by giving its address. */
    arrive(map, 0xAA00, 300, false, 5);
    assert_int_equal(way(map, 0xAA00, 5), 100);
    arrive(map, 0xAA00, 300, true, 5);
    assert_int_equal(way(map, 0xAA00, 5), 300);
}

TEST(who_comes_straight_is_answered_straight)
{
    const uint32_t player = 0xAA00;
    struct cw_proxied *map = make_map(4);
    arrive(map, player, 100, true, 0);
    assert_int_equal(way(map, player, 0), 100);
    uint8_t data = 1;
    struct cw_socket_datagram datagram = {
        .address = {CW_ADDRESS_IPV4, 8000, {0}}, .data = &data, .size = 1};
    memcpy(datagram.address.bytes, &player, sizeof player);
    struct cw_proxied_packet packet;
    cw_proxied_receive(map, &datagram, 1, &packet);
    assert_int_equal(way(map, player, 1), 100); /* not before the server has taken it */
    cw_proxied_accept(map, &packet, 1);
    assert_int_equal(way(map, player, 1), 0);
}

TEST(who_is_gone_for_longest_makes_room)
{
    struct cw_proxied *map = make_map(2);
    arrive(map, 1, 101, true, 0);
    arrive(map, 2, 102, true, 1);
    assert_int_equal(way(map, 1, 2), 101); /* the server speaks to it */
    arrive(map, 3, 103, false, 3);
    assert_int_equal(way(map, 3, 3), 0); /* both players are worth more */
    arrive(map, 3, 103, true, 3);
    assert_int_equal(way(map, 3, 4), 103);
    assert_int_equal(way(map, 2, 4), 0);
    assert_int_equal(way(map, 1, 4), 101);
    arrive(map, 4, 104, false, 60); /* nothing was heard of any for long */
    assert_int_equal(way(map, 4, 60), 104);
}

TEST(what_is_no_prefix_is_refused)
{
    const char *const bad[] = {NULL,          "",           "/8",         "10.0.0.0/",
                               "10.0.0.0/33", "10.0.0.0/x", "10.0.0.1/8", "10.0.0.1:80",
                               "example.com", "::1/129"};
    struct world world;
    open_world(&world, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cw_netcode_host *other = NULL;
        world.config.trusted_proxies = &bad[i];
        world.config.trusted_proxy_count = 1;
        assert_error_names(cw_netcode_host_open("127.0.0.1:0", &world.config, &other),
                           "trusted_proxies");
        assert_null(other);
    }
}
