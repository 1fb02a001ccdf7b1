/* Measures what a field costs: messages of 96 equal fields, started in the middle of a byte,
   against messages without any.
     message_fields hand|table none|bool|int|word write|read ROUNDS
     message_fields    says what tests/bench/run shall count */
#include "causeway/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 96
#define ROUNDS 500

#define TIMES_8(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define TIMES_96(X)                                                                                \
    TIMES_8(X, a)                                                                                  \
    TIMES_8(X, b)                                                                                  \
    TIMES_8(X, c)                                                                                  \
    TIMES_8(X, d)                                                                                  \
    TIMES_8(X, e)                                                                                  \
    TIMES_8(X, f)                                                                                  \
    TIMES_8(X, g)                                                                                  \
    TIMES_8(X, h)                                                                                  \
    TIMES_8(X, i)                                                                                  \
    TIMES_8(X, j)                                                                                  \
    TIMES_8(X, k)                                                                                  \
    TIMES_8(X, l)

#define BOOL(name) FIELD(name, CW_BOOL)
#define INT(name)  FIELD(name, CW_INT(-100, 900))
#define WORD(name) FIELD(name, CW_BITS(32))

#define FIELD CW_FIELD_MEMBER
struct bools {
    TIMES_96(BOOL)
};
struct ints {
    TIMES_96(INT)
};
struct words {
    TIMES_96(WORD)
};
#undef FIELD
#define FIELD CW_FIELD_ENTRY
static const struct cw_field bool_fields[] = {TIMES_96(BOOL)};
static const struct cw_field int_fields[] = {TIMES_96(INT)};
static const struct cw_field word_fields[] = {TIMES_96(WORD)};

#define SERIALIZE_BOOL(name) &&cw_stream_bool(stream, &message->name)
#define SERIALIZE_INT(name)  &&cw_stream_int(stream, &message->name, -100, 900)
#define SERIALIZE_WORD(name) &&cw_stream_bits(stream, &message->name, 32)

CW_SERIALIZE(serialize_none, void, stream, message)
{
    (void)message;
    return !cw_stream_failed(stream);
}
CW_SERIALIZE(serialize_bools, struct bools, stream, message)
{
    return true TIMES_96(SERIALIZE_BOOL);
}
CW_SERIALIZE(serialize_ints, struct ints, stream, message)
{
    return true TIMES_96(SERIALIZE_INT);
}
CW_SERIALIZE(serialize_words, struct words, stream, message)
{
    return true TIMES_96(SERIALIZE_WORD);
}

static const struct cw_message_type types[2][4] = {
    {{.name = "none", .serialize = serialize_none},
     {.name = "bool", .serialize = serialize_bools, .size = sizeof(struct bools)},
     {.name = "int", .serialize = serialize_ints, .size = sizeof(struct ints)},
     {.name = "word", .serialize = serialize_words, .size = sizeof(struct words)}},
    {{.name = "none"},
     {.name = "bool", .fields = bool_fields, .field_count = FIELDS},
     {.name = "int", .fields = int_fields, .field_count = FIELDS},
     {.name = "word", .fields = word_fields, .field_count = FIELDS}},
};

static void print_figures(void)
{
    static const char *const ways[] = {"hand", "table"}, *const names[] = {"bits", "table"};
    static const char *const kinds[] = {"bool", "int", "word"}, *const keys[] = {"bool", "int",
                                                                                 "32"};
    static const char *const modes[] = {"write", "read"};
    for (int way = 0; way < 2; way++)
        for (int kind = 0; kind < 3; kind++)
            for (int mode = 0; mode < 2; mode++)
                printf("count %s_%s_%s_instructions %d: %s %s %s %d - %s none %s %d\n", names[way],
                       keys[kind], modes[mode], FIELDS * ROUNDS, ways[way], kinds[kind],
                       modes[mode], ROUNDS, ways[way], modes[mode], ROUNDS);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        print_figures();
        return 0;
    }
    const struct cw_schema_config config = {.types = types[strcmp(argv[1], "table") == 0],
                                            .count = 4};
    struct cw_schema *schema;
    if (cw_schema_create(&config, &schema) != CW_OK)
        abort();
    uint32_t type = 0, three_bits = 5;
    while (strcmp(argv[2], cw_schema_type(schema, type)->name) != 0)
        if (++type == 4)
            abort();
    const bool write = strcmp(argv[3], "write") == 0;

    /* All zeros are valid values, and reading them takes the same code as reading others. */
    uint8_t buffer[4 * FIELDS + 8] = {5};
    uint32_t message[FIELDS] = {0};
    for (long rounds = atol(argv[4]); rounds > 0; rounds--) {
        struct cw_stream stream = write ? cw_stream_writer(buffer, sizeof buffer)
                                        : cw_stream_reader(buffer, sizeof buffer);
        if (!cw_stream_bits(&stream, &three_bits, 3) ||
            !cw_schema_serialize(schema, type, &stream, message))
            abort();
    }
    cw_schema_destroy(schema);
    return 0;
}
