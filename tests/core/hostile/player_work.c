/* Tests of what a malicious player can make a server do: he floods it with 6,000 datagrams a second
   that are as expensive as can be, while another player plays. The server may spend MOST_WORK
   instructions a second on him, a thirtieth of a core that executes three thousand million, and the
   other player notices nothing. */
#define OWN_MAIN
#include "hostile_player.h"
#include "instructions.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_WORK 100e6 /* instructions a second */
#define RATE      60    /* ticks a second */
#define WARM_UP   9     /* ticks, in which he uses up the burst that he may send at once */
#define COUNTED   3     /* ticks whose instructions are counted */
#define PER_TICK  100   /* his datagrams in a tick */

#define TEXT_FIELDS(FIELD) FIELD(text, CW_STRING(200))
CW_MESSAGE(text, TEXT_FIELDS)
#define ITEM_FIELDS(FIELD)                                                                         \
    FIELD(x, CW_FLOAT)                                                                             \
    FIELD(y, CW_FLOAT)                                                                             \
    FIELD(name, CW_STRING(30))
CW_MESSAGE(item, ITEM_FIELDS)
#define TABLE_FIELDS(FIELD) FIELD(items, CW_ARRAY(CW_STRUCT(item), 60))
CW_MESSAGE(table, TABLE_FIELDS)
#define MAP_FIELDS(FIELD) FIELD(number, CW_UINT(0, 1000))
CW_BLOCK_MESSAGE(map, MAP_FIELDS)

enum { NOTE, TEXT, EMPTY, TABLE, MAP, TYPES };
enum { TYPE_BITS = 3, INDEX_BITS = 2, ENTRIES_BITS = 3, COUNT_BITS = 8, CHANNELS = 4 };

/* A datagram, which is made before the count begins. */
struct datagram {
    size_t size;
    uint8_t bytes[CW_SECURE_MAX];
};

struct game {
    struct rig rig;
    struct cw_schema *schema;
    struct cw_connection_config connection;
    struct player player, other;
    uint32_t i;   /* the number of the datagram that is made now */
    uint16_t id;  /* the id of its first reliable message */
    bool untaken; /* the application takes no messages */
    struct datagram *next;
};

static void game_open(struct game *game)
{
    const struct cw_message_type types[TYPES] = {
        note_type, text_type, {.name = "empty"}, table_type, map_type};
    const struct cw_schema_config schema = {.types = types, .count = TYPES};
    *game = (struct game){0};
    game->schema = schema_with(&schema);
    game->connection = cw_connection_config_default(game->schema);
    struct cw_channel_config *channels = game->connection.channels;
    game->connection.channel_count = CHANNELS;
    channels[0].blocks = channels[1].blocks = true;
    channels[2].kind = CW_CHANNEL_UNRELIABLE_SEQUENCED;
    channels[3] = channels[0];
    channels[3].kind = CW_CHANNEL_RELIABLE_UNORDERED;
    rig_init(&game->rig);
    game->rig.config.max_clients = 16;
    game->rig.connection = &game->connection;
    rig_start(&game->rig);
    player_connect(&game->player, &game->rig, 0, cw_connection_fingerprint(&game->connection));
    player_connect(&game->other, &game->rig, 1, cw_connection_fingerprint(&game->connection));
}

/* A payload that is written bit by bit. */
struct bits {
    struct cw_stream stream;
    uint8_t bytes[8192];
};

static void put(struct bits *bits, uint32_t value, unsigned count)
{
    assert_true(count == 0 || cw_stream_bits(&bits->stream, &value, count));
}

static void start(struct bits *bits, uint32_t entries)
{
    bits->stream = cw_stream_writer(bits->bytes, sizeof bits->bytes);
    put(bits, entries, ENTRIES_BITS);
}

static void seal(struct game *game, const uint8_t *packet, size_t size)
{
    struct datagram *datagram = game->next++;
    datagram->size = player_seal(&game->player, CW_SECURE_PAYLOAD, packet, size, datagram->bytes);
}

static void send_payload(struct game *game, const uint8_t *payload, size_t size)
{
    uint8_t packet[CW_PAYLOAD_MAX];
    seal(game, packet, player_packet(&game->player, payload, size, packet));
}

/* Sends the payload in one datagram. */
static void send_bits(struct game *game, struct bits *bits)
{
    const size_t size = cw_stream_flush(&bits->stream);
    send_payload(game, bits->bytes, size);
}

/* Puts the head of an entry with messages; ids of reliable ones follow each other. */
static void put_head(struct bits *bits, uint32_t channel, uint32_t count, uint16_t id)
{
    put(bits, channel, INDEX_BITS);
    put(bits, 0, 1);
    put(bits, 1, 1);
    put(bits, count - 1, COUNT_BITS);
    if (channel == 1 || channel == 2)
        return;
    put(bits, id, 16);
    for (uint32_t i = 1; i < count; i++)
        put(bits, 1, 1);
}

static void put_note(struct bits *bits)
{
    put(bits, NOTE, TYPE_BITS);
    put(bits, 7, 20);
    put(bits, 1, 7);
}

/* Attacks: each function makes the next datagram of one attack. */

static void one_note(struct game *game)
{
    static struct bits bits;
    start(&bits, 1);
    put_head(&bits, 0, 1, game->id++);
    put_note(&bits);
    send_bits(game, &bits);
}

static void notes(struct game *game)
{
    static struct bits bits;
    start(&bits, 1);
    put_head(&bits, 2, 256, 0);
    for (int i = 0; i < 256; i++)
        put_note(&bits);
    send_bits(game, &bits);
}

static void no_entries(struct game *game)
{
    static struct bits bits;
    start(&bits, 0);
    send_bits(game, &bits);
}

static void noise(struct game *game)
{
    uint8_t payload[1100];
    netcode_fill(&game->rig.seed, payload, sizeof payload);
    send_payload(game, payload, sizeof payload);
}

static void fill(struct game *game, uint32_t type, unsigned body_bits, bool broken)
{
    static struct bits bits;
    start(&bits, CHANNELS);
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        const uint32_t most = 1170 * 8 / CHANNELS / (1 + TYPE_BITS + body_bits);
        const uint32_t count = most < 256 ? most : 256;
        put_head(&bits, channel, count, game->id);
        for (uint32_t i = 0; i < count; i++) {
            put(&bits, type, TYPE_BITS);
            put(&bits, 0, body_bits);
        }
    }
    size_t size = cw_stream_flush(&bits.stream);
    assert_true(size <= 1180);
    send_payload(game, bits.bytes, broken ? size - 1 : size);
    if (!broken)
        game->id += 256;
}

/* Fills a datagram with as many messages as go into it, of one bit and their type, on all channels.
 */
static void crowd(struct game *game)
{
    fill(game, EMPTY, 0, false);
}

static void crowd_broken(struct game *game)
{
    fill(game, EMPTY, 0, true);
}

/* Makes a packet whose messages have large structs, and which is malformed at its end. */
static void large_broken(struct game *game)
{
    fill(game, TABLE, 6, true);
}

static void texts_broken(struct game *game)
{
    fill(game, TEXT, 8, true);
}

static void large_untaken(struct game *game)
{
    game->untaken = true;
    fill(game, TABLE, 6, false);
    game->id = 0;
}

static void crowd_untaken(struct game *game)
{
    game->untaken = true;
    fill(game, EMPTY, 0, false);
    game->id = 0;
}

/* Sends ids beyond the window. */
static void far_ids(struct game *game)
{
    game->id = 5000;
    fill(game, TEXT, 8, false);
}

static void put_piece(struct bits *bits, uint32_t channel, uint16_t id, uint32_t count,
                      uint32_t fragment, uint32_t size)
{
    put(bits, channel, INDEX_BITS);
    put(bits, 1, 1);
    put(bits, id, 16);
    put(bits, count - 1, 8);
    put(bits, fragment, cw_bits_required(count - 1));
    put(bits, size - 1, 10);
    assert_true(cw_stream_align(&bits->stream));
    for (uint32_t i = 0; i < size; i++)
        put(bits, i & 255, 8);
    if (fragment == 0) {
        put(bits, MAP, TYPE_BITS);
        put(bits, 1, 10);
    }
}

/* Sends blocks of one byte on both reliable channels. */
static void tiny_blocks(struct game *game)
{
    static struct bits bits;
    start(&bits, 2);
    put_piece(&bits, 0, game->id, 1, 0, 1);
    put_piece(&bits, 3, game->id++, 1, 0, 1);
    send_bits(game, &bits);
}

/* Sends the last fragment of a block of 256 again and again, with one byte. */
static void last_pieces(struct game *game)
{
    static struct bits bits;
    start(&bits, 2);
    put_piece(&bits, 0, 0, 256, 255, 1);
    put_piece(&bits, 3, 0, 256, 255, 1);
    send_bits(game, &bits);
}

/* Sends as many blocks of an unreliable channel as there are messages in a packet. */
static void many_blocks(struct game *game)
{
    static struct bits bits;
    const uint32_t count = 180;
    start(&bits, 1);
    put_head(&bits, 1, count, 0);
    for (uint32_t i = 0; i < count; i++) {
        put(&bits, MAP, TYPE_BITS);
        put(&bits, 1, 10);
        put(&bits, 0, 18);
        assert_true(cw_stream_align(&bits.stream));
        put(&bits, 7, 8);
    }
    send_bits(game, &bits);
}

static void many_blocks_untaken(struct game *game)
{
    game->untaken = true;
    many_blocks(game);
}

/* Sends fragments, each the first of a packet that never gets a second. */
static void open_reassemblies(struct game *game)
{
    uint8_t out[CW_PAYLOAD_MAX] = {0};
    const uint16_t packet = game->player.packet++;
    cw_fragment_header_write(out,
                             &(struct cw_fragment_header){.sequence = packet, .id = 1, .count = 8});
    seal(game, out, CW_FRAGMENT_HEADER_SIZE + 1024);
}

/* Sends the last of the smallest fragments. */
static void last_fragments(struct game *game)
{
    uint8_t out[CW_PAYLOAD_MAX] = {0};
    const uint16_t packet = game->player.packet++;
    cw_fragment_header_write(out,
                             &(struct cw_fragment_header){.sequence = packet, .id = 7, .count = 8});
    seal(game, out, CW_FRAGMENT_HEADER_SIZE);
}

/* Makes a packet of 8 KB, in fragments, that is full of messages and malformed at its end. One call
   sends one of its 8 fragments. */
static void fragmented(struct game *game, uint32_t type, unsigned body_bits)
{
    static struct bits bits;
    static size_t size;
    uint8_t out[CW_PAYLOAD_MAX];
    const uint32_t id = game->i % 8;
    if (id == 0) {
        start(&bits, CHANNELS);
        for (uint32_t channel = 0; channel < CHANNELS; channel++) {
            put_head(&bits, channel, 256, 0);
            for (int i = 0; i < 256; i++) {
                put(&bits, type, TYPE_BITS);
                put(&bits, 0, body_bits);
            }
        }
        cw_stream_flush(&bits.stream);
        size = 8000;
        memset(bits.bytes + 7168, 255, 1024);
    }
    const struct cw_packet_header header = {
        .sequence = game->player.packet, .ack = game->player.packet, .ack_bits = 0};
    cw_fragment_header_write(
        out, &(struct cw_fragment_header){.sequence = game->player.packet, .id = id, .count = 8});
    size_t written = CW_FRAGMENT_HEADER_SIZE;
    if (id == 0)
        written += cw_packet_header_write(out + written, &header);
    const size_t length = id == 7 ? size - 7 * 1024 : 1024;
    memcpy(out + written, bits.bytes + id * 1024, length);
    seal(game, out, written + length);
    if (id == 7)
        game->player.packet++;
}

static void fragmented_notes(struct game *game)
{
    fragmented(game, NOTE, 27);
}

/* Sends a packet whose number is as far ahead as it may be. */
static void leaps(struct game *game)
{
    game->player.packet += 32000;
    one_note(game);
}

/* Acks packets that were never sent, and all that were. */
static void acks_anything(struct game *game)
{
    game->player.ack = (uint16_t)(game->i * 31);
    game->player.ack_bits = game->i % 2 ? 0xAAAAAAAA : 0xFFFFFFFF;
    no_entries(game);
}

/* Sends packets whose numbers are 31 apart, so that each wants its own ack. */
static void strides(struct game *game)
{
    game->player.packet += 31;
    no_entries(game);
}

static void duplicates(struct game *game)
{
    game->player.packet = 0;
    game->id = 0;
    one_note(game);
}

struct attack {
    const char *name;
    void (*send)(struct game *game);
};

static const struct attack attacks[] = {
    {"one_note", one_note},
    {"notes", notes},
    {"no_entries", no_entries},
    {"noise", noise},
    {"crowd", crowd},
    {"crowd_broken", crowd_broken},
    {"crowd_untaken", crowd_untaken},
    {"texts_broken", texts_broken},
    {"large_broken", large_broken},
    {"large_untaken", large_untaken},
    {"far_ids", far_ids},
    {"tiny_blocks", tiny_blocks},
    {"last_pieces", last_pieces},
    {"many_blocks", many_blocks},
    {"many_blocks_untaken", many_blocks_untaken},
    {"open_reassemblies", open_reassemblies},
    {"last_fragments", last_fragments},
    {"fragmented_notes", fragmented_notes},
    {"leaps", leaps},
    {"acks_anything", acks_anything},
    {"strides", strides},
    {"duplicates", duplicates},
};

/* Gives the server datagrams; the application takes what comes of them. */
static void receive(struct game *game, const struct datagram *datagrams, uint32_t count)
{
    struct cw_server *server = game->rig.server;
    struct cw_server_event event;
    for (uint32_t i = 0; i < count; i++) {
        (void)cw_server_receive(server, &game->player.at, datagrams[i].bytes, datagrams[i].size,
                                game->rig.now);
        while (!game->untaken && cw_server_next(server, &event))
            cw_message_release(event.message);
    }
}

static void tick(struct game *game)
{
    uint8_t out[CW_SECURE_MAX];
    struct cw_address to;
    game->rig.now += 1.0 / RATE;
    cw_server_update(game->rig.server, game->rig.now);
    while (cw_server_transmit(game->rig.server, out, sizeof out, game->rig.now, &to) > 0)
        continue;
}

/* Sends a packet of the other player, which must be read. */
static void play(struct game *game)
{
    const uint8_t nothing[] = {0};
    assert_ok(player_payload(&game->other, nothing, sizeof nothing));
}

/* Returns the instructions a second that the server spends on an attack. */
static double count(const struct attack *attack)
{
    static struct datagram datagrams[(WARM_UP + COUNTED) * PER_TICK];
    double work = 0;
    struct game game;
    game_open(&game);
    game.next = datagrams;
    for (game.i = 0; game.i < (WARM_UP + COUNTED) * PER_TICK; game.i++)
        attack->send(&game);
    for (uint32_t i = 0; i < WARM_UP + COUNTED; i++) {
        play(&game);
        if (i >= WARM_UP)
            instructions_start();
        receive(&game, &datagrams[i * PER_TICK], PER_TICK);
        tick(&game);
        if (i >= WARM_UP)
            work += instructions_stop();
    }
    fixture_release(NULL);
    return work * RATE / COUNTED;
}

int main(int argc, char **argv)
{
    bool right = true;
    (void)argc;
    instructions_begin(argv);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        const double work = count(&attacks[i]);
        printf("%s: %.0f million: %s\n", attacks[i].name, work / 1e6,
               work <= MOST_WORK ? "yes" : "NO");
        right = right && work <= MOST_WORK;
    }
    return right ? 0 : 1;
}
