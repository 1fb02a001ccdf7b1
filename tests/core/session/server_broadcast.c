/* One message to many clients: who gets it, how often it is serialized, and what happens when one
   of the clients has no room. */
#include "secure_message_rig.h"

#define CLIENTS 5
#define LONGEST 900

#define PLACE_FIELDS(FIELD)                                                                        \
    FIELD(number, CW_UINT(0, 1000))                                                                \
    FIELD(x, CW_FLOAT)
CW_MESSAGE(place, PLACE_FIELDS)

#define TEXT_FIELDS(FIELD)                                                                         \
    FIELD(number, CW_UINT(0, 1000))                                                                \
    FIELD(text, CW_STRING(LONGEST))
CW_MESSAGE(text, TEXT_FIELDS)

#define MAP_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_BLOCK_MESSAGE(map, MAP_FIELDS)

struct counted {
    uint32_t number;
};

static int times_written;

CW_SERIALIZE(serialize_counted, struct counted, stream, counted)
{
    times_written += stream->mode == CW_STREAM_WRITE;
    return cw_stream_uint(stream, &counted->number, 0, 1000);
}

enum { PLACE, TEXT, MAP, COUNTED };

struct all {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct cw_client *clients[CLIENTS];
};

/* The client in slot n is the one at address n. */
static void all_open(struct all *all)
{
    const struct cw_message_type types[] = {
        place_type,
        text_type,
        map_type,
        {.name = "counted", .size = sizeof(struct counted), .serialize = serialize_counted},
    };
    const struct cw_schema_config schema = {.types = types, .count = 4};
    all->schema = schema_with(&schema);
    all->connection = cw_connection_config_default(all->schema);
    all->connection.channels[RELIABLE].blocks = true;
    rig_init(&all->rig);
    all->rig.config.max_clients = CLIENTS;
    all->rig.connection = &all->connection;
    rig_start(&all->rig);
    struct cw_client_config config = cw_client_config_default();
    config.connection = &all->connection;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct cw_token_grant grant = rig_grant(&all->rig, i + 1);
        grant.fingerprint = cw_connection_fingerprint(&all->connection);
        all->clients[i] = rig_client_of(&all->rig, &config, &grant);
        const struct cw_address at = rig_client_address(i);
        assert_int_equal(rig_connect(&all->rig, all->clients[i], &at), i);
    }
    times_written = 0;
}

/* A tick of all, in which each datagram to a client is lost with the probability of loss / 256. */
static void all_tick(struct all *all, uint8_t loss)
{
    struct rig *rig = &all->rig;
    uint8_t datagram[CW_SECURE_MAX], chance;
    struct cw_address to;
    size_t size;
    rig->now += 1.0 / 60;
    cw_server_update(rig->server, rig->now);
    while ((size = cw_server_transmit(rig->server, datagram, sizeof datagram, rig->now, &to)) > 0) {
        netcode_fill(&rig->seed, &chance, 1);
        if (chance >= loss)
            cw_client_receive(all->clients[to.port - 1000], &rig->address, datagram, size,
                              rig->now);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const struct cw_address at = rig_client_address(i);
        cw_client_update(all->clients[i], rig->now);
        rig_up(rig, all->clients[i], &at);
    }
}

static struct cw_message *make(struct all *all, uint32_t type, uint32_t number)
{
    struct cw_message *message;
    assert_ok(cw_server_create_message(all->rig.server, type, &message));
    *(uint32_t *)message->data = number; /* all types begin with it */
    return message;
}

static void broadcast(struct all *all, uint32_t channel, struct cw_message *message,
                      uint32_t except)
{
    assert_ok(cw_server_broadcast(all->rig.server, channel, message, except, all->rig.now));
}

/* The next message for a client, which is then the caller's; NULL when there is none. */
static struct cw_message *next(struct all *all, uint32_t client)
{
    struct cw_client_event event;
    while (cw_client_next(all->clients[client], &event)) {
        if (event.type == CW_CLIENT_EVENT_MESSAGE)
            return event.message;
        assert_int_not_equal(event.type, CW_CLIENT_EVENT_DISCONNECTED);
    }
    return NULL;
}

static void expect(struct all *all, uint32_t client, uint32_t number)
{
    struct cw_message *message = next(all, client);
    assert_non_null(message);
    assert_int_equal(*(uint32_t *)message->data, number);
    cw_message_release(message);
}

static void expect_nothing(struct all *all, uint32_t client)
{
    assert_null(next(all, client));
}

static void send_own(struct all *all, uint32_t client, uint32_t channel, uint32_t number)
{
    struct cw_connection *connection = cw_server_connection(all->rig.server, client);
    struct cw_message *message;
    assert_ok(cw_connection_create_message(connection, PLACE, &message));
    ((struct place *)message->data)->number = number;
    assert_ok(cw_connection_send(connection, channel, message, all->rig.now));
}

TEST(test_all_but_one)
{
    struct all all;
    all_open(&all);
    for (uint32_t channel = RELIABLE; channel <= UNRELIABLE; channel++) {
        send_own(&all, 1, channel, 10);
        broadcast(&all, channel, make(&all, PLACE, 11), 3);
        broadcast(&all, channel, make(&all, PLACE, 12), CW_SERVER_NOBODY);
        all_tick(&all, 0);
        expect(&all, 1, 10);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            if (i != 3)
                expect(&all, i, 11);
            expect(&all, i, 12);
            expect_nothing(&all, i);
        }
    }
}

TEST(test_group)
{
    struct all all;
    all_open(&all);
    const uint32_t group[] = {4, 1, CLIENTS, CW_SERVER_NOBODY, 2};
    cw_server_disconnect(all.rig.server, 2, 0, NULL);
    assert_ok(cw_server_broadcast_to(all.rig.server, RELIABLE, make(&all, PLACE, 5), group, 5,
                                     all.rig.now));
    assert_ok(cw_server_broadcast_to(all.rig.server, RELIABLE, make(&all, PLACE, 6), NULL, 0,
                                     all.rig.now));
    all_tick(&all, 0);
    expect(&all, 1, 5);
    expect(&all, 4, 5);
    expect_nothing(&all, 0);
    expect_nothing(&all, 1);
    expect_nothing(&all, 3);
    assert_int_equal(cw_server_broadcasts_refused(all.rig.server), 0);
}

TEST(test_serialized_once)
{
    struct all all;
    all_open(&all);
    for (uint32_t i = 0; i < 20; i++)
        broadcast(&all, i % 2, make(&all, COUNTED, i), CW_SERVER_NOBODY);
    all_tick(&all, 0);
    assert_int_equal(times_written, 20);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        uint32_t count = 0;
        for (struct cw_message *message; (message = next(&all, i)); count++)
            cw_message_release(message);
        assert_int_equal(count, 20);
    }
}

/* Text begins at a byte, and what comes before it differs from client to client. */
static void fill_text(struct cw_message *message, uint32_t number)
{
    struct text *text = message->data;
    const uint32_t size = LONGEST / 2 + number * 37 % (LONGEST / 2);
    text->number = number;
    for (uint32_t i = 0; i < size; i++)
        text->text[i] = (char)('a' + (number + i) % 26);
    text->text[size] = 0;
}

static void expect_text(struct cw_message *message, uint32_t number)
{
    struct text expected = {0};
    struct cw_message wanted = {.data = &expected};
    fill_text(&wanted, number);
    assert_int_equal(((struct text *)message->data)->number, number);
    assert_string_equal(((struct text *)message->data)->text, expected.text);
}

/* More text than the server keeps the bodies of, over lossy paths, among messages of each client's
   own. */
TEST(test_bodies_differ_by_place)
{
    enum { COUNT = 300, AT_ONCE = 240, OWN = 1000 };
    struct all all;
    all_open(&all);
    uint32_t got[CLIENTS] = {0}, got_own[CLIENTS] = {0};
    for (uint32_t sent = 0, ticks = 0; ticks < 2000; ticks++) {
        const uint32_t burst = ticks == 0 ? AT_ONCE : ticks < 600 ? 0 : 3;
        for (uint32_t i = 0; i < burst && sent < COUNT; i++) {
            for (uint32_t client = 0; client < CLIENTS; client++)
                for (uint32_t j = 0; ticks > 0 && j < client; j++)
                    send_own(&all, client, UNRELIABLE, OWN);
            struct cw_message *message = make(&all, sent % 3 ? TEXT : PLACE, sent);
            if (sent % 3)
                fill_text(message, sent);
            broadcast(&all, RELIABLE, message, CW_SERVER_NOBODY);
            sent++;
        }
        all_tick(&all, ticks < 1500 ? 60 : 0);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            for (struct cw_message *message; (message = next(&all, i));) {
                const uint32_t number = *(uint32_t *)message->data;
                if (message->type == TEXT)
                    expect_text(message, got[i]++);
                else if (number == OWN)
                    got_own[i]++;
                else
                    assert_int_equal(number, got[i]++);
                cw_message_release(message);
            }
        }
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(got[i], COUNT);
    assert_true(got_own[CLIENTS - 1] > 0);
}

static float x_of(uint32_t number)
{
    return (float)(number * 7919 % 1000);
}

/* Places, of which each client misses others, and a text here and there. Returns the number of the
   next one. */
static uint32_t tell_places(struct all *all, uint32_t channel, uint32_t number, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++, number++) {
        const bool is_text = number % 97 == 0;
        struct cw_message *message = make(all, is_text ? TEXT : PLACE, number % 1000);
        if (is_text)
            ((struct text *)message->data)->text[0] = 'a';
        else
            ((struct place *)message->data)->x = x_of(number);
        broadcast(all, channel, message, number % 11);
    }
    return number;
}

/* Takes those that have arrived at the client, from its next one on. */
static void take_places(struct all *all, uint32_t client, uint32_t *number)
{
    for (struct cw_message *message; (message = next(all, client));) {
        if (message->type == COUNTED) {
            cw_message_release(message);
            continue;
        }
        *number += *number % 11 == client;
        assert_int_equal(*(uint32_t *)message->data, *number % 1000);
        if (message->type == TEXT)
            assert_string_equal(((struct text *)message->data)->text, "a");
        else
            assert_true(((struct place *)message->data)->x == x_of(*number));
        ++*number;
        cw_message_release(message);
    }
    *number += *number % 11 == client;
}

/* Enough to fill what the server keeps several times. Each client's packets begin in another way,
   and each misses some of the messages. */
TEST(test_many_at_once)
{
    enum { AT_ONCE = 60, TICKS = 300 };
    struct all all;
    all_open(&all);
    uint32_t got[CLIENTS] = {1, 0}, sent = 0;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        if (tick % 3 == 0)
            broadcast(&all, UNRELIABLE, make(&all, COUNTED, tick), tick % CLIENTS);
        sent = tell_places(&all, UNRELIABLE, sent, AT_ONCE);
        all_tick(&all, 0);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            take_places(&all, i, &got[i]);
            assert_in_range(got[i], sent, sent + 1);
        }
    }
}

/* Reliable messages that are sent again when others have overwritten what the server kept. */
TEST(test_overwritten)
{
    enum { RELIABLES = 150, OTHERS = 60, TICKS = 40 };
    struct all all;
    all_open(&all);
    uint32_t got[CLIENTS] = {1, 0};
    (void)tell_places(&all, RELIABLE, 0, RELIABLES);
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        for (uint32_t i = 0; i < OTHERS; i++)
            broadcast(&all, UNRELIABLE, make(&all, COUNTED, i), CW_SERVER_NOBODY);
        all_tick(&all, 255);
    }
    for (uint32_t tick = 0; tick < 2 * TICKS; tick++) {
        all_tick(&all, 0);
        for (uint32_t i = 0; i < CLIENTS; i++)
            take_places(&all, i, &got[i]);
    }
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(got[i], RELIABLES);
}

TEST(test_no_room)
{
    struct all all;
    all_open(&all);
    struct cw_channel_stats stats;
    struct cw_connection *full = cw_server_connection(all.rig.server, 2);
    assert_ok(cw_connection_get_channel_stats(full, RELIABLE, &stats));
    const uint32_t queue = stats.capacity;
    for (uint32_t i = 0; i < queue; i++)
        send_own(&all, 2, RELIABLE, i);
    broadcast(&all, RELIABLE, make(&all, PLACE, 999), 4);
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(cw_server_broadcast_refused(all.rig.server, i), i == 2);
    assert_int_equal(cw_server_broadcasts_refused(all.rig.server), 1);
    for (int i = 0; i < 60; i++)
        all_tick(&all, 0);
    expect(&all, 0, 999);
    expect(&all, 1, 999);
    expect(&all, 3, 999);
    expect_nothing(&all, 4);
    for (uint32_t i = 0; i < queue; i++, all_tick(&all, 0))
        expect(&all, 2, i);
    expect_nothing(&all, 2);

    broadcast(&all, RELIABLE, make(&all, PLACE, 1), CW_SERVER_NOBODY);
    assert_false(cw_server_broadcast_refused(all.rig.server, 2));
    assert_false(cw_server_broadcast_refused(all.rig.server, CLIENTS));
}

static int blocks_released;

static void release_block(void *context, uint8_t *block, size_t size)
{
    assert_ptr_equal(context, &blocks_released);
    assert_int_equal(block[size - 1], 7);
    blocks_released++;
}

TEST(test_block)
{
    struct all all;
    uint8_t block[20000];
    all_open(&all);
    blocks_released = 0;
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (uint8_t)(i * i >> 3);
    block[sizeof block - 1] = 7;
    struct cw_message *message = make(&all, MAP, 3);
    assert_ok(cw_message_attach(message, block, sizeof block, release_block, &blocks_released));
    broadcast(&all, RELIABLE, message, CW_SERVER_NOBODY);
    uint32_t arrived = 0;
    for (int ticks = 0; ticks < 600 && blocks_released == 0; ticks++) {
        all_tick(&all, 40);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            struct cw_message *map = next(&all, i);
            if (!map)
                continue;
            assert_int_equal(map->block_size, sizeof block);
            assert_memory_equal(map->block, block, sizeof block);
            cw_message_release(map);
            arrived++;
        }
    }
    assert_int_equal(arrived, CLIENTS);
    assert_int_equal(blocks_released, 1);

    /* One that has not arrived everywhere ends with the server. */
    message = make(&all, MAP, 4);
    assert_ok(cw_message_attach(message, block, sizeof block, release_block, &blocks_released));
    broadcast(&all, RELIABLE, message, CW_SERVER_NOBODY);
    all_tick(&all, 0);
    assert_int_equal(blocks_released, 1);
    end_owned(all.rig.server);
    assert_int_equal(blocks_released, 2);
}

TEST(test_receipts)
{
    struct all all;
    struct cw_server_event event;
    uint32_t acked = 0;
    all_open(&all);
    struct cw_message *message = make(&all, PLACE, 3);
    message->receipt = 77;
    broadcast(&all, RELIABLE, message, 1);
    for (int i = 0; i < 60; i++)
        all_tick(&all, 60);
    while (cw_server_next(all.rig.server, &event)) {
        assert_int_equal(event.type, CW_SERVER_EVENT_ACKED);
        assert_int_equal(event.receipt, 77);
        acked |= 1u << event.client;
    }
    assert_int_equal(acked, 0x1d);
}

TEST(test_errors)
{
    struct all all;
    all_open(&all);
    struct cw_server *server = all.rig.server;
    struct cw_message *message = make(&all, PLACE, 1001), *none = NULL;
    const double now = all.rig.now;
    assert_int_equal(cw_server_create_message(server, 4, &none), CW_ERROR_MESSAGE_TYPE);
    assert_int_equal(cw_server_broadcast(server, RELIABLE, message, CW_SERVER_NOBODY, now),
                     CW_ERROR_MESSAGE_VALUE);
    *(uint32_t *)message->data = 1;
    assert_int_equal(cw_server_broadcast(server, 2, message, CW_SERVER_NOBODY, now),
                     CW_ERROR_CHANNEL);
    assert_int_equal(cw_connection_send(cw_server_connection(server, 0), RELIABLE, message, now),
                     CW_ERROR_OTHER_CONNECTION);
    broadcast(&all, RELIABLE, message, CW_SERVER_NOBODY);
    assert_int_equal(cw_server_broadcast(server, RELIABLE, message, CW_SERVER_NOBODY, now),
                     CW_ERROR_MESSAGE_NOT_OWNED);
    assert_ok(cw_connection_create_message(cw_server_connection(server, 0), PLACE, &message));
    assert_int_equal(cw_server_broadcast(server, RELIABLE, message, CW_SERVER_NOBODY, now),
                     CW_ERROR_OTHER_CONNECTION);
    cw_message_release(message);
    message = make(&all, MAP, 1);
    assert_int_equal(cw_server_broadcast(server, RELIABLE, message, CW_SERVER_NOBODY, now),
                     CW_ERROR_BLOCK_MISSING);
    cw_message_release(message);
    struct cw_message *kept[64];
    for (int i = 0; i < 64; i++)
        kept[i] = make(&all, PLACE, 1);
    assert_int_equal(cw_server_create_message(server, PLACE, &none), CW_ERROR_POOL_EMPTY);
    for (int i = 0; i < 64; i++)
        cw_message_release(kept[i]);
    assert_null(none);
}
