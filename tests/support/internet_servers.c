/* The game servers of the internet in virtual time, and the players' ends of their connections:
   real ones for some players, for the others copies of one handshake. */
#include "internet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL 0x1122334455667788u
/* The Unix time at the beginning is later than today: the relay compares tokens with the clock. */
#define UNIX  4.0e9
#define SLOTS CW_SERVER_MAX_CLIENTS

static const uint8_t key[CW_KEY_BYTES] = {3, 1, 4, 1, 5, 9};
static struct cw_netcode_server *servers[SERVERS];
struct copy copies[COPIES];

bool is_copy(const uint8_t *data)
{
    return data >= copies[0].bytes && data < copies[COPIES - 1].bytes + CW_SECURE_MAX;
}

static void fill(void *context, uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)cw_prng_bits(context);
}

struct cw_random random_source(void)
{
    return (struct cw_random){.fill = fill, .context = &internet.random};
}

static struct cw_address server_address(unsigned server)
{
    return (struct cw_address){
        .type = CW_ADDRESS_IPV4, .port = 7000, .bytes = {10, 1, 0, (uint8_t)server}};
}

/* Sockets of relays as game servers see them: the number is in the address. */
static struct cw_address socket_address(uint32_t socket)
{
    struct cw_address address = {.type = CW_ADDRESS_IPV4, .port = (uint16_t)(socket | 1024)};
    memcpy(address.bytes, &socket, sizeof socket);
    return address;
}

static void check(enum cw_error error)
{
    if (error != CW_OK)
        abort();
}

static struct cw_netcode_server *create_server(unsigned number)
{
    const struct cw_address address = server_address(number);
    struct cw_netcode_server_config config = cw_netcode_server_config_default();
    struct cw_netcode_server *server;
    config.random = random_source();
    config.protocol_id = PROTOCOL;
    memcpy(config.private_key, key, sizeof key);
    config.addresses = &address;
    config.address_count = 1;
    config.max_clients = SLOTS;
    config.unix_offset_seconds = UNIX;
    config.max_token_life_seconds = 0;
    check(cw_netcode_server_create(&config, &server));
    cw_netcode_server_update(server, internet.now);
    return server;
}

static struct cw_netcode_client *create_client(unsigned server, uint32_t number)
{
    static uint64_t ids;
    const struct cw_address address = server_address(server);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_token_grant grant = cw_token_grant_default();
    struct cw_netcode_client *client;
    uint8_t token[CW_TOKEN_SIZE];
    grant.protocol_id = PROTOCOL;
    grant.client_id = ++ids << 32 | number;
    grant.create_time = (uint64_t)(UNIX + internet.now);
    grant.addresses = &address;
    grant.address_count = 1;
    grant.random = random_source();
    check(cw_token_generate(&grant, key, token));
    check(cw_netcode_client_create(&config, &client));
    check(cw_netcode_client_connect(client, token, sizeof token, internet.now));
    return client;
}

static void run_server(unsigned number)
{
    struct cw_netcode_server *server = servers[number];
    struct cw_netcode_server_event happened;
    struct cw_address to;
    uint8_t data[CW_SECURE_MAX];
    uint32_t socket;
    size_t size;
    while (cw_netcode_server_next(server, &happened))
        ;
    while ((size = cw_netcode_server_transmit(server, data, sizeof data, internet.now, &to)) > 0) {
        memcpy(&socket, to.bytes, sizeof socket);
        socket_send(socket, number, data, size);
    }
}

static void tick_servers(const struct event *event)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        cw_netcode_server_update(servers[i], internet.now);
        run_server(i);
    }
    event_add(TICK_SECONDS, *event);
}

/* Makes the copies with one handshake between a real client and a real server. */
static void make_copies(void)
{
    const struct cw_address from = socket_address(1);
    struct cw_netcode_server *server = create_server(0);
    struct cw_netcode_client *client = create_client(0, 0);
    struct cw_address to;
    for (unsigned i = 0; i < COPIES; i++) {
        struct copy *copy = &copies[i];
        const bool up = i == COPY_REQUEST || i == COPY_RESPONSE;
        cw_netcode_client_update(client, internet.now);
        copy->size = up ? cw_netcode_client_transmit(client, copy->bytes, sizeof copy->bytes,
                                                     internet.now, NULL)
                        : cw_netcode_server_transmit(server, copy->bytes, sizeof copy->bytes,
                                                     internet.now, &to);
        check(up ? cw_netcode_server_receive(server, &from, copy->bytes, copy->size, internet.now)
                 : cw_netcode_client_receive(client, NULL, copy->bytes, copy->size, internet.now));
    }
    cw_netcode_client_destroy(client);
    cw_netcode_server_destroy(server);
}

void servers_create(void)
{
    for (unsigned i = 0; i < SERVERS; i++)
        servers[i] = create_server(i);
    make_copies();
    event_add(TICK_SECONDS, (struct event){.run = tick_servers});
}

/* A game server of copies: it answers a request with a challenge, and a response lets the player in
   or moves the player. */
static void copy_receive(struct player *player, uint32_t socket, const uint8_t *data)
{
    if (data == copies[COPY_REQUEST].bytes) {
        socket_send(socket, player->server, copies[COPY_CHALLENGE].bytes,
                    copies[COPY_CHALLENGE].size);
        return;
    }
    if (data == copies[COPY_RESPONSE].bytes) {
        player->seat.in = true;
        player->seat.socket = socket;
    }
    if (!player->seat.in || player->seat.socket != socket)
        return;
    player->seat.heard = internet.now;
    socket_send(socket, player->server, copies[COPY_KEEP_ALIVE].bytes,
                copies[COPY_KEEP_ALIVE].size);
}

void server_receive(uint32_t number, uint32_t socket, const uint8_t *data, size_t size)
{
    struct player *player = &internet.players[number];
    const struct cw_address from = socket_address(socket);
    if (is_copy(data)) {
        copy_receive(player, socket, data);
        return;
    }
    cw_netcode_server_receive(servers[player->server], &from, data, size, internet.now);
    run_server(player->server);
}

void core_connect(struct player *player)
{
    const uint32_t number = (uint32_t)(player - internet.players);
    if (number % internet.sample == 0)
        player->client = create_client(player->server, number);
    player->phase = CORE_REQUEST;
    player->seat.in = false;
}

void core_move(struct player *player)
{
    if (player->client)
        cw_netcode_client_move(player->client, internet.now);
    else
        player->moving = true;
    if (!player->client)
        player->phase = CORE_CONNECTED;
}

bool core_is_moving(const struct player *player)
{
    return player->client ? cw_netcode_client_moving(player->client) : player->moving;
}

static void flush(struct player *player)
{
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while ((size = cw_netcode_client_transmit(player->client, data, sizeof data, internet.now,
                                              NULL)) > 0)
        page_send(player, data, size);
}

void core_leave(struct player *player)
{
    if (player->client) {
        cw_netcode_client_disconnect(player->client);
        flush(player);
        cw_netcode_client_destroy(player->client);
    }
    player->client = NULL;
    player->phase = CORE_NONE;
    player->seat.in = player->moving = false;
}

/* Tells the policy of the client's state. */
static void follow(struct player *player)
{
    const enum cw_client_state state = player->client ? cw_netcode_client_state(player->client)
                                       : player->phase == CORE_CONNECTED
                                           ? CW_CLIENT_CONNECTED
                                           : CW_CLIENT_SENDING_REQUEST;
    if (player->client)
        player->phase = state == CW_CLIENT_CONNECTED ? CORE_CONNECTED : CORE_REQUEST;
    cw_client_policy_follow(&player->policy, state, 0, internet.now);
}

static void send_copy(struct player *player, enum copied which)
{
    page_send(player, copies[which].bytes, copies[which].size);
}

void core_receive(struct player *player, const uint8_t *data, size_t size)
{
    struct cw_netcode_client_event event;
    if (player->client) {
        cw_netcode_client_receive(player->client, NULL, data, size, internet.now);
        while (cw_netcode_client_next(player->client, &event))
            ;
        flush(player);
    } else if (data == copies[COPY_CHALLENGE].bytes) {
        if (player->phase == CORE_REQUEST)
            player->phase = CORE_RESPONSE;
        if (player->phase == CORE_RESPONSE || player->moving)
            send_copy(player, COPY_RESPONSE);
    } else if (data == copies[COPY_KEEP_ALIVE].bytes && player->phase != CORE_NONE) {
        player->phase = CORE_CONNECTED;
        player->moving = false;
    }
    follow(player);
}

/* A client of copies sends one packet in each tick. Without an answer it ends as a real one does.
 */
static void copy_tick(struct player *player)
{
    const double silent = internet.now - fmax(player->heard, player->policy.link_time);
    if (silent > cw_token_grant_default().timeout_seconds) {
        cw_client_policy_follow(&player->policy,
                                player->kept ? CW_CLIENT_TIMED_OUT : CW_CLIENT_REQUEST_TIMED_OUT, 0,
                                internet.now);
        return;
    }
    if (player->phase == CORE_RESPONSE)
        send_copy(player, COPY_RESPONSE);
    else if (player->phase == CORE_REQUEST || player->moving)
        send_copy(player, COPY_REQUEST);
    else
        send_copy(player, COPY_KEEP_ALIVE);
}

void core_tick(struct player *player)
{
    if (!player->client) {
        copy_tick(player);
        return;
    }
    cw_netcode_client_update(player->client, internet.now);
    flush(player);
    follow(player);
}
