#include "fixture.h"

#include "base/hash_index.h"
#include "causeway/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parses a copy that is exactly as long as the text, so that sanitizers see a read beyond it. */
static enum cw_error parse(struct cw_address *address, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, text, size);
    const enum cw_error error = cw_address_parse(copy, address);
    free(copy);
    return error;
}

static struct cw_address parsed(const char *text)
{
    struct cw_address address;
    const enum cw_error error = parse(&address, text);
    if (error)
        print_error("refused: %s\n", text);
    assert_int_equal(error, CW_OK);
    return address;
}

static void check_bytes(const char *text, enum cw_address_type type, const uint8_t *bytes,
                        uint16_t port)
{
    const struct cw_address address = parsed(text);
    assert_int_equal(address.type, type);
    assert_memory_equal(address.bytes, bytes, type == CW_ADDRESS_IPV4 ? 4 : 16);
    assert_int_equal(address.port, port);
}

TEST(parses_ipv4)
{
    check_bytes("1.2.3.4", CW_ADDRESS_IPV4, (const uint8_t[]){1, 2, 3, 4}, 0);
    check_bytes("1.2.3.4:5", CW_ADDRESS_IPV4, (const uint8_t[]){1, 2, 3, 4}, 5);
    check_bytes("0.0.0.0:0", CW_ADDRESS_IPV4, (const uint8_t[]){0, 0, 0, 0}, 0);
    check_bytes("255.255.255.255:65535", CW_ADDRESS_IPV4, (const uint8_t[]){255, 255, 255, 255},
                65535);
}

TEST(parses_ipv6)
{
    static const uint8_t zero[16] = {0};
    static const uint8_t loopback[16] = {[15] = 1};
    static const uint8_t full[16] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8};
    static const uint8_t trailing[16] = {0x20, 0x01, 0x0d, 0xb8, [13] = 0x2e, 0x03, 0x70};
    static const uint8_t ends_in_gap[16] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0};
    static const uint8_t mapped[16] = {[10] = 255, 255, 1, 2, 3, 4};
    static const uint8_t embedded[16] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 7, 8, 9, 10};

    check_bytes("::", CW_ADDRESS_IPV6, zero, 0);
    check_bytes("::1", CW_ADDRESS_IPV6, loopback, 0);
    check_bytes("[::1]", CW_ADDRESS_IPV6, loopback, 0);
    check_bytes("[::1]:5", CW_ADDRESS_IPV6, loopback, 5);
    check_bytes("[::]:65535", CW_ADDRESS_IPV6, zero, 65535);
    check_bytes("1:2:3:4:5:6:7:8", CW_ADDRESS_IPV6, full, 0);
    check_bytes("0001:0002:0003:0004:0005:0006:0007:0008", CW_ADDRESS_IPV6, full, 0);
    check_bytes("1::3:4:5:6:7:8", CW_ADDRESS_IPV6,
                (const uint8_t[]){0, 1, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}, 0);
    check_bytes("2001:DB8::2e03:7000", CW_ADDRESS_IPV6,
                (const uint8_t[]){0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x2e, 3, 0x70, 0},
                0);
    check_bytes("2001:db8::2e:0370", CW_ADDRESS_IPV6, trailing, 0);
    check_bytes("1:2:3:4:5:6:7::", CW_ADDRESS_IPV6, ends_in_gap, 0);
    check_bytes("[::ffff:1.2.3.4]:9", CW_ADDRESS_IPV6, mapped, 9);
    check_bytes("1:2:3:4:5:6:7.8.9.10", CW_ADDRESS_IPV6, embedded, 0);
}

TEST(refuses_everything_else)
{
    static const char *const texts[] = {
        "",
        " ",
        "none",
        "localhost",
        "1",
        "1.2.3",
        "1.2.3.",
        "1.2.3.4.",
        "1.2.3.4.5",
        "1.2.3.256",
        "1.2.3.04",
        "1.2.3.4 ",
        " 1.2.3.4",
        "1.2.3.-4",
        "1.2.3.4:",
        "1.2.3.4:65536",
        "1.2.3.4:99999999999999999999",
        "1.2.3.4:05",
        "1.2.3.4:-1",
        "1.2.3.4:5x",
        "1.2.3.0x4",
        "[1.2.3.4]:5",
        ":",
        ":::",
        ":1",
        "1:",
        "::1:",
        "1::2::3",
        "1:::2",
        "12345::",
        "::g",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "::1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:8::",
        "1:2:3:4:5:6:7:1.2.3.4",
        "1:2:3:4:5:1.2.3.4",
        "1.2.3.4::",
        "::1.2.3.4:5",
        "::1.2.3",
        "::1.2.3.4.5",
        "::1.2.3.256",
        "[::1",
        "::1]",
        "[::1]5",
        "[::1]:",
        "[::1]:65536",
        "[::1]:5 ",
        "[]",
        "[",
        "[::1%lo]:5",
        "fe80::1%eth0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cw_address address = {.type = CW_ADDRESS_IPV4, .port = 7};
        if (parse(&address, texts[i]) != CW_ERROR_ADDRESS) {
            print_error("accepted: %s\n", texts[i]);
            fail();
        }
        assert_int_equal(address.type, CW_ADDRESS_IPV4);
        assert_int_equal(address.port, 7);
    }
}

TEST(formats_the_preferred_text)
{
    static const struct {
        const char *text;
        const char *preferred;
    } cases[] = {
        {"1.2.3.4:5", "1.2.3.4:5"},
        {"255.255.255.255:65535", "255.255.255.255:65535"},
        {"10.0.0.1:0", "10.0.0.1"},
        {"0:0:0:0:0:0:0:0", "::"},
        {"[0::1]:5", "[::1]:5"},
        {"2001:0DB8:0:0:0:0:2:1", "2001:db8::2:1"},
        {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
        {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
        {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
        {"1:0:0:0:0:0:0:0", "1::"},
        {"1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"},
        {"0:2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
        {"::ffff:c000:0201", "::ffff:192.0.2.1"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255",
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
        {"[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535",
         "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cw_address address = parsed(cases[i].text);
        char *text = malloc(CW_ADDRESS_TEXT_SIZE);
        assert_non_null(text);
        assert_string_equal(cw_address_format(&address, text), cases[i].preferred);
        const struct cw_address again = parsed(text);
        assert_true(cw_address_equal(&address, &again));
        free(text);
    }
    char text[CW_ADDRESS_TEXT_SIZE];
    assert_string_equal(cw_address_format(&(struct cw_address){0}, text), "none");
}

/* Every pattern of zero and non-zero words survives format and parse. */
TEST(every_gap_survives_a_round_trip)
{
    for (unsigned pattern = 0; pattern < 256; pattern++) {
        struct cw_address address = {.type = CW_ADDRESS_IPV6, .port = (uint16_t)pattern};
        char text[CW_ADDRESS_TEXT_SIZE];
        for (unsigned i = 0; i < 8; i++)
            address.bytes[2 * i + (pattern + i) % 2] =
                (uint8_t)((pattern >> i & 1) * (pattern + i));
        const struct cw_address again = parsed(cw_address_format(&address, text));
        assert_true(cw_address_equal(&address, &again));
    }
}

TEST(compares_with_the_port)
{
    static const char *const ascending[] = {"1.2.3.4",   "1.2.3.4:5", "1.2.3.4:6", "1.2.3.5",
                                            "200.0.0.1", "::1",       "[::1]:5",   "::2"};
    const size_t count = sizeof ascending / sizeof *ascending;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            const struct cw_address a = parsed(ascending[i]);
            const struct cw_address b = parsed(ascending[j]);
            const int order = cw_address_compare(&a, &b);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            assert_int_equal(cw_address_equal(&a, &b), i == j);
        }
    }
    struct cw_address a = parsed("1.2.3.4:5");
    const struct cw_address b = a;
    a.bytes[4] = 9;
    assert_true(cw_address_equal(&a, &b));
    assert_true(cw_address_equal(&(struct cw_address){0}, &(struct cw_address){0}));
}

/* A mapped address is the same for everyone who compares addresses, as it is for every socket. */
TEST(a_mapped_address_is_its_ipv4_address)
{
    const struct cw_address ipv4 = parsed("1.2.3.4:5");
    const struct cw_address mapped = parsed("[::ffff:1.2.3.4]:5");
    const struct cw_address others[] = {parsed("[::ffff:1.2.3.5]:5"), parsed("[::ffff:1.2.3.4]:6"),
                                        parsed("[::1.2.3.4]:5"), parsed("[::fffe:1.2.3.4]:5")};
    assert_true(cw_address_equal(&ipv4, &mapped));
    assert_true(cw_address_equal(&mapped, &ipv4));
    assert_int_equal(cw_hash_index_hash_address(7, &ipv4), cw_hash_index_hash_address(7, &mapped));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(cw_address_equal(&ipv4, &others[i]));
        assert_false(cw_address_equal(&mapped, &others[i]));
    }
}
