/* STUN: the vectors of RFC 5769, every truncation, every flipped bit, and messages that must be
   refused. */
#include "fixture.h"

#include "relay/rtc/big_endian.h"
#include "relay/rtc/stun.h"
#include "stun_request.h"

#include <stdlib.h>
#include <string.h>

static const char password[] = "VOkJxbRl1RmTxUk/WvJxBt";

/* The sample request of RFC 5769, 2.1. */
static const uint8_t sample[] = {
    0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xa4, 0x42, 0xb7, 0xe7, 0xa7, 0x01, 0xbc, 0x34, 0xd6, 0x86,
    0xfa, 0x87, 0xdf, 0xae, 0x80, 0x22, 0x00, 0x10, 0x53, 0x54, 0x55, 0x4e, 0x20, 0x74, 0x65, 0x73,
    0x74, 0x20, 0x63, 0x6c, 0x69, 0x65, 0x6e, 0x74, 0x00, 0x24, 0x00, 0x04, 0x6e, 0x00, 0x01, 0xff,
    0x80, 0x29, 0x00, 0x08, 0x93, 0x2f, 0xf9, 0xb1, 0x51, 0x26, 0x3b, 0x36, 0x00, 0x06, 0x00, 0x09,
    0x65, 0x76, 0x74, 0x6a, 0x3a, 0x68, 0x36, 0x76, 0x59, 0x20, 0x20, 0x20, 0x00, 0x08, 0x00, 0x14,
    0x9a, 0xea, 0xa7, 0x0c, 0xbf, 0xd8, 0xcb, 0x56, 0x78, 0x1e, 0xf2, 0xb5, 0xb2, 0xd3, 0xf2, 0x49,
    0xc1, 0xb5, 0x71, 0xa2, 0x80, 0x28, 0x00, 0x04, 0xe5, 0x7a, 0x3b, 0xcf,
};

static const struct udp_address v4 = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1},
                                      32853};
static const struct udp_address v6 = {{0x20, 0x01, 0x0d, 0xb8, 0x12, 0x34, 0x56, 0x78, 0x00, 0x11,
                                       0x22, 0x33, 0x44, 0x55, 0x66, 0x77},
                                      32853};

/* Parses a copy of the exact size, so that a sanitizer sees a read past the end. */
static bool parse_exactly(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    if (size > 0)
        memcpy(copy, data, size);
    struct stun_request request;
    const bool parsed = stun_parse(&request, copy, size);
    free(copy);
    return parsed;
}

TEST(reads_the_sample_request)
{
    struct stun_request request;
    assert_true(stun_parse(&request, sample, sizeof sample));
    assert_int_equal(request.username_size, 9);
    assert_memory_equal(request.username, "evtj:h6vY", 9);
    assert_memory_equal(request.transaction, sample + 8, 12);
    assert_true(request.controlled);
    assert_int_equal(request.unknown_required, 0);
    assert_true(stun_verify(&request, sample, password));
    assert_false(stun_verify(&request, sample, "VOkJxbRl1RmTxUk/WvJxBu"));
}

TEST(refuses_every_truncation_and_every_flipped_bit)
{
    for (size_t size = 0; size < sizeof sample; size++)
        assert_false(parse_exactly(sample, size));
    for (size_t bit = 0; bit < sizeof sample * 8; bit++) {
        uint8_t copy[sizeof sample];
        memcpy(copy, sample, sizeof sample);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(parse_exactly(copy, sizeof copy));
    }
}

TEST(signature_covers_what_the_checksum_does_not_protect)
{
    /* Anyone can make a checksum, so the test changes the user name and repairs it. */
    uint8_t request_data[STUN_REQUEST_SIZE];
    const size_t size = stun_request(request_data, "evtj:h6vY", password, 0, 0);
    struct stun_request request;
    assert_true(stun_parse(&request, request_data, size));
    assert_true(stun_verify(&request, request_data, password));
    request_data[24] ^= 1;
    stun_request_fingerprint(request_data, size);
    assert_true(stun_parse(&request, request_data, size));
    assert_false(stun_verify(&request, request_data, password));
}

TEST(refuses_what_lacks_a_required_attribute)
{
    uint8_t data[STUN_REQUEST_SIZE];
    size_t size = stun_request(data, "", password, 0, STUN_WITHOUT_USERNAME);
    assert_false(parse_exactly(data, size));
    size = stun_request(data, "a:b", password, 0, STUN_WITHOUT_INTEGRITY);
    assert_false(parse_exactly(data, size));
    size = stun_request(data, "a:b", password, 0, STUN_WITHOUT_FINGERPRINT);
    assert_false(parse_exactly(data, size));
}

TEST(answers_with_the_mapped_address)
{
    static const uint8_t mapped_v4[] = {0x00, 0x20, 0x00, 0x08, 0x00, 0x01,
                                        0xa1, 0x47, 0xe1, 0x12, 0xa6, 0x43};
    static const uint8_t mapped_v6[] = {0x00, 0x20, 0x00, 0x14, 0x00, 0x02, 0xa1, 0x47,
                                        0x01, 0x13, 0xa9, 0xfa, 0xa5, 0xd3, 0xf1, 0x79,
                                        0xbc, 0x25, 0xf4, 0xb5, 0xbe, 0xd2, 0xb9, 0xd9};
    struct stun_request request;
    assert_true(stun_parse(&request, sample, sizeof sample));
    request.controlled = false;

    uint8_t out[STUN_RESPONSE_MAX];
    bool accepted;
    size_t size = stun_respond(out, sizeof out, &request, &v4, password, &accepted);
    assert_true(accepted);
    assert_int_equal(size, 20 + 12 + 24 + 8);
    assert_int_equal(load16(out), 0x0101);
    assert_memory_equal(out + 20, mapped_v4, sizeof mapped_v4);
    assert_true(size <= sizeof sample);

    size = stun_respond(out, sizeof out, &request, &v6, password, &accepted);
    assert_memory_equal(out + 20, mapped_v6, sizeof mapped_v6);
    assert_true(size <= sizeof sample);
    assert_true(stun_response_is_signed(out, size, password));
    assert_int_equal(stun_respond(out, sizeof out - 1, &request, &v6, password, &accepted), 0);
}

TEST(refuses_a_peer_that_wants_our_role)
{
    struct stun_request request;
    assert_true(stun_parse(&request, sample, sizeof sample));
    uint8_t out[STUN_RESPONSE_MAX];
    bool accepted = true;
    const size_t size = stun_respond(out, sizeof out, &request, &v4, password, &accepted);
    assert_false(accepted);
    assert_int_equal(load16(out), 0x0111);
    assert_int_equal(load16(out + 20), 0x0009);
    assert_int_equal(load32(out + 24), 4 << 8 | 87);
    assert_true(stun_response_is_signed(out, size, password));
}

TEST(names_an_attribute_that_it_must_know_and_does_not)
{
    uint8_t data[STUN_REQUEST_SIZE];
    size_t size = stun_request(data, "a:b", password, 0x0031, 0);
    struct stun_request request;
    assert_true(stun_parse(&request, data, size));
    assert_int_equal(request.unknown_required, 0x0031);
    uint8_t out[STUN_RESPONSE_MAX];
    bool accepted = true;
    stun_respond(out, sizeof out, &request, &v4, password, &accepted);
    assert_false(accepted);
    assert_int_equal(load32(out + 24), 4 << 8 | 20);
    assert_int_equal(load16(out + 28), 0x000a);
    assert_int_equal(load16(out + 32), 0x0031);

    /* An unknown attribute from 0x8000 on may be skipped: Chromium sends 0xC057. */
    size = stun_request(data, "a:b", password, 0xc057, 0);
    assert_true(stun_parse(&request, data, size));
    assert_int_equal(request.unknown_required, 0);
}

/* Returns the attributes between the mapped address and the signature. */
static const uint8_t *respond(const uint8_t *data, size_t size, size_t *extra)
{
    static uint8_t out[STUN_RESPONSE_MAX];
    struct stun_request request;
    bool accepted;
    assert_true(stun_parse(&request, data, size));
    const size_t length = stun_respond(out, sizeof out, &request, &v6, password, &accepted);
    assert_true(accepted);
    assert_true(stun_response_is_signed(out, length, password));
    *extra = length - (20 + 24 + 24 + 8);
    return out + 20 + 24;
}

TEST(acknowledges_dtls_that_is_embedded)
{
    /* The check value of CRC-32 is that of these nine digits. */
    static const uint8_t digits[] = "123456789";
    static const uint8_t received[] = {0xc0, 0x71, 0, 4, 0xcb, 0xf4, 0x39, 0x26};
    static const uint8_t knows[] = {0xc0, 0x71, 0, 0};
    uint8_t data[STUN_REQUEST_SIZE];
    struct stun_request request;
    size_t extra;
    size_t size = stun_request_embed(data, "a:b", password, digits, 9);
    assert_true(stun_parse(&request, data, size));
    assert_int_equal(request.dtls_size, 9);
    assert_memory_equal(request.dtls, digits, 9);
    const uint8_t *out = respond(data, size, &extra);
    assert_int_equal(extra, sizeof received);
    assert_memory_equal(out, received, sizeof received);

    size = stun_request_embed(data, "a:b", password, NULL, 0);
    assert_true(stun_parse(&request, data, size));
    assert_null(request.dtls);
    out = respond(data, size, &extra);
    assert_int_equal(extra, sizeof knows);
    assert_memory_equal(out, knows, sizeof knows);

    /* A browser that does not ask is not told, and gets no more than it sent. */
    size = stun_request(data, "a:b", password, 0, 0);
    respond(data, size, &extra);
    assert_int_equal(extra, 0);
}

TEST(reads_the_longest_that_browsers_send)
{
    static const uint8_t dtls[1200];
    uint8_t data[STUN_REQUEST_SIZE];
    struct stun_request request;
    assert_true(stun_parse(
        &request, data,
        stun_request_embed(data, "24-letters-of-the-relays:and-their-own", password, dtls, 900)));
    assert_false(
        stun_parse(&request, data, stun_request_embed(data, "a:b", password, dtls, sizeof dtls)));
}
