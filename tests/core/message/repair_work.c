/* Tests what a packet with coded repair costs its receiver, counted by callgrind: at most 20,000
   instructions, whatever its few bytes ask for. repair_work SCENE runs one scene, of which only the
   last packet is counted. */
#define _GNU_SOURCE
#define OWN_MAIN
#include "fixture.h"

#include "connections.h"

#include "base/gf256.h"
#include "message/repair.h"

#include <unistd.h>

#define MOST_INSTRUCTIONS 20000
#define LONG_PADDING      250 /* makes a message of 256 bytes */
#define SHORT_PADDING     10

struct world {
    struct cw_connection_config config;
    struct cw_connection *connection;
    struct cw_endpoint *peer;
    uint32_t padding;
    uint8_t payload[1064];
    struct cw_stream stream;
};

static void begin(struct world *world, bool messages)
{
    uint32_t one = 1, none = 0;
    world->stream = cw_stream_writer(world->payload, sizeof world->payload);
    cw_stream_bits(&world->stream, &one, 1);  /* there is an entry */
    cw_stream_bits(&world->stream, &none, 1); /* there is no block */
    cw_stream_bits(&world->stream, messages ? &one : &none, 1);
}

static void put_message(struct cw_stream *stream, uint16_t id, uint32_t padding)
{
    uint32_t type = NOTE;
    struct note note = {.number = id, .padding = padding};
    cw_stream_bits(stream, &type, 2);
    assert_true(serialize_note(stream, &note));
}

/* Writes `count` messages with ids from first on. */
static void put_messages(struct world *world, uint16_t first, uint32_t count)
{
    uint32_t less = count - 1, id = first;
    begin(world, true);
    cw_stream_bits(&world->stream, &less, 8);
    cw_stream_bits(&world->stream, &id, 16);
    for (uint16_t i = 1; i < count; i++) {
        uint16_t next = (uint16_t)(first + i);
        cw_stream_relative_sequence(&world->stream, (uint16_t)(next - 1), &next);
    }
    for (uint16_t i = 0; i < count; i++) {
        cw_stream_align(&world->stream);
        put_message(&world->stream, (uint16_t)(first + i), world->padding);
    }
}

/* Writes true combinations of the messages before end, of which only `size` bytes are sent. */
static void put_combinations(struct world *world, uint32_t count, uint16_t end, uint32_t range,
                             uint32_t size)
{
    static uint8_t seed;
    const struct cw_repair_range all = {
        .end = end, .count = (uint16_t)range, .size = (uint16_t)size, .seed = ++seed};
    uint32_t values[] = {0, count, size - 1, range - 1, 1, end, all.seed};
    const uint32_t bits[] = {1,  CW_REPAIR_MOST_BITS, CW_REPAIR_SIZE_BITS, CW_REPAIR_COUNT_BITS, 1,
                             16, CW_REPAIR_SEED_BITS};
    for (int i = 0; i < (count > 0 ? 7 : 2); i++)
        assert_true(cw_stream_bits(&world->stream, &values[i], bits[i]));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t sum[CW_REPAIR_BYTES] = {0}, factors[CW_REPAIR_WINDOW];
        cw_repair_factors(&all, i, factors);
        for (uint16_t id = (uint16_t)(end - range); id != end; id++) {
            uint8_t bytes[CW_REPAIR_BYTES + 8] = {0};
            struct cw_stream stream = cw_stream_writer(bytes, sizeof bytes);
            put_message(&stream, id, world->padding);
            assert_true(cw_stream_flush(&stream) <= CW_REPAIR_BYTES);
            cw_gf256_scatter(sum, &factors[cw_repair_slot(id)], 0, 1, bytes,
                             CW_REPAIR_BYTES / CW_GF256_STRIP);
        }
        assert_true(cw_stream_bytes(&world->stream, sum, size));
    }
}

/* Receives the datagram whose cost is counted, under a name that callgrind finds. */
void counted_receive(struct cw_connection *connection, const uint8_t *datagram, size_t size);
__attribute__((noinline)) void counted_receive(struct cw_connection *connection,
                                               const uint8_t *datagram, size_t size)
{
    (void)cw_connection_receive(connection, datagram, size, 0);
}

static void arrive(struct world *world, bool counted)
{
    uint8_t datagram[2048];
    size_t length;
    const size_t size = cw_stream_flush(&world->stream);
    assert_int_equal(copy_packet(world->peer, world->payload, size, datagram, 0, &length), CW_OK);
    if (counted)
        counted_receive(world->connection, datagram, length);
    else
        assert_int_equal(cw_connection_receive(world->connection, datagram, length, 0), CW_OK);
}

/* Lets the messages from first up to before end arrive, in packets of four. */
static void learn(struct world *world, uint16_t first, uint16_t end)
{
    for (uint16_t id = first; id < end; id = (uint16_t)(id + 4)) {
        put_messages(world, id, end - id < 4 ? (uint32_t)(end - id) : 4);
        put_combinations(world, 0, 0, 0, 0);
        arrive(world, false);
    }
}

/* Lets `count` combinations arrive, one a packet, of overlapping ranges. */
static void learn_combinations(struct world *world, uint16_t count, uint32_t range)
{
    for (uint16_t i = 0; i < count; i++) {
        begin(world, false);
        put_combinations(world, 1, (uint16_t)(range + i % (65 - range)), range, CW_REPAIR_BYTES);
        arrive(world, false);
    }
}

/* Sends combinations of a range of which one message is missing. */
static void few_bytes_of_what_is_known(struct world *world, uint32_t combinations, uint32_t range)
{
    learn(world, (uint16_t)(64 - range), 59);
    learn(world, 60, 64);
    begin(world, false);
    put_combinations(world, combinations, 64, range, 1);
    arrive(world, true);
}

static void one_of_many(struct world *world)
{
    few_bytes_of_what_is_known(world, 1, 64);
}

static void one_of_some(struct world *world)
{
    few_bytes_of_what_is_known(world, 1, 32);
}

static void three_of_many(struct world *world)
{
    few_bytes_of_what_is_known(world, 3, 64);
}

static void three_of_few(struct world *world)
{
    few_bytes_of_what_is_known(world, 3, 12);
}

static void three_beside_equations(struct world *world)
{
    learn_combinations(world, 50, 64);
    begin(world, false);
    put_combinations(world, 3, 64, 64, CW_REPAIR_BYTES);
    arrive(world, true);
}

static void messages_in_many_equations(struct world *world)
{
    learn_combinations(world, 40, 64);
    put_messages(world, 60, 1);
    put_combinations(world, 0, 0, 0, 0);
    arrive(world, true);
}

static void a_message_and_all_else(struct world *world)
{
    learn_combinations(world, 20, 64);
    learn(world, 34, 60);
    put_messages(world, 62, 1);
    put_combinations(world, 1, 64, 64, 60);
    arrive(world, true);
}

/* The last message solves all before it, one after the other. */
static void all_at_once(struct world *world)
{
    learn_combinations(world, 63, 2);
    put_messages(world, 63, 1);
    put_combinations(world, 0, 0, 0, 0);
    arrive(world, true);
}

static void all_short_ones_at_once(struct world *world)
{
    world->padding = SHORT_PADDING;
    all_at_once(world);
}

static void (*const scenes[])(struct world *world) = {
    one_of_many,
    one_of_some,
    three_of_many,
    three_of_few,
    three_beside_equations,
    messages_in_many_equations,
    a_message_and_all_else,
    all_at_once,
    all_short_ones_at_once,
};

#define SCENES (sizeof scenes / sizeof *scenes)

static void run(size_t scene)
{
    struct world world = {.config = notes_config(), .padding = LONG_PADDING};
    world.config.channel_count = 1;
    world.config.channels[0].recovery = CW_RECOVERY_CODED;
    world.connection = connection_with(&world.config);
    world.peer = peer_of(&world.config);
    scenes[scene](&world);
    drain(world.connection);
}

/* Returns the instructions, or -1 without callgrind, which does not run under sanitizers either. */
static long count(const char *program, size_t scene)
{
    char folder[] = "/tmp/causeway-callgrind-XXXXXX", command[1024], line[256];
    long instructions = -1;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "valgrind --quiet --tool=callgrind --toggle-collect=counted_receive "
             "--callgrind-out-file=%s/count '%s' %zu 2>/dev/null && cat %s/count; rm -r %s",
             folder, program, scene, folder, folder);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out))
        (void)sscanf(line, "totals: %ld", &instructions);
    (void)pclose(out);
    return instructions;
}

static const char *program;

TEST(test_no_packet_costs_more)
{
    for (size_t scene = 0; scene < SCENES; scene++) {
        run(scene);
        const long instructions = count(program, scene);
        print_message("scene %zu: %ld instructions\n", scene, instructions);
        if (instructions == -1)
            skip();
        assert_in_range(instructions, 500, MOST_INSTRUCTIONS);
    }
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) {
        run(strtoul(argv[1], NULL, 10));
        return 0;
    }
    return fixture_run();
}
