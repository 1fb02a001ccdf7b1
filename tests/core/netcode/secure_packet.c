/* The seven packets and the replay window: golden bytes, refusals. */
#include "causeway/secure_packet.h"
#include "fixture.h"
#include "golden.h"
#include "netcode.h"

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};
static const uint64_t protocol_id = 0x1122334455667788;

/* The window against a list of everything that came, on walks that start anywhere. */
TEST(replay_window_forgets_nothing)
{
    static const uint64_t starts[] = {0, 200, 65500, ((uint64_t)1 << 63) - 300, UINT64_MAX - 2000};
    enum { STEPS = 1500 };
    static uint64_t taken[STEPS];
    for (size_t walk = 0; walk < sizeof(starts) / sizeof(starts[0]); walk++) {
        uint64_t seed = walk + 1, newest = starts[walk];
        struct cw_replay replay = {0};
        size_t count = 0;
        for (int step = 0; step < STEPS; step++) {
            uint8_t dice[2];
            netcode_fill(&seed, dice, 2);
            uint64_t sequence = newest - dice[0] - (dice[1] & 64);
            if (dice[1] & 1)
                sequence = newest + (dice[0] & 3);
            if (dice[1] % 61 == 0 && newest < UINT64_MAX - 600)
                sequence = newest + 2 * dice[0];
            enum cw_error expected = CW_OK;
            for (size_t i = 0; i < count; i++)
                if (taken[i] == sequence)
                    expected = CW_ERROR_DUPLICATE;
            const uint64_t top = count ? newest : 0;
            if (sequence <= top && top - sequence >= CW_REPLAY_WINDOW)
                expected = CW_ERROR_STALE;
            assert_int_equal(cw_replay_check(&replay, sequence), expected);
            if (expected == CW_OK) {
                cw_replay_advance(&replay, sequence);
                taken[count++] = sequence;
                if (count == 1 || sequence > newest)
                    newest = sequence;
            }
        }
    }
}

TEST(last_sequence_is_taken_once)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_replay replay = {0};
    struct cw_secure_packet packet;
    const size_t size = cw_secure_write(
        &(struct cw_secure_packet){.type = CW_SECURE_PAYLOAD,
                                   .sequence = UINT64_MAX,
                                   .body = (const uint8_t *)"x",
                                   .size = 1},
        &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key}, out, sizeof(out));
    assert_int_equal(size, 26);
    assert_ok(cw_secure_read(out, size,
                             &(struct cw_secure_key){.protocol_id = protocol_id,
                                                     .direction = CW_TO_SERVER,
                                                     .bytes = key},
                             &replay, body, &packet));
    assert_int_equal(cw_secure_read(out, size,
                                    &(struct cw_secure_key){.protocol_id = protocol_id,
                                                            .direction = CW_TO_SERVER,
                                                            .bytes = key},
                                    &replay, body, &packet),
                     CW_ERROR_DUPLICATE);
    assert_int_equal(cw_replay_check(&replay, 0), CW_ERROR_STALE);
    assert_ok(cw_replay_check(&replay, UINT64_MAX - 255));
    assert_int_equal(cw_replay_check(&replay, UINT64_MAX - 256), CW_ERROR_STALE);
}

/* One of each encrypted type, with sequences of all lengths. */
struct sample {
    enum cw_secure_type type;
    enum cw_direction direction;
    size_t body_size;
    uint64_t sequence;
};
static const struct sample samples[] = {
    {CW_SECURE_DENIED, CW_TO_CLIENT, 0, (uint64_t)1 << 63},
    {CW_SECURE_CHALLENGE, CW_TO_CLIENT, CW_CHALLENGE_BODY_SIZE, ((uint64_t)1 << 63) + 1},
    {CW_SECURE_RESPONSE, CW_TO_SERVER, CW_CHALLENGE_BODY_SIZE, 0},
    {CW_SECURE_KEEP_ALIVE, CW_TO_CLIENT, CW_KEEP_ALIVE_SIZE, 0xff},
    {CW_SECURE_KEEP_ALIVE, CW_TO_SERVER, CW_KEEP_ALIVE_SIZE, 0x100},
    {CW_SECURE_PAYLOAD, CW_TO_SERVER, 1, 0x10000},
    {CW_SECURE_PAYLOAD, CW_TO_CLIENT, 77, 0x1000000},
    {CW_SECURE_PAYLOAD, CW_TO_SERVER, CW_PAYLOAD_MAX, 0x100000000},
    {CW_SECURE_DISCONNECT, CW_TO_SERVER, 0, 0x10000000000},
    {CW_SECURE_DISCONNECT, CW_TO_CLIENT, 0, 0x1000000000000},
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static size_t write_sample(uint8_t out[CW_SECURE_MAX], const struct sample *sample)
{
    uint8_t body[CW_PAYLOAD_MAX];
    for (size_t i = 0; i < sizeof(body); i++)
        body[i] = (uint8_t)(i * 7 + sample->type);
    return cw_secure_write(&(struct cw_secure_packet){.type = sample->type,
                                                      .sequence = sample->sequence,
                                                      .body = body,
                                                      .size = sample->body_size},
                           &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key}, out,
                           CW_SECURE_MAX);
}

/* Bits of the packet, of the protocol id and of the key; the other direction; every cut; the window
   stays where it is. */
TEST(altered_packets_refused)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t packet[CW_SECURE_MAX + 1] = {0}, body[CW_PAYLOAD_MAX], changed_key[CW_KEY_BYTES];
        const size_t size = write_sample(packet, sample);
        struct cw_secure_packet out;
        struct cw_replay replay = {0};
        static const struct cw_replay fresh;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(netcode_read(&out, body, packet, size,
                                              netcode_key(sample->direction, protocol_id, key),
                                              &replay),
                                 CW_OK);
            packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut <= size + 1; cut++)
            if (cut != size)
                assert_int_not_equal(netcode_read(&out, body, packet, cut,
                                                  netcode_key(sample->direction, protocol_id, key),
                                                  &replay),
                                     CW_OK);
        for (int bit = 0; bit < 64; bit++)
            assert_int_equal(
                netcode_read(&out, body, packet, size,
                             netcode_key(sample->direction, protocol_id ^ (uint64_t)1 << bit, key),
                             &replay),
                CW_ERROR_NOT_AUTHENTIC);
        memcpy(changed_key, key, CW_KEY_BYTES);
        changed_key[31] ^= 0x80;
        assert_int_equal(netcode_read(&out, body, packet, size,
                                      netcode_key(sample->direction, protocol_id, changed_key),
                                      &replay),
                         CW_ERROR_NOT_AUTHENTIC);
        assert_memory_equal(&replay, &fresh, sizeof(replay));
        assert_ok(netcode_read(&out, body, packet, size,
                               netcode_key(sample->direction, protocol_id, key), &replay));
        if (sample->type < CW_SECURE_KEEP_ALIVE)
            assert_memory_equal(&replay, &fresh, sizeof(replay));
        else
            assert_int_equal(netcode_read(&out, body, packet, size,
                                          netcode_key(sample->direction, protocol_id, key),
                                          &replay),
                             CW_ERROR_DUPLICATE);
    }
}

TEST(types_of_the_other_direction_refused)
{
    static const enum cw_secure_type one_way[] = {CW_SECURE_DENIED, CW_SECURE_CHALLENGE,
                                                  CW_SECURE_RESPONSE};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < SAMPLES; k++) {
            if (samples[k].type != one_way[i])
                continue;
            uint8_t packet[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
            const size_t size = write_sample(packet, &samples[k]);
            struct cw_secure_packet out;
            const enum cw_direction other =
                samples[k].direction == CW_TO_SERVER ? CW_TO_CLIENT : CW_TO_SERVER;
            assert_int_equal(
                netcode_read(&out, body, packet, size, netcode_key(other, protocol_id, key), NULL),
                CW_ERROR_PACKET_TYPE);
            assert_int_equal(cw_secure_shape(packet, size, other, NULL), CW_ERROR_PACKET_TYPE);
        }
}

/* Too short for any packet comes before anything in it. */
TEST(checks_size_before_type)
{
    static const uint8_t bytes[18] = {0x1f};
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_secure_packet packet;
    assert_int_equal(
        netcode_read(&packet, body, bytes, 17, netcode_key(CW_TO_SERVER, protocol_id, key), NULL),
        CW_ERROR_PACKET_SHORT);
    assert_int_equal(
        netcode_read(&packet, body, bytes, 18, netcode_key(CW_TO_SERVER, protocol_id, key), NULL),
        CW_ERROR_PACKET_TYPE);
}

/* A packet that was taken before, or is too old, is known without its key. */
TEST(checks_replay_before_decrypting)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t packet[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
        struct cw_secure_packet out;
        struct cw_replay replay = {0};
        const size_t size = write_sample(packet, sample);
        const bool covered = sample->type >= CW_SECURE_KEEP_ALIVE;
        packet[size - 1] ^= 1;
        cw_replay_advance(&replay, sample->sequence);
        assert_int_equal(netcode_read(&out, body, packet, size,
                                      netcode_key(sample->direction, protocol_id, key), &replay),
                         covered ? CW_ERROR_DUPLICATE : CW_ERROR_NOT_AUTHENTIC);
        cw_replay_advance(&replay, sample->sequence + CW_REPLAY_WINDOW);
        assert_int_equal(netcode_read(&out, body, packet, size,
                                      netcode_key(sample->direction, protocol_id, key), &replay),
                         covered ? CW_ERROR_STALE : CW_ERROR_NOT_AUTHENTIC);
    }
}

TEST(writer_refuses)
{
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX + 1] = {0};
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        const size_t size = write_sample(out, sample);
        assert_int_equal(size, cw_secure_body_offset(sample->sequence) + sample->body_size + 16);
        uint8_t *exact = malloc(size);
        assert_int_equal(
            cw_secure_write(&(struct cw_secure_packet){.type = sample->type,
                                                       .sequence = sample->sequence,
                                                       .body = body,
                                                       .size = sample->body_size},
                            &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key},
                            exact, size),
            size);
        assert_int_equal(
            cw_secure_write(&(struct cw_secure_packet){.type = sample->type,
                                                       .sequence = sample->sequence,
                                                       .body = body,
                                                       .size = sample->body_size},
                            &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key},
                            exact, size - 1),
            0);
        free(exact);
        if (sample->type != CW_SECURE_PAYLOAD)
            assert_int_equal(
                cw_secure_write(&(struct cw_secure_packet){.type = sample->type,
                                                           .sequence = sample->sequence,
                                                           .body = body,
                                                           .size = sample->body_size + 1},
                                &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key},
                                out, sizeof(out)),
                0);
    }
    assert_int_equal(cw_secure_write(
                         &(struct cw_secure_packet){
                             .type = CW_SECURE_PAYLOAD, .sequence = 0, .body = body, .size = 0},
                         &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key}, out,
                         sizeof(out)),
                     0);
    assert_int_equal(
        cw_secure_write(
            &(struct cw_secure_packet){
                .type = CW_SECURE_PAYLOAD, .sequence = 0, .body = body, .size = sizeof(body)},
            &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key}, out, 4096),
        0);
    assert_int_equal(cw_secure_write(
                         &(struct cw_secure_packet){
                             .type = CW_SECURE_REQUEST, .sequence = 0, .body = body, .size = 0},
                         &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key}, out,
                         sizeof(out)),
                     0);
}

TEST(a_denial_has_whole_entries_or_nothing)
{
    static const uint8_t body[CW_OUTLINE_MAX + 2];
    static const size_t sizes[] = {0, 1, 2, CW_OUTLINE_MAX - 1, CW_OUTLINE_MAX, CW_OUTLINE_MAX + 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct cw_secure_packet packet = {.type = CW_SECURE_DENIED,
                                                .sequence = CW_SEQUENCE_OTHER_SCHEMA,
                                                .body = body,
                                                .size = sizes[i]};
        const struct cw_secure_key sealed = {.protocol_id = protocol_id, .bytes = key};
        uint8_t out[CW_SECURE_MAX];
        const bool valid = sizes[i] % 2 == 0 && sizes[i] <= CW_OUTLINE_MAX;
        assert_int_equal(cw_secure_write(&packet, &sealed, out, sizeof out) > 0, valid);
    }
}

TEST(body_is_encrypted_in_place)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t apart[CW_SECURE_MAX], within[CW_SECURE_MAX];
        const size_t size = write_sample(apart, sample);
        uint8_t *body = within + cw_secure_body_offset(sample->sequence);
        for (size_t k = 0; k < sample->body_size; k++)
            body[k] = (uint8_t)(k * 7 + sample->type);
        assert_int_equal(
            cw_secure_write(&(struct cw_secure_packet){.type = sample->type,
                                                       .sequence = sample->sequence,
                                                       .body = body,
                                                       .size = sample->body_size},
                            &(struct cw_secure_key){.protocol_id = protocol_id, .bytes = key},
                            within, sizeof(within)),
            size);
        assert_memory_equal(within, apart, size);
    }
}

/* Bodies are written to and read from blocks of exactly their size. */
TEST(bodies)
{
    uint8_t *keep_alive = malloc(CW_KEEP_ALIVE_SIZE), *challenge = malloc(CW_CHALLENGE_BODY_SIZE);
    uint32_t index, max_clients;
    cw_keep_alive_put(0x01020304, 0x05060708, keep_alive);
    assert_memory_equal(keep_alive, "\4\3\2\1\10\7\6\5", CW_KEEP_ALIVE_SIZE);
    cw_keep_alive_get(keep_alive, &index, &max_clients);
    assert_int_equal(index, 0x01020304);
    assert_int_equal(max_clients, 0x05060708);
    uint8_t token[CW_CHALLENGE_TOKEN_SIZE];
    memset(token, 9, sizeof(token));
    uint64_t sequence;
    cw_challenge_put(0x0102030405060708, token, challenge);
    assert_memory_equal(challenge, "\10\7\6\5\4\3\2\1\11", 9);
    assert_memory_equal(cw_challenge_get(challenge, &sequence), token, sizeof(token));
    assert_true(sequence == 0x0102030405060708);
    free(keep_alive);
    free(challenge);
}

/* One byte that is not zero, and it is no request; one that is, and it is no other packet. */
TEST(requests_have_their_prefix)
{
    uint8_t bytes[CW_REQUEST_SIZE] = {0};
    struct cw_request request;
    memcpy(bytes + 1, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    assert_ok(cw_request_parse(bytes, sizeof(bytes), &request));
    for (int prefix = 1; prefix < 256; prefix++) {
        bytes[0] = (uint8_t)prefix;
        assert_int_equal(cw_request_parse(bytes, sizeof(bytes), &request), CW_ERROR_PACKET_TYPE);
    }
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_secure_packet packet;
    for (int sequence_bytes = 0; sequence_bytes <= 8; sequence_bytes++) {
        bytes[0] = (uint8_t)(sequence_bytes << 4);
        assert_int_equal(netcode_read(&packet, body, bytes, sizeof(bytes),
                                      netcode_key(CW_TO_SERVER, protocol_id, key), NULL),
                         CW_ERROR_PACKET_TYPE);
        assert_int_equal(netcode_read(&packet, body, bytes, sizeof(bytes),
                                      netcode_key(CW_TO_CLIENT, protocol_id, key), NULL),
                         CW_ERROR_PACKET_TYPE);
    }
}

/* All addresses of either side count, and no more than there are. */
TEST(token_names_its_servers)
{
    const struct cw_address servers[3] = {{.type = CW_ADDRESS_IPV4, .port = 1, .bytes = {1}},
                                          {.type = CW_ADDRESS_IPV4, .port = 2, .bytes = {1}},
                                          {.type = CW_ADDRESS_IPV6, .port = 1, .bytes = {1}}};
    struct cw_token_private token = {.addresses = {servers[0], servers[1], servers[2]}};
    for (uint32_t named = 0; named <= 3; named++)
        for (size_t place = 0; place < 3; place++) {
            token.address_count = named;
            assert_int_equal(cw_token_names(&token, &servers[place], 1), place < named);
        }
    token.address_count = 1;
    for (size_t count = 0; count <= 3; count++) {
        const struct cw_address own[3] = {servers[1], servers[2], servers[0]};
        assert_int_equal(cw_token_names(&token, own, count), count == 3);
    }
}

/* Everything that reads as a packet has the shape of one, with no key needed. */
TEST(shape)
{
    enum cw_secure_type type;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint8_t packet[CW_SECURE_MAX + 1] = {0};
        const size_t size = write_sample(packet, &samples[i]);
        assert_ok(cw_secure_shape(packet, size, samples[i].direction, &type));
        assert_int_equal(type, samples[i].type);
        assert_ok(cw_secure_shape(packet, size, samples[i].direction, NULL));
        if (samples[i].type != CW_SECURE_PAYLOAD)
            assert_int_equal(cw_secure_shape(packet, size + 1, samples[i].direction, NULL),
                             CW_ERROR_BODY_SIZE);
        for (size_t cut = 0; cut < 18; cut++) {
            uint8_t *exact = netcode_exact(packet, cut);
            assert_int_equal(cw_secure_shape(exact, cut, samples[i].direction, NULL),
                             CW_ERROR_PACKET_SHORT);
            free(exact);
        }
    }
    uint8_t request[CW_REQUEST_SIZE] = {0};
    assert_int_equal(cw_secure_shape(request, 0, CW_TO_SERVER, NULL), CW_ERROR_PACKET_SHORT);
    assert_int_equal(cw_secure_shape(request, sizeof(request), CW_TO_SERVER, NULL),
                     CW_ERROR_VERSION);
    memcpy(request + 1, CW_NETCODE_VERSION, CW_NETCODE_VERSION_SIZE);
    assert_ok(cw_secure_shape(request, sizeof(request), CW_TO_SERVER, &type));
    assert_int_equal(type, CW_SECURE_REQUEST);
    for (size_t cut = 1; cut < sizeof(request); cut++) {
        uint8_t *exact = netcode_exact(request, cut);
        assert_int_equal(cw_secure_shape(exact, cut, CW_TO_SERVER, NULL), CW_ERROR_REQUEST_SIZE);
        free(exact);
    }
    assert_int_equal(cw_secure_shape(request, sizeof(request), CW_TO_CLIENT, NULL),
                     CW_ERROR_PACKET_TYPE);
}

TEST(golden_packets)
{
    static const char *const names[] = {"denied",     "challenge", "response",   "keep_alive",
                                        "keep_alive", "payload_1", "payload_77", "payload_1200",
                                        "disconnect", "disconnect"};
    struct golden golden = golden_open(CAUSEWAY_GOLDEN "/secure_packet.txt", 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        uint8_t packet[CW_SECURE_MAX];
        const size_t size = write_sample(packet, &samples[i]);
        assert_true(golden_bytes(&golden, names[i], packet, size));
    }
    struct cw_token token = {.protocol_id = protocol_id, .expire_time = 1900000045, .nonce = {3}};
    for (size_t i = 0; i < sizeof(token.sealed); i++)
        token.sealed[i] = (uint8_t)i;
    uint8_t request[CW_REQUEST_SIZE];
    cw_request_write(&token, request);
    assert_true(golden_bytes(&golden, "request", request, sizeof(request)));
    assert_true(golden_close(&golden));
}
