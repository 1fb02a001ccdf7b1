/* The ways in which a proxy names its clients: prefixes, PROXY headers, and the headers of
   requests. */
#include "fixture.h"
#include "http/forwarded.h"
#include "http/proxy_protocol.h"
#include "http/request_head.h"
#include "os/prefix.h"

#include <stdlib.h>
#include <string.h>

static struct socket_address address(const char *text)
{
    struct socket_address out;
    bool has_port;
    assert_true(socket_address_parse(text, &out, &has_port));
    return out;
}

static bool holds(const char *prefix_text, const char *address_text)
{
    struct prefix prefix;
    const struct socket_address one = address(address_text);
    assert_true(prefix_parse(prefix_text, &prefix));
    return prefix_holds(&prefix, &one);
}

TEST(prefixes)
{
    assert_true(holds("10.0.0.0/8", "10.255.0.1:7"));
    assert_false(holds("10.0.0.0/8", "11.0.0.1"));
    assert_true(holds("10.1.2.4/30", "10.1.2.7"));
    assert_false(holds("10.1.2.4/30", "10.1.2.8"));
    assert_true(holds("10.1.2.3", "10.1.2.3:80"));
    assert_false(holds("10.1.2.3", "10.1.2.2"));
    assert_true(holds("0.0.0.0/0", "255.255.255.255"));
    assert_false(holds("0.0.0.0/0", "2001:db8::1"));
    assert_true(holds("10.0.0.0/8", "::ffff:10.2.3.4"));
    assert_true(holds("::ffff:10.0.0.0/104", "10.2.3.4"));
    assert_true(holds("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(holds("2001:db8::/33", "2001:db8:8000::1"));
    assert_true(holds("::/0", "2001:db8::1"));
    assert_true(holds("::/0", "10.1.2.3"));
}

TEST(bad_prefixes)
{
    static const char *const bad[] = {
        "",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/8x",
        "10.0.0.1/8",
        "10.0.0/8",
        "2001:db8::/129",
        "2001:db8::1/32",
        "game.example",
        "10.0.0.1:80",
        "/8",
        "10.0.0.0/ 8",
    };
    struct prefix_list list = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(prefix_list_add(&list, bad[i]));
    assert_int_equal(list.count, 0);
    for (unsigned i = 0; i < PREFIX_LIST_MAX; i++)
        assert_true(prefix_list_add(&list, "10.0.0.0/8"));
    assert_false(prefix_list_add(&list, "10.0.0.0/8"));
}

/* Reads a header followed by a request; every shorter beginning of it asks for more. */
static enum proxy_protocol read_header(const void *header, size_t size, char *client_text)
{
    uint8_t data[2048];
    const struct socket_address proxy = address("10.0.0.1:5000");
    struct socket_address client = proxy;
    size_t header_size = 0;
    memcpy(data, header, size);
    memcpy(data + size, "GET / HTTP/1.1\r\n", 16);
    const enum proxy_protocol found = proxy_protocol_read(data, size + 16, &client, &header_size);
    if (found == PROXY_PROTOCOL_CLIENT)
        socket_address_format(&client, client_text);
    else
        assert_memory_equal(&client, &proxy, sizeof proxy);
    if (found != PROXY_PROTOCOL_CLIENT && found != PROXY_PROTOCOL_LOCAL)
        return found;
    assert_int_equal(header_size, size);
    for (size_t i = 1; i < size; i++)
        assert_int_equal(proxy_protocol_read(data, i, &client, &header_size), PROXY_PROTOCOL_MORE);
    return found;
}

static enum proxy_protocol read_text(const char *header, char *client_text)
{
    return read_header(header, strlen(header), client_text);
}

TEST(version_1)
{
    char text[SOCKET_ADDRESS_TEXT];
    assert_int_equal(read_text("PROXY TCP4 203.0.113.7 198.51.100.1 56324 443\r\n", text),
                     PROXY_PROTOCOL_CLIENT);
    assert_string_equal(text, "203.0.113.7:56324");
    assert_int_equal(read_text("PROXY TCP6 2001:db8::7 2001:db8::1 1 443\r\n", text),
                     PROXY_PROTOCOL_CLIENT);
    assert_string_equal(text, "[2001:db8::7]:1");
    assert_int_equal(read_text("PROXY UNKNOWN\r\n", text), PROXY_PROTOCOL_LOCAL);
    assert_int_equal(read_text("PROXY UNKNOWN ff:: ff:: 1 2\r\n", text), PROXY_PROTOCOL_LOCAL);
    static const char *const bad[] = {
        "PROXY TCP4 203.0.113.7 198.51.100.1 56324\r\n",
        "PROXY TCP4 203.0.113.7 198.51.100.1 56324 443 1\r\n",
        "PROXY TCP4 203.0.113.7 198.51.100.1 65536 443\r\n",
        "PROXY TCP4 203.0.113.7 198.51.100.1 -1 443\r\n",
        "PROXY TCP4 203.0.113.7:1 198.51.100.1 1 443\r\n",
        "PROXY TCP4 2001:db8::7 2001:db8::1 1 443\r\n",
        "PROXY TCP6 203.0.113.7 198.51.100.1 1 443\r\n",
        "PROXY TCP5 203.0.113.7 198.51.100.1 1 443\r\n",
        "PROXY UNKNOWNS\r\n",
        "PROXY \r\n",
        "PROXY TCP4 203.0.113.7 198.51.100.1 1 443\n",
        "PROXY TCP4 203.0.113.7 198.51.100.1 1 443                                              "
        "                              \r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(read_text(bad[i], text), PROXY_PROTOCOL_BAD);
}

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

TEST(version_2)
{
    char text[SOCKET_ADDRESS_TEXT];
#define V2(bytes) read_header(SIGNATURE bytes, sizeof SIGNATURE - 1 + sizeof bytes - 1, text)
    assert_int_equal(V2("\x21\x11\0\x0c\xcb\0\x71\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb"),
                     PROXY_PROTOCOL_CLIENT);
    assert_string_equal(text, "203.0.113.7:56324");
    assert_int_equal(V2("\x21\x21\0\x24\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07"
                        "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\0\x01\x01\xbb"),
                     PROXY_PROTOCOL_CLIENT);
    assert_string_equal(text, "[2001:db8::7]:1");
    /* A header may have more behind the addresses. */
    assert_int_equal(V2("\x21\x11\0\x10\xcb\0\x71\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb\x04\0\x01\0"),
                     PROXY_PROTOCOL_CLIENT);
    assert_int_equal(V2("\x20\0\0\0"), PROXY_PROTOCOL_LOCAL);
    assert_int_equal(V2("\x21\0\0\0"), PROXY_PROTOCOL_LOCAL);
    /* Headers of no family, of UDP and of UNIX sockets name no client, with an address or without:
       the proxy's address stays. */
    static const char families[] = {0x00, 0x01, 0x02, 0x10, 0x12, 0x20, 0x22, 0x30, 0x31, 0x32};
    for (size_t i = 0; i < sizeof families; i++) {
        char header[16 + 216] = SIGNATURE "\x21";
        header[13] = families[i];
        for (size_t size = 0; size <= 216; size += 36) {
            header[15] = (char)size;
            assert_int_equal(read_header(header, 16 + size, text), PROXY_PROTOCOL_LOCAL);
        }
    }
    assert_int_equal(V2("\x31\x11\0\x0c\xcb\0\x71\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb"),
                     PROXY_PROTOCOL_BAD);
    assert_int_equal(V2("\x22\x11\0\x0c\xcb\0\x71\x07\xc6\x33\x64\x01\xdc\x04\x01\xbb"),
                     PROXY_PROTOCOL_BAD);
    assert_int_equal(V2("\x21\x11\0\x0b\xcb\0\x71\x07\xc6\x33\x64\x01\xdc\x04\x01"),
                     PROXY_PROTOCOL_BAD);
    assert_int_equal(V2("\x21\x11\xff\xff"), PROXY_PROTOCOL_BAD);
#undef V2
}

TEST(no_header)
{
    char text[SOCKET_ADDRESS_TEXT];
    struct socket_address client;
    size_t size;
    assert_int_equal(read_text("GET / HTTP/1.1\r\n", text), PROXY_PROTOCOL_NONE);
    assert_int_equal(read_text("POST /rtc HTTP/1.1\r\n", text), PROXY_PROTOCOL_NONE);
    assert_int_equal(read_text("\x16\x03\x01", text), PROXY_PROTOCOL_NONE);
    assert_int_equal(proxy_protocol_read((const uint8_t *)"P", 1, &client, &size),
                     PROXY_PROTOCOL_MORE);
    assert_int_equal(proxy_protocol_read((const uint8_t *)"PO", 2, &client, &size),
                     PROXY_PROTOCOL_NONE);
}

/* Checks which client a request of the proxy 10.0.0.1 belongs to. */
static void assert_client(const char *value, const char *expected)
{
    struct prefix_list proxies = {0};
    const struct socket_address proxy = address("10.0.0.1:5000");
    char text[SOCKET_ADDRESS_TEXT];
    assert_true(prefix_list_add(&proxies, "10.0.0.0/8"));
    const struct socket_address client = forwarded_client(&proxies, &proxy, value);
    socket_address_format(&client, text);
    assert_string_equal(text, expected);
    const struct socket_address stranger = address("192.0.2.1:5000");
    const struct socket_address same = forwarded_client(&proxies, &stranger, value);
    socket_address_format(&same, text);
    assert_string_equal(text, "192.0.2.1:5000");
}

TEST(x_forwarded_for)
{
    static const struct {
        const char *value, *client;
    } cases[] = {
        {"203.0.113.7", "203.0.113.7:0"},
        {"203.0.113.7:1234", "203.0.113.7:1234"},
        {"2001:db8::7", "[2001:db8::7]:0"},
        {"[2001:db8::7]:1", "[2001:db8::7]:1"},
        {"192.0.2.66, 203.0.113.7", "203.0.113.7:0"}, /* the client itself wrote the first one */
        {"203.0.113.7, 10.2.0.1 ,10.3.0.1", "203.0.113.7:0"},
        {"10.2.0.1", "10.2.0.1:0"},
        {"unknown, 10.2.0.1", "10.2.0.1:0"},
        {"203.0.113.7, nonsense", "10.0.0.1:5000"},
        {"\", 203.0.113.7", "203.0.113.7:0"},
        {"", "10.0.0.1:5000"},
        {",", "10.0.0.1:5000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_client(cases[i].value, cases[i].client);
}

/* Every shorter beginning of a head asks for more. */
static enum request_head read_head(const char *head)
{
    const size_t size = strlen(head);
    enum request_head found = REQUEST_HEAD_MORE;
    for (size_t i = 0; i <= size; i++) {
        uint8_t *data = malloc(i > 0 ? i : 1); /* a sanitizer then sees where it ends */
        assert_int_equal(found, REQUEST_HEAD_MORE);
        assert_non_null(data);
        memcpy(data, head, i);
        found = request_head_read(data, i);
        free(data);
    }
    return found;
}

/* Checks the value that a head's lines have for a name, even where libwebsockets would take a value
   for a part of the line before. */
static void assert_value(const char *head, const char *name, const char *expected)
{
    const size_t size = strlen(head);
    char value[32];
    uint8_t *data = malloc(size);
    assert_non_null(data);
    memcpy(data, head, size);
    assert_true(request_head_value(data, size, name, value, sizeof value));
    assert_string_equal(value, expected);
    free(data);
}

TEST(values_of_heads)
{
    static const char name[] = "x-forwarded-for:";
    char value[8];
    assert_value("GET /\r\n\r\n", name, "");
    assert_value("GET /\r\nX-Forwarded-For:\r\n\r\n", name, "");
    assert_value("GET /\r\nX-Forwarded-For: a\r\nX-Forwarded-Fo: b\r\n\r\n", name, " a");
    assert_value("GET /\nx-forwarded-for:a\nH: 1\nX-FORWARDED-FOR: b\n\n", name, "a,  b");
    assert_value("GET /\r\nA: b\r\n\r\nX-Forwarded-For: body\r\n", name, "");
    const uint8_t head[] = "GET /\nX-Forwarded-For:1234567\n\n";
    assert_true(request_head_value(head, sizeof head - 1, name, value, sizeof value));
    assert_string_equal(value, "1234567");
    assert_false(request_head_value(head, sizeof head - 1, name, value, sizeof value - 1));
}

TEST(lines_that_are_no_headers)
{
    static const char *const malformed[] = {
        "GET / HTTP/1.1\r\ngarbage\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\ngarbage\n",
        "GET / HTTP/1.1\r\n: a\r\n",
        "GET / HTTP/1.1\r\nForwarded : for=a\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n Forwarded: for=a\r\n",
        "GET / HTTP/1.1\r\nA\rB: c\r\n",
        "GET / HTTP/1.1\r\n\r\r\n",
        "GET / HTTP/1.1\r\nA(b): c\r\n",
        "GET / HTTP/1.1\r\nA\xe4: c\r\n",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        assert_int_equal(read_head(malformed[i]), REQUEST_HEAD_MALFORMED);
    const uint8_t zero[] = "GET /\r\nForwarded: for=a\0, for=b\r\n\r\n";
    assert_int_equal(request_head_read(zero, sizeof zero - 1), REQUEST_HEAD_MALFORMED);
    assert_int_equal(read_head("GET /\r\n!#$%&'*+-.^_`|~09azAZ:\r\n\r\n"), REQUEST_HEAD_WHOLE);
}

TEST(request_heads)
{
    static const char *const whole[] = {
        "\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nX-Forwarded-For: a, b\r\nX-Forwarded: a\r\nForwarded-For: b\r\n\r\n",
        "GET /\nX-Forwarded-For:\nX-Forwarded-For:\r\n\n",
    };
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        assert_int_equal(read_head(whole[i]), REQUEST_HEAD_WHOLE);
    assert_int_equal(read_head("GET / HTTP/1.1\r\nForwarded: \r \r\n"), REQUEST_HEAD_MORE);
}
