/* Tests of fields that depend on earlier ones: conditions, counts and previous numbers, against a
   function written by hand; random values, random bytes, and expressions that are none. */
#include "causeway/schema.h"

#include "fixture.h"
#include "fuzz_times.h"
#include "random_schema.h"

BEFORE_EACH_TEST
{
    printf("seed %llu\n", (unsigned long long)random_state);
}

#define PART_FIELDS(FIELD)                                                                         \
    FIELD(kind, CW_INT(-2, 5))                                                                     \
    FIELD(charge, CW_WHEN(kind < 0 || kind % 3 == 1 && !(kind == 4), CW_BITS(7)))
CW_MESSAGE(part, PART_FIELDS)

#define RULES_FIELDS(FIELD)                                                                        \
    FIELD(sequence, CW_BITS(16))                                                                   \
    FIELD(flag, CW_BOOL)                                                                           \
    FIELD(first, CW_WHEN(sequence % 3 == 0 && flag, CW_INT(-5, 5)))                                \
    FIELD(count, CW_UINT(1, 4))                                                                    \
    FIELD(gap, CW_ALIGN)                                                                           \
    FIELD(numbers, CW_REPEAT(count * 2 - 1, CW_BITS(5), 7))                                        \
    FIELD(key, CW_FIXED_BYTES(6))                                                                  \
    FIELD(next, CW_RELATIVE(sequence))                                                             \
    FIELD(later, CW_SEQUENCE_RELATIVE(sequence))                                                   \
    FIELD(ids, CW_ARRAY_FROM(CW_RELATIVE(next), 2, 5))                                             \
    FIELD(data, CW_BYTES_FROM(1, 8))                                                               \
    FIELD(tail, CW_BYTES_OF(count + flag, 5))                                                      \
    FIELD(part, CW_STRUCT(part))                                                                   \
    FIELD(parts, CW_REPEAT((sequence & 6) >> 1, CW_STRUCT(part), 3))                               \
    FIELD(three, CW_FIXED_ARRAY(CW_BOOL, 3))
CW_MESSAGE(rules, RULES_FIELDS)

CW_INLINE bool part_by_hand(struct cw_stream *stream, struct part *part)
{
    if (!cw_stream_int(stream, &part->kind, -2, 5))
        return false;
    part->charge.present = part->kind < 0 || (part->kind % 3 == 1 && part->kind != 4);
    return !part->charge.present || cw_stream_bits(stream, &part->charge.value, 7);
}

static bool by_hand(struct cw_stream *stream, struct rules *m)
{
    if (!cw_stream_bits(stream, &m->sequence, 16) || !cw_stream_bool(stream, &m->flag))
        return false;
    m->first.present = m->sequence % 3 == 0 && m->flag;
    if ((m->first.present && !cw_stream_int(stream, &m->first.value, -5, 5)) ||
        !cw_stream_uint(stream, &m->count, 1, 4) || !cw_stream_align(stream))
        return false;
    m->numbers.count = m->count * 2 - 1;
    for (uint32_t i = 0; i < m->numbers.count; i++)
        if (!cw_stream_bits(stream, &m->numbers.items[i], 5))
            return false;
    m->key.size = 6;
    uint16_t later = (uint16_t)m->later;
    if (!cw_stream_bytes(stream, m->key.data, 6) ||
        !cw_stream_relative(stream, m->sequence, &m->next) ||
        !cw_stream_relative_sequence(stream, (uint16_t)m->sequence, &later) ||
        !cw_stream_uint(stream, &m->ids.count, 2, 5))
        return false;
    m->later = later;
    for (uint32_t i = 0; i < m->ids.count; i++)
        if (!cw_stream_relative(stream, i > 0 ? m->ids.items[i - 1] : m->next, &m->ids.items[i]))
            return false;
    m->tail.size = m->count + m->flag;
    if (!cw_stream_uint(stream, &m->data.size, 1, 8) ||
        !cw_stream_bytes(stream, m->data.data, m->data.size) ||
        !cw_stream_bytes(stream, m->tail.data, m->tail.size) || !part_by_hand(stream, &m->part))
        return false;
    m->parts.count = (m->sequence & 6) >> 1;
    for (uint32_t i = 0; i < m->parts.count; i++)
        if (!part_by_hand(stream, &m->parts.items[i]))
            return false;
    m->three.count = 3;
    for (uint32_t i = 0; i < 3; i++)
        if (!cw_stream_bool(stream, &m->three.items[i]))
            return false;
    return true;
}

static struct cw_schema *create(void)
{
    const struct cw_schema_config config = {.types = &rules_type, .count = 1};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_OK);
    assert_int_equal(cw_schema_type(schema, 0)->size, sizeof(struct rules));
    return schema;
}

/* Returns a byte of which few bits are set. */
static uint8_t sparse_byte(void)
{
    const uint32_t bits = random_32();
    return (uint8_t)(bits & random_32());
}

/* Reads the bytes in both ways, and checks that they do the same. */
static bool read_both(const struct cw_schema *schema, const uint8_t *bytes, size_t size,
                      struct rules *declared)
{
    struct rules own;
    memset(&own, 0, sizeof own);
    memset(declared, 0, sizeof *declared);
    struct cw_stream first = cw_stream_reader(bytes, size), second = first;
    const bool done = by_hand(&first, &own);
    assert_int_equal(cw_schema_serialize(schema, 0, &second, declared), done);
    if (done) {
        assert_memory_equal(&own, declared, sizeof own);
        assert_int_equal(cw_stream_position(&first), cw_stream_position(&second));
    }
    return done;
}

/* Writes the message in both ways, which must give the same bytes, and reads them. */
static void write_both(const struct cw_schema *schema, const struct rules *message)
{
    uint8_t out[160], own[160];
    struct cw_stream stream = cw_stream_writer(out, sizeof out);
    struct cw_stream hand = cw_stream_writer(own, sizeof own);
    struct rules again = *message, declared = *message;
    assert_int_equal(cw_schema_check(schema, 0, message), CW_FIELD_NONE);
    assert_true(cw_schema_serialize(schema, 0, &stream, &declared) && by_hand(&hand, &again));
    const size_t written = cw_stream_flush(&stream);
    assert_int_equal(written, cw_stream_flush(&hand));
    assert_memory_equal(out, own, written);
    assert_true(read_both(schema, out, written, &again));
    assert_memory_equal(message, &again, sizeof again);
}

static void fill_part(struct part *part)
{
    part->kind = (int32_t)random_below(8) - 2;
    part->charge.present = part->kind < 0 || part->kind == 1;
    part->charge.value = part->charge.present ? random_below(128) : 0;
}

static void fill_bytes(uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_32();
}

/* Returns a number above the one before, at any distance that leaves room for five more. */
static uint32_t above(uint32_t before)
{
    return before + 1 + (random_32() >> (4 + random_below(28)));
}

static void fill(struct rules *m)
{
    memset(m, 0, sizeof *m);
    m->sequence = random_32() & UINT16_MAX;
    m->flag = random_below(2);
    m->first.present = m->sequence % 3 == 0 && m->flag;
    m->first.value = m->first.present ? (int32_t)random_below(11) - 5 : 0;
    m->count = 1 + random_below(4);
    m->numbers.count = m->count * 2 - 1;
    for (uint32_t i = 0; i < m->numbers.count; i++)
        m->numbers.items[i] = random_below(32);
    m->key.size = sizeof m->key.data;
    fill_bytes(m->key.data, m->key.size);
    m->next = above(m->sequence);
    m->later = (m->sequence + above(0) % UINT16_MAX + 1) & UINT16_MAX;
    m->ids.count = 2 + random_below(4);
    for (uint32_t i = 0; i < m->ids.count; i++)
        m->ids.items[i] = above(i > 0 ? m->ids.items[i - 1] : m->next);
    m->data.size = 1 + random_below(8);
    fill_bytes(m->data.data, m->data.size);
    m->tail.size = m->count + m->flag;
    fill_bytes(m->tail.data, m->tail.size);
    fill_part(&m->part);
    m->parts.count = (m->sequence & 6) >> 1;
    for (uint32_t i = 0; i < m->parts.count; i++)
        fill_part(&m->parts.items[i]);
    m->three.count = 3;
    for (uint32_t i = 0; i < 3; i++)
        m->three.items[i] = random_below(2);
}

TEST(test_random_values_are_written_as_by_hand)
{
    struct cw_schema *schema = create();
    const uint32_t rounds = fuzz_times(20000);
    for (uint32_t round = 0; round < rounds; round++) {
        struct rules message;
        fill(&message);
        write_both(schema, &message);
    }
    cw_schema_destroy(schema);
}

/* Random bytes are mostly refused at a padding or a small number, so the first ones are made to
   pass more often. */
TEST(test_random_bytes_are_read_as_by_hand)
{
    struct cw_schema *schema = create();
    struct rules message;
    const uint32_t rounds = fuzz_times(20000);
    uint32_t read = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint8_t bytes[96];
        const size_t size = random_below(8) ? sizeof bytes : random_below(sizeof bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = random_below(3) ? sparse_byte() : 0;
        uint8_t *const exact = malloc(size + 1u);
        memcpy(exact, bytes, size);
        const bool done = read_both(schema, exact, size, &message);
        free(exact);
        if (!done)
            continue;
        read++;
        write_both(schema, &message);
    }
    print_message("%u of %u were messages\n", read, rounds);
    assert_true(read > rounds / 40);
    cw_schema_destroy(schema);
}

TEST(test_flags_and_counts_must_be_as_the_expressions_say)
{
    struct cw_schema *schema = create();
    static const uint8_t zeros[96];
    struct rules good, bad;
    uint8_t bytes[96] = {0};
    bytes[5] = 0;
    assert_false(read_both(schema, zeros, 0, &good));
    uint32_t tries = 0;
    do {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = sparse_byte();
    } while (!read_both(schema, bytes, sizeof bytes, &good) && ++tries < 100000);
    assert_true(tries < 100000);
    bad = good;
    bad.first.present = !bad.first.present;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 2);
    bad = good;
    bad.numbers.count ^= 1;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 5);
    bad = good;
    bad.key.size = 5;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 6);
    bad = good;
    bad.next = bad.sequence;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 7);
    bad = good;
    bad.later = 65536;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 8);
    bad = good;
    bad.ids.count = 1;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 9);
    bad = good;
    bad.data.size = 0;
    assert_int_equal(cw_schema_check(schema, 0, &bad), 10);
    cw_schema_destroy(schema);
}

/* Returns whether a field may have this count, behind a bool `a`, a number `b` and an option `c`.
 */
static bool taken(const char *count)
{
    const struct cw_field fields[] = {
        {.name = "a", .kind = CW_KIND_BOOL},
        {.name = "b", .kind = CW_KIND_UINT, .max = 7},
        {.name = "c", .kind = CW_KIND_UINT, .max = 7, .optional = true},
        {.name = "d", .kind = CW_KIND_UINT, .max = 7, .array = 9, .count = count},
        {.name = "e", .kind = CW_KIND_BOOL}};
    const struct cw_message_type type = {.name = "t", .fields = fields, .field_count = 5};
    const struct cw_schema_config config = {.types = &type, .count = 1};
    struct cw_schema *schema;
    if (cw_schema_create(&config, &schema) != CW_OK)
        return false;
    cw_schema_destroy(schema);
    return true;
}

TEST(test_what_is_no_expression_of_earlier_fields_is_refused)
{
    static const char *const good[] = {"1", "a", " b + a*2 ", "((b))", "!a&&-b<3", "b<<2>>1&3"};
    static const char *const bad[] = {
        "",    " ",  "a b", "c",  "d",   "e",   "f",   "1a",
        "(b",  "b)", "+",   "b+", "&&b", "b==", "b=1", "99999999999999999999",
        "1(2)"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(taken(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(taken(bad[i]));
    char text[4096];
    memset(text, '(', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_false(taken(text));
    memset(text, '!', sizeof text - 1);
    assert_false(taken(text));
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = i % 2 ? '+' : 'b';
    assert_false(taken(text));
    /* a name takes two bytes, an operator one: 128 bytes have room for 43 names */
    text[87] = '\0';
    assert_false(taken(text));
    text[85] = '\0';
    assert_true(taken(text));
}

TEST(test_bytes_that_are_no_expression_are_refused)
{
    static const char *const good[] = {"\1\2",     "\1\3\2",       "\x82",
                                       "\xc0\x82", "\x81\xff\xff", "\1\2\1\3\x0b"};
    static const char *const bad[] = {
        "\1",       /* no byte behind */
        "\1\1",     /* an option is before the field */
        "\1\4",     /* there are only three fields */
        "\1\xff",   /* far before the first */
        "\x81\x0e", /* no such operation */
        "\x81\x09", /* one number to add */
        "\x81\x81", /* two numbers are left */
        "\x81\x81\x81\x81\x81\x81\x81\x81\x81\x09\x09\x09\x09\x09\x09\x09\x09", /* nine at once */
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(taken(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(taken(bad[i]));
}

/* Many structs that have no bytes would cost time and no memory. */
TEST(test_a_struct_of_alignment_only_is_refused)
{
    const struct cw_field align = {.name = "a", .kind = CW_KIND_ALIGN};
    const struct cw_message_type part = {.name = "p", .fields = &align, .field_count = 1};
    const struct cw_field many = {
        .name = "m", .kind = CW_KIND_STRUCT, .type = &part, .array = UINT32_MAX};
    const struct cw_message_type types[] = {{.name = "t", .fields = &many, .field_count = 1}};
    const struct cw_schema_config config = {.types = types, .count = 1};
    struct cw_schema *schema;
    assert_int_equal(cw_schema_create(&config, &schema), CW_ERROR_SCHEMA_FIELD);
}

TEST(test_expressions_come_back_and_are_in_the_fingerprint)
{
    struct cw_schema *schema = create(), *decoded;
    uint8_t bytes[2048], again[2048];
    const size_t size = cw_schema_encode(schema, bytes, sizeof bytes);
    assert_true(size <= sizeof bytes);
    const uint64_t fingerprint = cw_schema_fingerprint(schema, NULL, 0);
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
    assert_int_equal(cw_schema_encode(decoded, again, sizeof again), size);
    assert_memory_equal(bytes, again, size);
    cw_schema_destroy(decoded);
    /* sequence % 3 == 0 */
    size_t at = 0;
    while (at + 4 < size && memcmp(bytes + at, "\1\2\x83\x0d", 4) != 0)
        at++;
    assert_true(at + 4 < size);
    bytes[at + 2] = 0x85;
    assert_int_equal(cw_schema_decode(bytes, size, NULL, &decoded), CW_OK);
    assert_true(cw_schema_fingerprint(decoded, NULL, 0) != fingerprint);
    cw_schema_destroy(decoded);
    cw_schema_destroy(schema);
}

TEST(test_the_types_of_a_schema_make_another)
{
    struct cw_schema *schema = create(), *again;
    const struct cw_schema_config config = {.types = cw_schema_type(schema, 0), .count = 1};
    assert_int_equal(cw_schema_create(&config, &again), CW_OK);
    assert_true(cw_schema_fingerprint(schema, NULL, 0) == cw_schema_fingerprint(again, NULL, 0));
    cw_schema_destroy(again);
    cw_schema_destroy(schema);
}

/* Reads, checks and writes what random bytes are under a schema that somebody else made up. */
static void use(const struct cw_schema *schema)
{
    uint8_t bytes[64], out[128];
    uint8_t *const message = calloc(1, cw_schema_message_size(schema) + 1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = sparse_byte();
    for (uint32_t type = 0; type < cw_schema_count(schema); type++) {
        struct cw_stream stream = cw_stream_reader(bytes, sizeof bytes);
        memset(message, 0, cw_schema_message_size(schema));
        if (!cw_schema_serialize(schema, type, &stream, message))
            continue;
        stream = cw_stream_writer(out, sizeof out);
        if (cw_schema_check(schema, type, message) == CW_FIELD_NONE)
            assert_true(cw_schema_serialize(schema, type, &stream, message));
    }
    free(message);
}

/* Fields that another field's bytes have become, expressions of random bytes and anything else. */
TEST(test_altered_schemas_are_refused_or_of_use)
{
    struct cw_schema *schema = create(), *altered;
    uint8_t bytes[2048], with[2048];
    const size_t size = cw_schema_encode(schema, bytes, sizeof bytes);
    int made = 0;
    for (int round = 0; round < 100000; round++) {
        memcpy(with, bytes, size);
        for (uint32_t i = 0; i <= random_below(3); i++) {
            const uint32_t code = random_below(2) ? random_below(16) : 128 + random_below(128);
            with[random_below((uint32_t)size)] = (uint8_t)code;
        }
        if (cw_schema_decode(with, size, NULL, &altered) != CW_OK)
            continue;
        made++;
        use(altered);
        cw_schema_destroy(altered);
    }
    print_message("%d of 100000 were schemas\n", made);
    assert_true(made > 1000);
    cw_schema_destroy(schema);
}
