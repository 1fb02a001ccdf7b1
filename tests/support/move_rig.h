/* A server and clients that go from one address to another, each over a bad path of its own, in
   virtual time. In every tick each end sends a reliable message, which must arrive once and in
   order. No two packets of a session may have the same number, unless they are the same. */
#ifndef CAUSEWAY_TESTS_MOVE_RIG_H
#define CAUSEWAY_TESTS_MOVE_RIG_H

#define RIG_MESSAGES
#include "causeway/simulator.h"
#include "secure_rig.h"

#define MOVE_CLIENTS 64
#define MOVE_PLACES  256        /* the number of addresses of one client */
#define MOVE_TICK    (1.0 / 60) /* seconds */
#define MOVE_BLOCKS  2          /* the channel of blocks */

#define MOVE_NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000000))
CW_MESSAGE(move_note, MOVE_NOTE_FIELDS)
#define MOVE_FILE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_BLOCK_MESSAGE(move_file, MOVE_FILE_FIELDS)
enum { MOVE_NOTE, MOVE_FILE };

struct move_client {
    struct cw_client *client;
    uint32_t number; /* the client's index in the world, and its id */
    uint32_t place;  /* the index of its current address */
    bool keeps_old;  /* true: it still hears what is sent to earlier ones */
    struct cw_simulator *up, *down;
    uint32_t up_sent, up_taken, down_sent, down_taken; /* numbers of notes */
    uint32_t files;                                    /* blocks that the server has taken */
    uint32_t moved_requests;
};

struct move_world {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_simulator_path path;
    struct move_client clients[MOVE_CLIENTS];
    uint32_t count;
    uint32_t slots[MOVE_CLIENTS]; /* the index of the client in each slot */
    uint32_t disconnects;         /* the number of disconnect events of the server */
};

/* The numbers of packets that were sent, with the packets' hashes. */
struct move_used {
    uint64_t key, hash;
};
#define MOVE_USED (1u << 20)
static struct move_used move_used[MOVE_USED];

static inline uint64_t move_hash(const uint8_t *data, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    return hash | 1;
}

static inline void move_check_number(uint32_t client, bool up, const uint8_t *data, size_t size)
{
    if (data[0] == CW_SECURE_REQUEST)
        return;
    uint8_t name[16] = {(uint8_t)client, up};
    memcpy(name + 2, data + 1, data[0] >> 4);
    const uint64_t key = move_hash(name, sizeof name), hash = move_hash(data, size);
    uint32_t at = (uint32_t)key % MOVE_USED;
    while (move_used[at].key != 0 && move_used[at].key != key)
        at = (at + 1) % MOVE_USED;
    if (move_used[at].key == key)
        assert_int_equal(move_used[at].hash, hash);
    move_used[at] = (struct move_used){key, hash};
}

static inline struct cw_address move_address(uint32_t client, uint32_t place)
{
    return rig_client_address(client * MOVE_PLACES + place);
}

/* Starts a world with rig.config as the caller has changed it after move_world_init. */
static inline void move_world_init(struct move_world *world)
{
    memset(world, 0, sizeof *world);
    memset(move_used, 0, sizeof move_used);
    const struct cw_message_type types[] = {move_note_type, move_file_type};
    world->schema = schema_with(&(struct cw_schema_config){.types = types, .count = 2});
    world->connection = cw_connection_config_default(world->schema);
    world->connection.channel_count = 3;
    world->connection.channels[MOVE_BLOCKS] =
        cw_channel_config_default(CW_CHANNEL_RELIABLE_ORDERED);
    world->connection.channels[MOVE_BLOCKS].blocks = true;
    rig_init(&world->rig);
    world->rig.connection = &world->connection;
    world->path = (struct cw_simulator_path){.latency_seconds = 0.04, .jitter_seconds = 0.01};
}

static inline struct cw_simulator *move_simulator(struct move_world *world, uint64_t seed)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = world->rig.seed * 1000 + seed;
    config.path = world->path;
    return simulator_with(&config);
}

/* Adds a client that begins to connect with a token from this grant. */
static inline struct move_client *move_client_of(struct move_world *world,
                                                 const struct cw_token_grant *grant)
{
    struct move_client *made = &world->clients[world->count];
    struct cw_client_config config = cw_client_config_default();
    config.connection = &world->connection;
    *made = (struct move_client){.client = rig_client_of(&world->rig, &config, grant),
                                 .number = world->count,
                                 .up = move_simulator(world, 2 * world->count),
                                 .down = move_simulator(world, 2 * world->count + 1)};
    world->count++;
    return made;
}

static inline void move_send(struct cw_connection *connection, uint32_t *count, double now)
{
    struct cw_message *message;
    if (cw_connection_create_message(connection, MOVE_NOTE, &message) != CW_OK)
        return;
    ((struct move_note *)message->data)->number = *count;
    if (cw_connection_send(connection, 0, message, now) == CW_OK)
        ++*count;
    else
        cw_message_release(message);
}

/* Takes a message of a client at the server. */
static inline void move_take(struct move_client *client, struct cw_message *message)
{
    if (message->type == MOVE_NOTE)
        assert_int_equal(((struct move_note *)message->data)->number, client->up_taken++);
    else
        client->files++;
    cw_message_release(message);
}

static inline void move_server_events(struct move_world *world)
{
    struct cw_server_event event;
    struct cw_server_client_info about;
    while (cw_server_next(world->rig.server, &event)) {
        if (event.type == CW_SERVER_EVENT_CONNECTED &&
            cw_server_client(world->rig.server, event.client, &about))
            world->slots[event.client] = (about.address.port - 1000u) / MOVE_PLACES;
        if (event.type == CW_SERVER_EVENT_DISCONNECTED)
            world->disconnects++;
        if (event.type == CW_SERVER_EVENT_MESSAGE)
            move_take(&world->clients[world->slots[event.client]], event.message);
    }
}

static inline void move_client_events(struct move_client *client)
{
    struct cw_client_event event;
    while (cw_client_next(client->client, &event)) {
        if (event.type != CW_CLIENT_EVENT_MESSAGE)
            continue;
        assert_int_equal(((struct move_note *)event.message->data)->number, client->down_taken++);
        cw_message_release(event.message);
    }
}

/* A datagram travels with the place that it left from or goes to. */
static inline void move_put(struct cw_simulator *simulator, uint32_t place, const uint8_t *data,
                            size_t size, double now)
{
    uint8_t tagged[CW_SECURE_MAX + 1] = {(uint8_t)place};
    memcpy(tagged + 1, data, size);
    assert_int_equal(cw_simulator_receive(simulator, tagged, size + 1, now), CW_OK);
}

static inline void move_client_tick(struct move_world *world, struct move_client *client)
{
    uint8_t datagram[CW_SECURE_MAX + 1];
    const double now = world->rig.now;
    size_t size;
    while ((size = cw_simulator_transmit(client->down, datagram, sizeof datagram, now)) > 0)
        if (datagram[0] == client->place || client->keeps_old) {
            cw_client_receive(client->client, &world->rig.address, datagram + 1, size - 1, now);
            move_client_events(client);
        }
    if (cw_client_state(client->client) == CW_CLIENT_CONNECTED)
        move_send(cw_client_connection(client->client), &client->up_sent, now);
    cw_client_update(client->client, now);
    move_client_events(client);
    while ((size = cw_client_transmit(client->client, datagram, sizeof datagram, now, NULL)) > 0) {
        move_check_number(client->number, true, datagram, size);
        client->moved_requests +=
            cw_netcode_client_moving(cw_client_netcode(client->client)) && size == CW_REQUEST_SIZE;
        move_put(client->up, client->place, datagram, size, now);
    }
}

static inline void move_server_tick(struct move_world *world)
{
    uint8_t datagram[CW_SECURE_MAX + 1];
    struct cw_address to;
    size_t size;
    const double now = world->rig.now;
    for (uint32_t n = 0; n < world->count; n++)
        while ((size = cw_simulator_transmit(world->clients[n].up, datagram, sizeof datagram,
                                             now)) > 0) {
            const struct cw_address from = move_address(n, datagram[0]);
            cw_server_receive(world->rig.server, &from, datagram + 1, size - 1, now);
            move_server_events(world);
        }
    for (uint32_t slot = 0; slot < world->rig.config.max_clients; slot++) {
        struct cw_connection *connection = cw_server_connection(world->rig.server, slot);
        if (connection)
            move_send(connection, &world->clients[world->slots[slot]].down_sent, now);
    }
    cw_server_update(world->rig.server, now);
    move_server_events(world);
    while ((size = cw_server_transmit(world->rig.server, datagram, sizeof datagram, now, &to)) >
           0) {
        const uint32_t number = (to.port - 1000u) / MOVE_PLACES;
        assert_in_range(number, 0, world->count - 1);
        move_check_number(number, false, datagram, size);
        move_put(world->clients[number].down, (to.port - 1000u) % MOVE_PLACES, datagram, size, now);
    }
}

static inline void move_world_tick(struct move_world *world)
{
    world->rig.now += MOVE_TICK;
    for (uint32_t n = 0; n < world->count; n++)
        move_client_tick(world, &world->clients[n]);
    move_server_tick(world);
}

static inline void move_world_run(struct move_world *world, double seconds)
{
    for (const double until = world->rig.now + seconds; world->rig.now < until;)
        move_world_tick(world);
}

/* Adds a client and lets it connect, at its place 0. */
static inline struct move_client *move_connect(struct move_world *world)
{
    const struct cw_token_grant grant = rig_grant(&world->rig, world->count);
    struct move_client *client = move_client_of(world, &grant);
    for (int i = 0; i < 300 && cw_client_state(client->client) != CW_CLIENT_CONNECTED; i++)
        move_world_tick(world);
    assert_int_equal(cw_client_state(client->client), CW_CLIENT_CONNECTED);
    move_world_run(world, 0.2);
    return client;
}

/* Starts a world as it is by default, with one client. */
static inline struct move_client *move_world_start(struct move_world *world)
{
    move_world_init(world);
    rig_start(&world->rig);
    return move_connect(world);
}

/* Changes the path of a client in both directions. */
static inline void move_change_path(const struct move_client *client,
                                    const struct cw_simulator_path *path)
{
    assert_int_equal(cw_simulator_change(client->up, path), CW_OK);
    assert_int_equal(cw_simulator_change(client->down, path), CW_OK);
}

/* Moves the client to another address, which it notices at once. */
static inline void move_to(struct move_world *world, struct move_client *client, uint32_t place)
{
    client->place = place;
    assert_int_equal(cw_netcode_client_move(cw_client_netcode(client->client), world->rig.now),
                     CW_OK);
    assert_true(cw_netcode_client_moving(cw_client_netcode(client->client)));
}

/* Returns the place at which the server thinks that the client is. */
static inline uint32_t move_place(struct move_world *world, const struct move_client *client)
{
    struct cw_server_client_info about;
    for (uint32_t slot = 0; slot < world->rig.config.max_clients; slot++)
        if (cw_server_client(world->rig.server, slot, &about) && about.id == client->number)
            return (about.address.port - 1000u) % MOVE_PLACES;
    return MOVE_PLACES;
}

/* Runs until the move has ended; returns how many seconds that took. */
static inline double move_finish(struct move_world *world, struct move_client *client)
{
    const double start = world->rig.now;
    while (cw_netcode_client_moving(cw_client_netcode(client->client)) &&
           world->rig.now < start + 20)
        move_world_tick(world);
    assert_false(cw_netcode_client_moving(cw_client_netcode(client->client)));
    return world->rig.now - start;
}

/* Lets everything arrive that was sent, and stops. Checks that nobody has lost the connection or a
   message. */
static inline void move_world_stop(struct move_world *world)
{
    const struct cw_simulator_path good = {.latency_seconds = 0.04};
    uint32_t up[MOVE_CLIENTS], down[MOVE_CLIENTS];
    for (uint32_t n = 0; n < world->count; n++) {
        move_change_path(&world->clients[n], &good);
        up[n] = world->clients[n].up_sent;
        down[n] = world->clients[n].down_sent;
    }
    move_world_run(world, 3);
    for (uint32_t n = 0; n < world->count; n++) {
        assert_int_equal(cw_client_state(world->clients[n].client), CW_CLIENT_CONNECTED);
        assert_true(world->clients[n].up_taken >= up[n]);
        assert_true(world->clients[n].down_taken >= down[n]);
    }
    assert_int_equal(world->disconnects, 0);
}

#endif
