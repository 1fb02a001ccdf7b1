/* Tests of arguments that make no sense. arguments.mjs writes the calls from the public headers:
   every function gets NULL wherever it takes a pointer, NaN or an infinity wherever it takes a
   time, and numbers at their limits. Nothing happens then, and each function that can return an
   error does so. */
#define OWN_MAIN
#include "counted.h"
#include "fixture.h"
#include "netcode.h"

#include "causeway/causeway.h"
#include "causeway/native/client_host.h"
#include "causeway/native/clock.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"
#include "causeway/protocols/bunch.h"
#include "causeway/protocols/rudp.h"
#include "lab/column.h"
#include "lab/echo.h"
#include "lab/line.h"
#include "lab/match.h"
#include "lab/peers.h"
#include "lab/window.h"
#include "message/message_pool.h"
#include "netcode/crypto.h"
#include "netcode/secure_packet.h"

#include <math.h>

#define NOTE_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000000))
CW_MESSAGE(note, NOTE_FIELDS)

static const struct cw_address here = {CW_ADDRESS_IPV4, 40000, {127, 0, 0, 1}};
static const struct cw_address client_address = {CW_ADDRESS_IPV4, 40001, {127, 0, 0, 1}};
static const uint8_t a_key[CW_LONG_NONCE_BYTES + CW_KEY_BYTES] = {1};

/* A function and the call of it. Each parameter has a letter: p for a pointer, t for a time, n for
   a number, s for a size of the pointer before, a for one that is asserted, e for an enum, b for a
   bool, - for one that is left out. A capital is for a parameter that may be NULL, or no time. */
struct function {
    const char *name;
    void (*call)(void);
    const char *kinds;
    bool gives_errors, empty, goes_on;
};

/* The call that is made: with the value of this number for this parameter, or with good arguments
   where parameter is -1. */
static struct {
    const struct function *function;
    int parameter;
    uint32_t value;
    bool refused; /* nothing may happen */
    uint32_t failures;
} try;

/* The memory that pointers without a special value point to. */
#define SLOTS     8
#define SLOT_SIZE 16384
static _Alignas(max_align_t) uint8_t slots[SLOTS][SLOT_SIZE], slots_before[SLOTS][SLOT_SIZE];

/* The memory of all objects. */
static struct block {
    uint8_t *memory, *before;
    size_t size;
} blocks[32];

static void *block_allocate(void *context, size_t size)
{
    (void)context;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!blocks[i].memory) {
            blocks[i] = (struct block){calloc(1, size), malloc(size), size};
            return blocks[i].memory;
        }
    return NULL;
}

static void block_release(void *context, void *memory, size_t size)
{
    (void)context;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].memory == memory) {
            assert_int_equal(blocks[i].size, size);
            free(blocks[i].memory);
            free(blocks[i].before);
            blocks[i] = (struct block){0};
            return;
        }
    fail_msg("released what was not allocated");
}

static const struct cw_allocator counted = {block_allocate, block_release, NULL};

static void *room(int slot, size_t size)
{
    assert_in_range(size, 1, SLOT_SIZE);
    return slots[slot];
}

static void *put(int slot, const void *data, size_t size)
{
    return memcpy(room(slot, size), data, size);
}

static void complain(const char *what)
{
    static const char *const values[][4] = {['t'] = {"NaN", "infinity", "-infinity"},
                                            ['n'] = {"0", "1", "the largest", "the last but one"},
                                            ['s'] = {"0", "1", "SLOT_SIZE"},
                                            ['a'] = {"0", "1", "SLOT_SIZE"},
                                            ['e'] = {"0", "1", "9999", "-1"},
                                            ['b'] = {"false", "true"},
                                            ['p'] = {"NULL"}};
    const int kind = try.parameter < 0 ? 0 : try.function->kinds[try.parameter] | 32;
    print_error("%s, parameter %d %s: %s\n", try.function->name, try.parameter + 1,
                kind ? values[kind][try.value] : "is good", what);
    try.failures++;
}

static bool bad(int parameter)
{
    return try.parameter == parameter;
}

static double no_time(void)
{
    return (const double[]){(double)NAN, (double)INFINITY, (double)-INFINITY}[try.value];
}

static uint64_t no_number(void)
{
    return (const uint64_t[]){0, 1, UINT64_MAX, UINT64_MAX - 1}[try.value];
}

static size_t no_size(void)
{
    return (const size_t[]){0, 1, SLOT_SIZE}[try.value];
}

static int no_enum(void)
{
    return (const int[]){0, 1, 9999, -1}[try.value];
}

/* Keeps what all memory is before the call. */
static void begin(void)
{
    memcpy(slots_before, slots, sizeof slots);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].memory)
            memcpy(blocks[i].before, blocks[i].memory, blocks[i].size);
}

static void changed_nothing(void)
{
    if (memcmp(slots_before, slots, sizeof slots) != 0)
        complain("changed what an argument points to");
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].memory && memcmp(blocks[i].before, blocks[i].memory, blocks[i].size) != 0)
            complain("changed an object");
}

static void gave(bool something)
{
    if (try.refused && !try.function->goes_on)
        changed_nothing();
    if (try.refused && something)
        complain("gave something");
    if (try.parameter < 0 && !something && !try.function->empty && !try.function->gives_errors)
        complain("gave nothing");
}

static void gave_error(int error, const int *documented)
{
    char text[200], field[CW_ERROR_FIELD_SIZE];
    if (try.refused)
        changed_nothing();
    if (try.refused != (error == CW_ERROR_INVALID_ARGUMENT) && (try.refused || try.parameter < 0)) {
        snprintf(text, sizeof text, "returned %s", cw_error_string((enum cw_error)error));
        complain(text);
    }
    while (*documented && *documented != error)
        documented++;
    if (error > CW_ERROR_INVALID_ARGUMENT && !*documented &&
        !cw_error_field((enum cw_error)error, field)) {
        snprintf(text, sizeof text, "returned, with no word in the header: %s",
                 cw_error_string((enum cw_error)error));
        complain(text);
    }
}

/* Releases no object when the test ends, since the call did. */
static void keep(void *object)
{
    (void)object;
}

static void disown(void *object)
{
    for (size_t i = 0; i < fixture_owned_count; i++)
        if (fixture_owned[i].object == object)
            fixture_owned[i].release = keep;
}

static const struct note a_note = {1};
static const char a_key_text[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static uint8_t scratch[SLOT_SIZE];

static bool stop(void *context, double until)
{
    (void)context;
    (void)until;
    return false;
}

static void end_own_message(void *message)
{
    cw_message_release(message);
}

static struct cw_message *own_message(struct cw_connection *connection)
{
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(connection, 0, &message), CW_OK);
    return own(message, end_own_message);
}

/* Gives the endpoint an event, and a fragment that is to be transmitted. */
static void prepare_endpoint(struct cw_endpoint *endpoint)
{
    uint8_t *payload;
    assert_int_equal(cw_endpoint_begin(endpoint, 8, scratch, sizeof scratch, &payload), CW_OK);
    const size_t size = cw_endpoint_commit(endpoint, 8, 1, NULL);
    assert_int_equal(cw_endpoint_receive(endpoint, scratch, size, 1), CW_OK);
    assert_int_equal(cw_endpoint_begin(endpoint, 2000, scratch, sizeof scratch, &payload), CW_OK);
    assert_true(cw_endpoint_commit(endpoint, 2000, 1, NULL) > 0);
}

/* Begins a packet after the one that prepare_endpoint has begun. */
static void prepare_commit(struct cw_endpoint *endpoint, size_t size)
{
    uint8_t *payload;
    while (cw_endpoint_transmit(endpoint, scratch, sizeof scratch, 2) > 0)
        continue;
    assert_int_equal(cw_endpoint_begin(endpoint, size, scratch, sizeof scratch, &payload), CW_OK);
}

static struct cw_record *made_cw_record(void);

static const uint8_t *a_recording(void)
{
    static uint8_t recording[SLOT_SIZE];
    assert_true(cw_record_write(made_cw_record(), recording, sizeof recording) > 0);
    return recording;
}

static void prepare_input_receiver(struct cw_input_receiver *receiver,
                                   struct cw_input_sender *sender)
{
    const size_t size = cw_input_sender_transmit(sender, scratch, sizeof scratch);
    assert_int_equal(cw_input_receiver_receive(receiver, scratch, size, 1), CW_OK);
}

static void prepare_snapshot_client(struct cw_snapshot_client *client,
                                    struct cw_snapshot_server *server)
{
    uint32_t number;
    const size_t size = cw_snapshot_server_transmit(server, 0, scratch, sizeof scratch, &number);
    assert_int_equal(cw_snapshot_client_receive(client, scratch, size), CW_OK);
}

/* Gives the connection a message of its own to take, and a datagram that is due. */
static void prepare_connection(struct cw_connection *connection)
{
    assert_int_equal(cw_connection_send_value(connection, 0, 0, &a_note, 1), CW_OK);
    cw_connection_update(connection, 1);
    const size_t size = cw_connection_transmit(connection, scratch, sizeof scratch, 1);
    assert_int_equal(cw_connection_receive(connection, scratch, size, 1), CW_OK);
    cw_connection_update(connection, 2);
}

/* Lets the clock hear from a server. */
static void prepare_clock_sync(struct cw_clock_sync *sync)
{
    struct cw_clock_echo echo = {0};
    cw_clock_sync_transmit(sync, scratch, sizeof scratch, 1);
    assert_int_equal(cw_clock_echo_receive(&echo, scratch, CW_CLOCK_STAMP_SIZE, 1), CW_OK);
    cw_clock_echo_transmit(&echo, 1, scratch, sizeof scratch, 1);
    assert_int_equal(cw_clock_sync_receive(sync, scratch, CW_CLOCK_ECHO_SIZE, 1), CW_OK);
    cw_clock_sync_update(sync, 1);
}

/* A client has a seat, its snapshot is due, and a tick is being played. */
static void prepare_game_server(struct cw_game_server *server)
{
    struct note note = a_note;
    uint32_t tick;
    assert_int_equal(cw_game_server_join(server, 0, 0), CW_OK);
    assert_int_equal(cw_game_server_set(server, 0, 0, &note), CW_OK);
    cw_game_server_update(server, 0.9);
    assert_true(cw_game_server_next_tick(server, &tick));
    assert_false(cw_game_server_next_tick(server, &tick));
    cw_game_server_update(server, 1);
    assert_true(cw_game_server_next_tick(server, &tick));
}

/* Lets the client hear from a server. */
static void prepare_game_client(struct cw_game_client *client, struct cw_game_server *server)
{
    size_t size = cw_game_client_transmit(client, scratch, sizeof scratch, 1);
    assert_int_equal(cw_game_server_receive(server, 0, scratch, size, 1), CW_OK);
    size = cw_game_server_transmit(server, 0, scratch, sizeof scratch, 1);
    assert_int_equal(cw_game_client_receive(client, scratch, size, 1), CW_OK);
    cw_game_client_update(client, 1);
    assert_true(cw_game_client_view(client, 1));
}

static void end_game(void *game)
{
    block_release(NULL, game, sizeof(struct cw_lab_game));
}

static struct cw_lab_game *a_game(void)
{
    return own(block_allocate(NULL, sizeof(struct cw_lab_game)), end_game);
}

/* These have sent themselves something, and have more to send. */
static void prepare_rudp(struct cw_rudp *rudp)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cw_rudp_send(rudp, scratch, 8), CW_PROTOCOL_OK);
        cw_rudp_update(rudp, 1);
        if (i == 0)
            cw_rudp_receive(rudp, scratch, cw_rudp_transmit(rudp, scratch, sizeof scratch));
    }
}

static void prepare_notify(struct cw_notify *notify)
{
    cw_notify_send(notify, scratch, 8, NULL);
    cw_notify_receive(notify, scratch, cw_notify_transmit(notify, scratch, sizeof scratch));
    cw_notify_send(notify, scratch, 8, NULL);
}

static void prepare_bunch(struct cw_bunch *bunch)
{
    cw_bunch_send(bunch, 0, scratch, 8);
    cw_bunch_update(bunch, 1);
    cw_bunch_receive(bunch, scratch, cw_bunch_transmit(bunch, scratch, sizeof scratch));
    cw_bunch_send(bunch, 0, scratch, 8);
    cw_bunch_update(bunch, 1.5);
}

static void prepare_window(struct cw_window *window)
{
    size_t taken;
    cw_window_send(window, scratch, 8, 1, &taken);
    cw_window_receive(window, scratch, cw_window_transmit(window, scratch, sizeof scratch, 1), 1);
    cw_window_send(window, scratch, 8, 1, &taken);
}

/* Gives the echo an item to send back. */
static void prepare_echo(struct cw_lab_echo *echo)
{
    struct cw_lab_line_config config = cw_lab_line_config_default();
    struct cw_lab_line *line;
    config.allocator = counted;
    assert_int_equal(cw_lab_line_create(&config, &line), CW_OK);
    cw_lab_line_step(line, 1);
    const size_t size = cw_lab_line_transmit(line, scratch, sizeof scratch, 1);
    assert_true(cw_lab_echo_receive(echo, scratch, size, 1));
    cw_lab_line_destroy(line);
    cw_lab_echo_step(echo, 1);
}

/* The first items of all lines are alike, so what that one sent comes back to this one too. */
static void prepare_line(struct cw_lab_line *line, struct cw_lab_echo *echo)
{
    cw_lab_line_step(line, 1);
    cw_lab_line_transmit(line, scratch, sizeof scratch, 1);
    const size_t size = cw_lab_echo_transmit(echo, scratch, sizeof scratch, 1);
    assert_true(cw_lab_line_receive(line, scratch, size, 1));
    cw_lab_line_step(line, 1.5);
}

static void meet_cw_(void);
static void meet_cw_netcode_(void);
static const struct cw_connection_config *the_messages(void);
static void fit_server(struct cw_netcode_server_config *config);

/* Returns the field that the error names, or NULL. */
static const char *named(enum cw_error error)
{
    static char field[CW_ERROR_FIELD_SIZE];
    return cw_error_field(error, field) ? field : NULL;
}

static void no_failures(void)
{
    const uint32_t failures = try.failures;
    try.failures = 0;
    assert_int_equal(failures, 0);
}

/* Checks what became of a config: CW_ERROR_CONFIG stands for an error that names the field. */
static void tried(const char *change, const char *field, int error, int expected, const char *name)
{
    const bool as_expected = expected == CW_ERROR_CONFIG
                                 ? error != CW_OK && name && strcmp(name, field) == 0
                                 : error == expected;
    if (as_expected)
        return;
    print_error("%s: error %d %s\n", change, error, name ? name : "");
    try.failures++;
}

/* Tries a config with one change. */
#define FIELD(object, config_type, change, expected, name)                                         \
    do {                                                                                           \
        struct config_type config = good_##config_type();                                          \
        struct object *made = NULL;                                                                \
        change;                                                                                    \
        const int error = (int)object##_create(&config, &made);                                    \
        tried(#object ", " #change, field, error, expected, name);                                 \
        assert_true((object##_memory(&config) > 0) == (made != NULL));                             \
        assert_true((error == 0) == (made != NULL));                                               \
        object##_destroy(made);                                                                    \
    } while (0)

/* Checks that an object is one allocation of the size that its memory function returns, and that
   destroy gives it back. When there is no memory, create must return that error and no object. */
#define ONE_ALLOCATION(object, config_type, no_memory)                                             \
    do {                                                                                           \
        struct counted memory = {.refuse = true};                                                  \
        struct config_type config = good_##config_type();                                          \
        struct object *made = NULL;                                                                \
        config.allocator = counted_allocator(&memory);                                             \
        assert_int_equal(object##_create(&config, &made), no_memory);                              \
        assert_null(made);                                                                         \
        memory.refuse = false;                                                                     \
        assert_int_equal(object##_create(&config, &made), 0);                                      \
        assert_int_equal(memory.allocations, 1);                                                   \
        assert_int_equal(memory.size, object##_memory(&config));                                   \
        object##_destroy(made);                                                                    \
        assert_int_equal(memory.releases, 1);                                                      \
        assert_int_equal(memory.released, memory.size);                                            \
    } while (0)

#include "arguments_calls.h"

static const struct cw_connection_config *the_messages(void)
{
    static struct cw_connection_config config;
    config = cw_connection_config_default(made_cw_schema());
    return &config;
}

static void fit_server(struct cw_netcode_server_config *config)
{
    config->addresses = &here;
    config->address_count = 1;
    config->private_key[0] = 1;
    config->max_clients = 4;
    config->max_token_life_seconds = 0;
    config->unix_offset_seconds = 1900000000;
}

/* Connects the client and the server of this call, and leaves their events to be taken. */
#define MEET(kind)                                                                                 \
    static void meet_##kind(void)                                                                  \
    {                                                                                              \
        if (!the_##kind##client || !the_##kind##server) {                                          \
            made_##kind##client();                                                                 \
            made_##kind##server();                                                                 \
            return;                                                                                \
        }                                                                                          \
        struct cw_token_grant grant = good_cw_token_grant();                                       \
        struct cw_address to;                                                                      \
        uint8_t token[CW_TOKEN_SIZE];                                                              \
        size_t size;                                                                               \
        grant.create_time = 1900000000;                                                            \
        grant.fingerprint = cw_connection_fingerprint(the_messages());                             \
        assert_int_equal(cw_token_generate(&grant, a_key, token), CW_OK);                          \
        assert_int_equal(kind##client_connect(the_##kind##client, token, sizeof token, 0), CW_OK); \
        for (double now = 0; now < 2; now += 0.5) {                                                \
            kind##client_update(the_##kind##client, now);                                          \
            kind##server_update(the_##kind##server, now);                                          \
            while ((size = kind##client_transmit(the_##kind##client, scratch, sizeof scratch, now, \
                                                 NULL)) > 0)                                       \
                kind##server_receive(the_##kind##server, &client_address, scratch, size, now);     \
            while ((size = kind##server_transmit(the_##kind##server, scratch, sizeof scratch, now, \
                                                 &to)) > 0)                                        \
                kind##client_receive(the_##kind##client, NULL, scratch, size, now);                \
        }                                                                                          \
        assert_int_equal(kind##client_state(the_##kind##client), CW_CLIENT_CONNECTED);             \
        kind##client_update(the_##kind##client, 2);                                                \
        kind##server_update(the_##kind##server, 2);                                                \
    }
MEET(cw_)
MEET(cw_netcode_)

static void attempt(const struct function *function, int parameter, uint32_t value)
{
    const char kind = parameter < 0 ? 0 : function->kinds[parameter];
    memset(slots, 0, sizeof slots);
    try.function = function;
    try.parameter = parameter;
    try.value = value;
    try.refused = kind == 'p' || kind == 't';
    function->call();
    fixture_release(NULL);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].memory)
            complain("left memory behind");
}

static void misused(void **state)
{
    const struct function *function = *state;
#ifdef NDEBUG
    static const char kinds[] = "ptnseba", counts[] = {1, 3, 4, 3, 4, 2, 3};
#else
    static const char kinds[] = "ptnseb", counts[] = {1, 3, 4, 3, 4, 2};
#endif
    attempt(function, -1, 0);
    for (int i = 0; function->kinds[i]; i++) {
        const char *kind = strchr(kinds, function->kinds[i] | 32);
        for (uint32_t j = 0; kind && j < (uint32_t)counts[kind - kinds]; j++)
            attempt(function, i, j);
    }
    no_failures();
}

TEST(functions_whose_result_is_no_error)
{
    struct cw_address address = {0};
    char text[CW_ADDRESS_TEXT_SIZE];
    assert_string_equal(cw_address_format(NULL, text), "none");
    assert_string_equal(cw_address_format(&address, NULL), "none");
    assert_string_equal(cw_address_format(&here, NULL), "none");
    assert_int_equal(cw_address_compare(NULL, NULL), 0);
    assert_int_equal(cw_address_compare(NULL, &here), -1);
    assert_int_equal(cw_address_compare(&here, NULL), 1);
    assert_false(cw_socket_wait(made_cw_socket(), (double)NAN));
    assert_null(cw_lab_peer_create(NULL, &counted));
    assert_null(cw_lab_peer_create(cw_lab_protocol(0), NULL));
    cw_lab_peer_destroy(NULL);
}

TEST(null_has_an_error_of_its_own)
{
    struct cw_schema *schema = NULL;
    uint8_t parsed[CW_KEY_BYTES];
    assert_int_equal(cw_schema_create(NULL, &schema), CW_ERROR_SCHEMA_TYPES);
    assert_null(schema);
    assert_int_equal(cw_key_parse(NULL, parsed), CW_ERROR_KEY);
    assert_int_equal(cw_schema_encode(made_cw_schema(), NULL, 999),
                     cw_schema_encode(made_cw_schema(), scratch, 999));
}

/* A struct may lack what it needs, as an argument may. */
TEST(structs_without_their_pointers)
{
    const struct cw_seal seals[] = {
        {.nonce = a_key}, {.key = a_key}, {.key = a_key, .nonce = a_key, .associated_size = 1}};
    const struct cw_secure_key with = {1, CW_TO_CLIENT, a_key}, without = {.protocol_id = 1};
    const struct cw_secure_packet whole = {CW_SECURE_PAYLOAD, 1, scratch, 8},
                                  empty = {CW_SECURE_PAYLOAD, 1, NULL, 8};
    const struct cw_request request = {0};
    struct cw_token_private inner;
    struct cw_secure_packet packet;
    memset(slots[0], 7, 64);
    for (size_t i = 0; i < sizeof seals / sizeof *seals; i++) {
        cw_crypto_seal(&seals[i], slots[0], 8, slots[0]);
        cw_crypto_seal_long(&seals[i], slots[0], 8, slots[0]);
        assert_false(cw_crypto_open(&seals[i], slots[0], 32, slots[0]));
        assert_false(cw_crypto_open_long(&seals[i], slots[0], 32, slots[0]));
    }
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(slots[0][i], 7);
    assert_int_equal(cw_secure_write(&empty, &with, slots[0], SLOT_SIZE), 0);
    assert_int_equal(cw_secure_write(&whole, &without, slots[0], SLOT_SIZE), 0);
    assert_int_equal(cw_secure_read(scratch, 40, &without, NULL, slots[0], &packet),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_request_open(&request, a_key, &inner), CW_ERROR_INVALID_ARGUMENT);
}

TEST(numbers_that_are_out_of_range)
{
    struct cw_snapshot_server *server = made_cw_snapshot_server();
    const struct cw_snapshot_config config = good_cw_snapshot_config();
    uint32_t number;
    assert_int_equal(cw_snapshot_server_set_priority(server, 0, 0, -1), CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_set_priority(server, 0, config.max_entities, 1),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_set_priority(server, config.max_clients, 0, 1),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_join(server, config.max_clients),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_restart(server, config.max_clients),
                     CW_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_snapshot_server_transmit(server, 0, scratch, 31, &number), 0);
    assert_int_equal(
        cw_snapshot_server_transmit(server, config.max_clients, scratch, sizeof scratch, &number),
        0);
    assert_int_equal(cw_server_dropped(made_cw_server(), CW_ERROR_COUNT), 0);
    assert_int_equal(cw_server_dropped(made_cw_server(), (enum cw_error) - 1), 0);
    assert_null(cw_server_user(made_cw_server(), UINT32_MAX));
    struct cw_bunch *bunch = made_cw_bunch();
    assert_int_equal(cw_bunch_send(bunch, 2, scratch, 1), CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_bunch_send_unreliable(bunch, 2, scratch, 1),
                     CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    assert_int_equal(cw_bunch_set(bunch, 1, scratch, 1), CW_PROTOCOL_ERROR_INVALID_ARGUMENT);
    struct cw_lab_column *column = made_cw_lab_column();
    struct cw_lab_wire_stats wire;
    struct cw_lab_game_stats items;
    assert_true(cw_lab_column_quantile(column, 2, CW_LAB_MESSAGE, 0.5) == 0);
    assert_true(cw_lab_column_quantile(column, 0, (enum cw_lab_traffic)0, 0.5) == 0);
    assert_int_equal(cw_lab_column_waiting(column, 2, &number), 0);
    cw_lab_column_wire_stats(column, 2, &wire);
    assert_int_equal(wire.datagrams, 0);
    cw_lab_column_item_stats(column, 2, CW_LAB_MESSAGE, &items);
    assert_int_equal(items.sent, 0);
    cw_lab_column_item_stats(column, 0, (enum cw_lab_traffic)0, &items);
    assert_int_equal(items.sent, 0);
}

/* A socket opens with the smallest buffers, since the system has a minimum of its own. */
TEST(a_socket_has_the_smallest_buffers)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket_stats stats;
    config.address = (struct cw_address){CW_ADDRESS_IPV4, 0, {127, 0, 0, 1}};
    config.send_buffer_size = config.receive_buffer_size = 0;
    struct cw_socket *socket;
    assert_int_equal(cw_socket_open(&config, &socket), CW_OK);
    own(socket, end_cw_socket);
    cw_socket_get_stats(socket, &stats);
    assert_in_range(stats.send_buffer_size, 1, 16384);
    assert_in_range(stats.receive_buffer_size, 1, 16384);
}

TEST(a_fingerprint_of_0_compares_none)
{
    struct cw_token_grant grant = good_cw_token_grant();
    uint8_t token[CW_TOKEN_SIZE];
    grant.fingerprint = cw_connection_fingerprint(the_messages()) + 1;
    assert_int_equal(cw_token_generate(&grant, a_key, token), CW_OK);
    for (int none = 0; none < 2; none++) {
        struct cw_client_config config = good_cw_client_config();
        struct cw_client *client;
        config.netcode.fingerprint = none ? 0 : CW_FINGERPRINT_AUTO;
        assert_int_equal(cw_client_create(&config, &client), CW_OK);
        own(client, end_cw_client);
        assert_int_equal(cw_client_connect(client, token, sizeof token, 0),
                         none ? CW_OK : CW_ERROR_SCHEMA);
    }
}

/* CW_AUTO stands for the value that the other fields allow. */
TEST(auto_follows_other_fields)
{
    struct cw_endpoint_config packets = cw_endpoint_config_default();
    packets.max_packet_size = packets.fragment_above = 700;
    const size_t longest = cw_endpoint_config_max_datagram_size(&packets);
    packets.max_send_size = 700;
    assert_int_equal(cw_endpoint_config_max_datagram_size(&packets), longest);
    packets.max_send_size = 699;
    assert_int_equal(cw_endpoint_config_max_datagram_size(&packets), longest - 1);

    struct cw_connection_config messages = cw_connection_config_default(made_cw_schema());
    messages.max_messages = 100;
    const size_t memory = cw_connection_memory(&messages);
    messages.max_received_messages = 50;
    assert_int_equal(cw_connection_memory(&messages), memory);
    messages.max_received_messages = 49;
    assert_true(cw_connection_memory(&messages) < memory);
}

int main(void)
{
    enum {
        FUNCTIONS = sizeof functions / sizeof *functions,
        CONFIGS = sizeof configs / sizeof *configs
    };
    static struct CMUnitTest tests[FUNCTIONS + CONFIGS];
    memcpy(tests, configs, sizeof configs);
    for (size_t i = 0; i < FUNCTIONS; i++)
        tests[CONFIGS + i] = (struct CMUnitTest){functions[i].name, misused, NULL, fixture_release,
                                                 (void *)&functions[i]};
    return fixture_run() + cmocka_run_group_tests(tests, NULL, NULL);
}
