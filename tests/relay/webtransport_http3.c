/* The stream of a WebTransport session is read, in parts of any size. */
#include "unit.h"
#include "webtransport/http3.h"

#include <string.h>

/* The head of a request of Firefox, shortened: literal fields, with names of the static table and
   without. */
static const uint8_t request[] = "\x01\x40\x4b\x00\x00"
                                 "\xcf" /* :method CONNECT */
                                 "\x50\x09"
                                 "127.0.0.1" /* :authority */
                                 "\x51\x0d"
                                 "/webtransport" /* :path */
                                 "\x27\x02"
                                 ":protocol"
                                 "\x0c"
                                 "webtransport"
                                 "\x26"
                                 "origin"
                                 "\x0e"
                                 "https://a.test";

/* An unknown frame and an unknown capsule, as browsers send them, and the close. */
static const uint8_t rest[] = "\x21\x02zz"
                              "\x00\x05\x17\x03"
                              "abc"
                              "\x00\x0b\x68\x43\x08\x00\x00\x03\xe8"
                              "left";

static enum http3_event feed(struct http3_reader *reader, const uint8_t *data, size_t size,
                             size_t step, struct http3_request *out, uint32_t *code)
{
    enum http3_event event = HTTP3_NOTHING;
    for (size_t at = 0; at < size && event == HTTP3_NOTHING;) {
        const uint8_t *part = data + at;
        size_t left = size - at < step ? size - at : step;
        const size_t taken = left;
        event = http3_read(reader, &part, &left, out, code);
        at += taken - left;
    }
    return event;
}

static void test_parts(void **state)
{
    (void)state;
    for (size_t step = 1; step <= sizeof request; step++) {
        struct http3_reader reader = {0};
        struct http3_request out;
        uint32_t code = 0;
        assert_int_equal(feed(&reader, request, sizeof request - 1, step, &out, &code),
                         HTTP3_REQUEST);
        assert_true(http3_is_webtransport(&out));
        assert_string_equal(out.path, "/webtransport");
        assert_string_equal(out.authority, "127.0.0.1");
        assert_string_equal(out.origin, "https://a.test");
        assert_int_equal(feed(&reader, rest, sizeof rest - 1, step, &out, &code), HTTP3_CLOSE);
        assert_int_equal(code, 1000);
        http3_reader_free(&reader);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"\x00\x01x", 3},            /* contents before a request */
        {"\x01\x02\xff\xff", 4},     /* a head that needs a dynamic table */
        {"\x01\x03\x00\x00\x80", 5}, /* an entry of that table */
        {"\x01\x03\x00\x00\x2f", 5}, /* a head that breaks off */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct http3_reader reader = {0};
        struct http3_request out;
        uint32_t code;
        assert_int_equal(feed(&reader, (const uint8_t *)bad[i].bytes, bad[i].size, 99, &out, &code),
                         HTTP3_ERROR);
        http3_reader_free(&reader);
    }
}

/* A head is refused as soon as it is longer than any browser's, whatever length it announces. */
static void test_long_head(void **state)
{
    (void)state;
    struct http3_reader reader = {0};
    struct http3_request out;
    uint32_t code;
    static uint8_t bytes[HTTP3_HEAD_MAX + 10] = {0x01, 0xff, 0xff, 0xff, 0xff,
                                                 0xff, 0xff, 0xff, 0xff};
    assert_int_equal(feed(&reader, bytes, 9 + HTTP3_HEAD_MAX, 99, &out, &code), HTTP3_NOTHING);
    assert_int_equal(feed(&reader, bytes + 9, 1, 99, &out, &code), HTTP3_ERROR);
    http3_reader_free(&reader);
}

/* The relay reads the close that it writes. */
static void test_close(void **state)
{
    (void)state;
    static const char reason[] =
        "nobody is at the address of the game server, so try another later";
    uint8_t out[HTTP3_CLOSE_MAX];
    const size_t size = http3_write_close(out, 4005, reason);
    struct http3_reader reader = {.requested = true};
    struct http3_request request_out;
    uint32_t code = 0;
    assert_int_equal(feed(&reader, out, size, 3, &request_out, &code), HTTP3_CLOSE);
    assert_int_equal(code, 4005);
    assert_memory_equal(out + size - strlen(reason), reason, strlen(reason));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_head),
        cmocka_unit_test(test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
