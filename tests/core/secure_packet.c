/* The seven packets and the replay window: shared vectors, golden bytes, refusals. */
#include "causeway/secure_packet.h"
#include "golden.h"
#include "netcode.h"
#include "unit.h"

static const uint8_t key[CW_KEY_BYTES] = {1, 2, 3};
static const uint64_t protocol_id = 0x1122334455667788;

/* Reads from a block of exactly the size, into one too. */
static enum cw_error read_exact(struct cw_secure_packet *packet, uint8_t *body, const void *bytes,
                                size_t size, enum cw_direction direction, uint64_t id,
                                const uint8_t *with_key, struct cw_replay *replay)
{
    uint8_t *copy = netcode_exact(bytes, size), *out = malloc(CW_PAYLOAD_MAX);
    const enum cw_error error =
        cw_secure_read(packet, out, copy, size, direction, id, with_key, replay);
    if (!error && body && packet->size)
        memcpy(body, out, packet->size);
    free(copy);
    free(out);
    return error;
}

static enum cw_direction side_of(const cJSON *item)
{
    return strcmp(cJSON_GetStringValue(vectors_get(item, "side")), "server") == 0 ? CW_TO_SERVER
                                                                                  : CW_TO_CLIENT;
}

static struct cw_replay window_of(const cJSON *item)
{
    struct cw_replay replay = {0};
    const cJSON *before;
    cJSON_ArrayForEach(before, vectors_get(item, "received_before"))
    {
        const uint64_t sequence = strtoull(cJSON_GetStringValue(before), NULL, 10);
        assert_int_equal(cw_replay_check(&replay, sequence), CW_OK);
        cw_replay_advance(&replay, sequence);
    }
    return replay;
}

static bool is_rule(enum cw_error error, const char *rule)
{
    if (rule[0] == 'E')
        switch (rule[1]) {
        case '1':
        case '5':
            return error == CW_ERROR_PACKET_SHORT;
        case '2':
        case '3':
        case '9':
            return error == CW_ERROR_PACKET_TYPE;
        case '4':
            return error == CW_ERROR_PACKET_SEQUENCE;
        case '6':
            return error == CW_ERROR_STALE || error == CW_ERROR_DUPLICATE;
        case '7':
            return error == CW_ERROR_NOT_AUTHENTIC;
        case '8':
            return error == CW_ERROR_BODY_SIZE;
        default:
            return false;
        }
    switch (rule[1]) {
    case '1':
        return error == CW_ERROR_REQUEST_SIZE;
    case '2':
        return error == CW_ERROR_VERSION;
    case '3':
        return error == CW_ERROR_PROTOCOL_ID;
    case '4':
        return error == CW_ERROR_TOKEN_EXPIRED;
    case '5':
        return error == CW_ERROR_NOT_AUTHENTIC;
    case '6':
        return error == CW_ERROR_TOKEN_ADDRESSES;
    case '7':
        return error == CW_ERROR_TOKEN_SERVER;
    default:
        return false;
    }
}

/* All of a server's checks on a request, one after the other. */
static enum cw_error read_request(const uint8_t *data, size_t size, uint64_t id, uint64_t now,
                                  const uint8_t *private_key, const struct cw_address *address)
{
    struct cw_request request;
    struct cw_token_private token;
    enum cw_error error = cw_request_parse(&request, data, size);
    if (!error)
        error = cw_request_check(&request, id, now);
    if (!error)
        error = cw_request_open(&token, &request, private_key);
    if (!error && address && !cw_token_names(&token, address, 1))
        error = CW_ERROR_TOKEN_SERVER;
    return error;
}

static void shared_packets(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "packets"))
    {
        uint8_t its_key[CW_KEY_BYTES], body[CW_PAYLOAD_MAX], out[CW_SECURE_MAX];
        netcode_bytes(its_key, CW_KEY_BYTES, item, "key");
        const enum cw_secure_type type = (enum cw_secure_type)vectors_int(item, "type");
        const uint64_t sequence = netcode_u64(item, "sequence"),
                       id = netcode_u64(item, "protocol_id");
        size_t body_size, size;
        uint8_t *expected_body = vectors_bytes(vectors_get(item, "body"), &body_size);
        uint8_t *expected = vectors_bytes(vectors_get(item, "packet"), &size);
        assert_int_equal(
            cw_secure_write(out, size, type, sequence, expected_body, body_size, id, its_key),
            size);
        assert_memory_equal(out, expected, size);

        const bool to_server = type == CW_SECURE_RESPONSE || type > CW_SECURE_CHALLENGE;
        struct cw_secure_packet packet;
        struct cw_replay replay = {0};
        assert_int_equal(read_exact(&packet, body, expected, size,
                                    to_server ? CW_TO_SERVER : CW_TO_CLIENT, id, its_key, &replay),
                         CW_OK);
        assert_int_equal(packet.type, type);
        assert_true(packet.sequence == sequence);
        assert_int_equal(packet.size, body_size);
        assert_memory_equal(body, expected_body, body_size);
        const cJSON *fields = vectors_get(item, "fields");
        if (type == CW_SECURE_KEEP_ALIVE) {
            uint32_t index, max;
            cw_keep_alive_get(body, &index, &max);
            assert_true(index == cJSON_GetNumberValue(vectors_get(fields, "client_index")));
            assert_true(max == cJSON_GetNumberValue(vectors_get(fields, "max_clients")));
            cw_keep_alive_put(out, index, max);
            assert_memory_equal(out, expected_body, CW_KEEP_ALIVE_SIZE);
        }
        if (type == CW_SECURE_CHALLENGE || type == CW_SECURE_RESPONSE) {
            uint64_t challenge;
            const uint8_t *token = cw_challenge_get(body, &challenge);
            cw_challenge_put(out, challenge, token);
            assert_memory_equal(out, expected_body, CW_CHALLENGE_BODY_SIZE);
        }
        free(expected_body);
        free(expected);
        count++;
    }
    assert_int_equal(count, 108);
    cJSON_Delete(json);
}

static void shared_requests(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    cJSON_ArrayForEach(item, vectors_get(json, "connect_tokens"))
    {
        uint8_t bytes[CW_TOKEN_SIZE], expected[CW_REQUEST_SIZE], out[CW_REQUEST_SIZE],
            private_key[CW_KEY_BYTES];
        netcode_bytes(bytes, sizeof(bytes), item, "connect_token");
        netcode_bytes(expected, sizeof(expected), item, "request_packet");
        netcode_bytes(private_key, sizeof(private_key), item, "private_key");
        struct cw_token token;
        assert_int_equal(cw_token_read(&token, bytes, sizeof(bytes)), CW_OK);
        cw_request_write(out, &token);
        assert_memory_equal(out, expected, sizeof(out));
        const struct cw_address address =
            netcode_address(cJSON_GetArrayItem(vectors_get(item, "private_server_addresses"), 0));
        assert_int_equal(read_request(out, sizeof(out), token.protocol_id, token.expire_time - 1,
                                      private_key, &address),
                         CW_OK);
        enum cw_secure_type type;
        assert_int_equal(cw_secure_shape(out, sizeof(out), CW_TO_SERVER, &type), CW_OK);
        assert_int_equal(type, CW_SECURE_REQUEST);
    }
    cJSON_Delete(json);
}

static void shared_ignored(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    int count = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "ignored"))
    {
        const char *rule = cJSON_GetStringValue(vectors_get(item, "rule"));
        size_t size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "packet"), &size);
        const uint64_t id = netcode_u64(item, "protocol_id");
        enum cw_error error;
        if (vectors_get(item, "private_key") && side_of(item) == CW_TO_SERVER) {
            uint8_t private_key[CW_KEY_BYTES];
            netcode_bytes(private_key, sizeof(private_key), item, "private_key");
            struct cw_address address;
            const cJSON *server = vectors_get(item, "server_address");
            if (server)
                address = netcode_address(server);
            error = read_request(bytes, size, id, netcode_u64(item, "current_timestamp"),
                                 private_key, server ? &address : NULL);
        } else {
            uint8_t its_key[CW_KEY_BYTES] = {0};
            if (vectors_get(item, "key"))
                netcode_bytes(its_key, CW_KEY_BYTES, item, "key");
            struct cw_replay replay = window_of(item);
            struct cw_secure_packet packet;
            error = read_exact(&packet, NULL, bytes, size, side_of(item), id, its_key, &replay);
        }
        if (!is_rule(error, rule))
            fail_msg("%s: %s, but: %s", rule, cJSON_GetStringValue(vectors_get(item, "reason")),
                     cw_error_string(error));
        free(bytes);
        count++;
    }
    assert_int_equal(count, 90);
    cJSON_Delete(json);
}

/* All but the replay of sequence 2^64 - 1. */
static void shared_accepted(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item;
    int stricter = 0;
    cJSON_ArrayForEach(item, vectors_get(json, "accepted_by_reference"))
    {
        uint8_t its_key[CW_KEY_BYTES], body[CW_PAYLOAD_MAX];
        netcode_bytes(its_key, CW_KEY_BYTES, item, "key");
        size_t size, body_size;
        uint8_t *bytes = vectors_bytes(vectors_get(item, "packet"), &size);
        uint8_t *expected = vectors_bytes(vectors_get(item, "body"), &body_size);
        struct cw_replay replay = window_of(item);
        struct cw_secure_packet packet;
        const enum cw_error error = read_exact(&packet, body, bytes, size, side_of(item),
                                               netcode_u64(item, "protocol_id"), its_key, &replay);
        if (replay.newest == UINT64_MAX) {
            assert_int_equal(error, CW_ERROR_DUPLICATE);
            stricter++;
        } else {
            assert_int_equal(error, CW_OK);
            assert_int_equal(packet.type, vectors_int(item, "type"));
            assert_true(packet.sequence == netcode_u64(item, "sequence"));
            assert_int_equal(packet.size, body_size);
            assert_memory_equal(body, expected, body_size);
        }
        free(bytes);
        free(expected);
    }
    assert_int_equal(stricter, 1);
    cJSON_Delete(json);
}

static void shared_scenarios(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item, *step;
    cJSON_ArrayForEach(item, vectors_get(json, "scenarios"))
    {
        uint8_t its_key[CW_KEY_BYTES];
        netcode_bytes(its_key, CW_KEY_BYTES, item, "key");
        struct cw_replay replay = {0};
        cJSON_ArrayForEach(step, vectors_get(item, "packets"))
        {
            size_t size;
            uint8_t *bytes = vectors_bytes(vectors_get(step, "packet"), &size);
            const char *result = cJSON_GetStringValue(vectors_get(step, "result"));
            struct cw_secure_packet packet;
            const enum cw_error error =
                read_exact(&packet, NULL, bytes, size, side_of(item),
                           netcode_u64(item, "protocol_id"), its_key, &replay);
            if (strcmp(result, "accept") == 0) {
                assert_int_equal(error, CW_OK);
                assert_int_equal(packet.type, vectors_int(step, "type"));
                assert_true(packet.sequence == netcode_u64(step, "sequence"));
            } else {
                assert_true(is_rule(error, result));
            }
            free(bytes);
        }
    }
    cJSON_Delete(json);
}

static void shared_replay(void **state)
{
    (void)state;
    cJSON *json = vectors_load("netcode.json");
    if (!json)
        skip();
    const cJSON *item, *entry;
    cJSON_ArrayForEach(item, vectors_get(json, "replay"))
    {
        struct cw_replay replay = {0};
        cJSON_ArrayForEach(entry, vectors_get(item, "entries"))
        {
            const uint64_t sequence =
                strtoull(cJSON_GetStringValue(cJSON_GetArrayItem(entry, 0)), NULL, 10);
            const bool accepted = cw_replay_check(&replay, sequence) == CW_OK;
            assert_int_equal(accepted, cJSON_IsTrue(cJSON_GetArrayItem(entry, 1)));
            if (accepted)
                cw_replay_advance(&replay, sequence);
        }
    }
    cJSON_Delete(json);
}

/* The window against a list of everything that came, on walks that start anywhere. */
static void replay_window_forgets_nothing(void **state)
{
    (void)state;
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

static void last_sequence_is_taken_once(void **state)
{
    (void)state;
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX];
    struct cw_replay replay = {0};
    struct cw_secure_packet packet;
    const size_t size =
        cw_secure_write(out, sizeof(out), CW_SECURE_PAYLOAD, UINT64_MAX, "x", 1, protocol_id, key);
    assert_int_equal(size, 26);
    assert_int_equal(
        cw_secure_read(&packet, body, out, size, CW_TO_SERVER, protocol_id, key, &replay), CW_OK);
    assert_int_equal(
        cw_secure_read(&packet, body, out, size, CW_TO_SERVER, protocol_id, key, &replay),
        CW_ERROR_DUPLICATE);
    assert_int_equal(cw_replay_check(&replay, 0), CW_ERROR_STALE);
    assert_int_equal(cw_replay_check(&replay, UINT64_MAX - 255), CW_OK);
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
    return cw_secure_write(out, CW_SECURE_MAX, sample->type, sample->sequence, body,
                           sample->body_size, protocol_id, key);
}

/* Bits of the packet, of the protocol id and of the key; the other direction; every cut; the window
   stays where it is. */
static void altered_packets_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t packet[CW_SECURE_MAX + 1] = {0}, body[CW_PAYLOAD_MAX], changed_key[CW_KEY_BYTES];
        const size_t size = write_sample(packet, sample);
        struct cw_secure_packet out;
        struct cw_replay replay = {0};
        static const struct cw_replay fresh;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(
                read_exact(&out, body, packet, size, sample->direction, protocol_id, key, &replay),
                CW_OK);
            packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut <= size + 1; cut++)
            if (cut != size)
                assert_int_not_equal(read_exact(&out, body, packet, cut, sample->direction,
                                                protocol_id, key, &replay),
                                     CW_OK);
        for (int bit = 0; bit < 64; bit++)
            assert_int_equal(read_exact(&out, body, packet, size, sample->direction,
                                        protocol_id ^ (uint64_t)1 << bit, key, &replay),
                             CW_ERROR_NOT_AUTHENTIC);
        memcpy(changed_key, key, CW_KEY_BYTES);
        changed_key[31] ^= 0x80;
        assert_int_equal(read_exact(&out, body, packet, size, sample->direction, protocol_id,
                                    changed_key, &replay),
                         CW_ERROR_NOT_AUTHENTIC);
        assert_memory_equal(&replay, &fresh, sizeof(replay));
        assert_int_equal(
            read_exact(&out, body, packet, size, sample->direction, protocol_id, key, &replay),
            CW_OK);
        if (sample->type < CW_SECURE_KEEP_ALIVE)
            assert_memory_equal(&replay, &fresh, sizeof(replay));
        else
            assert_int_equal(
                read_exact(&out, body, packet, size, sample->direction, protocol_id, key, &replay),
                CW_ERROR_DUPLICATE);
    }
}

static void types_of_the_other_direction_refused(void **state)
{
    (void)state;
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
            assert_int_equal(read_exact(&out, body, packet, size, other, protocol_id, key, NULL),
                             CW_ERROR_PACKET_TYPE);
            assert_int_equal(cw_secure_shape(packet, size, other, NULL), CW_ERROR_PACKET_TYPE);
        }
}

/* Too short for any packet comes before anything in it. */
static void checks_size_before_type(void **state)
{
    (void)state;
    static const uint8_t bytes[18] = {0x1f};
    uint8_t body[CW_PAYLOAD_MAX];
    struct cw_secure_packet packet;
    assert_int_equal(read_exact(&packet, body, bytes, 17, CW_TO_SERVER, protocol_id, key, NULL),
                     CW_ERROR_PACKET_SHORT);
    assert_int_equal(read_exact(&packet, body, bytes, 18, CW_TO_SERVER, protocol_id, key, NULL),
                     CW_ERROR_PACKET_TYPE);
}

static void writer_refuses(void **state)
{
    (void)state;
    uint8_t out[CW_SECURE_MAX], body[CW_PAYLOAD_MAX + 1] = {0};
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        const size_t size = write_sample(out, sample);
        assert_int_equal(size, cw_secure_body_offset(sample->sequence) + sample->body_size + 16);
        uint8_t *exact = malloc(size);
        assert_int_equal(cw_secure_write(exact, size, sample->type, sample->sequence, body,
                                         sample->body_size, protocol_id, key),
                         size);
        assert_int_equal(cw_secure_write(exact, size - 1, sample->type, sample->sequence, body,
                                         sample->body_size, protocol_id, key),
                         0);
        free(exact);
        if (sample->type != CW_SECURE_PAYLOAD)
            assert_int_equal(cw_secure_write(out, sizeof(out), sample->type, sample->sequence, body,
                                             sample->body_size + 1, protocol_id, key),
                             0);
    }
    assert_int_equal(
        cw_secure_write(out, sizeof(out), CW_SECURE_PAYLOAD, 0, body, 0, protocol_id, key), 0);
    assert_int_equal(
        cw_secure_write(out, 4096, CW_SECURE_PAYLOAD, 0, body, sizeof(body), protocol_id, key), 0);
    assert_int_equal(
        cw_secure_write(out, sizeof(out), CW_SECURE_REQUEST, 0, body, 0, protocol_id, key), 0);
}

static void body_is_encrypted_in_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *sample = &samples[i];
        uint8_t apart[CW_SECURE_MAX], within[CW_SECURE_MAX];
        const size_t size = write_sample(apart, sample);
        uint8_t *body = within + cw_secure_body_offset(sample->sequence);
        for (size_t k = 0; k < sample->body_size; k++)
            body[k] = (uint8_t)(k * 7 + sample->type);
        assert_int_equal(cw_secure_write(within, sizeof(within), sample->type, sample->sequence,
                                         body, sample->body_size, protocol_id, key),
                         size);
        assert_memory_equal(within, apart, size);
    }
}

/* Everything that reads as a packet has the shape of one, with no key needed. */
static void shape(void **state)
{
    (void)state;
    enum cw_secure_type type;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint8_t packet[CW_SECURE_MAX + 1] = {0};
        const size_t size = write_sample(packet, &samples[i]);
        assert_int_equal(cw_secure_shape(packet, size, samples[i].direction, &type), CW_OK);
        assert_int_equal(type, samples[i].type);
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
    assert_int_equal(cw_secure_shape(request, sizeof(request), CW_TO_SERVER, NULL),
                     CW_ERROR_VERSION);
    memcpy(request + 1, CW_VERSION, CW_VERSION_SIZE);
    assert_int_equal(cw_secure_shape(request, sizeof(request), CW_TO_SERVER, &type), CW_OK);
    assert_int_equal(type, CW_SECURE_REQUEST);
    for (size_t cut = 1; cut < sizeof(request); cut++) {
        uint8_t *exact = netcode_exact(request, cut);
        assert_int_equal(cw_secure_shape(exact, cut, CW_TO_SERVER, NULL), CW_ERROR_REQUEST_SIZE);
        free(exact);
    }
    assert_int_equal(cw_secure_shape(request, sizeof(request), CW_TO_CLIENT, NULL),
                     CW_ERROR_PACKET_TYPE);
}

static bool write_golden;

static void golden_packets(void **state)
{
    (void)state;
    static const char *const names[] = {"denied",     "challenge", "response",   "keep_alive",
                                        "keep_alive", "payload_1", "payload_77", "payload_1200",
                                        "disconnect", "disconnect"};
    struct golden golden = golden_open(CAUSEWAY_GOLDEN "/secure_packet.txt", write_golden);
    for (size_t i = 0; i < SAMPLES; i++) {
        uint8_t packet[CW_SECURE_MAX];
        const size_t size = write_sample(packet, &samples[i]);
        assert_true(golden_bytes(&golden, names[i], packet, size));
    }
    struct cw_token token = {.protocol_id = protocol_id, .expire_time = 1900000045, .nonce = {3}};
    for (size_t i = 0; i < sizeof(token.sealed); i++)
        token.sealed[i] = (uint8_t)i;
    uint8_t request[CW_REQUEST_SIZE];
    cw_request_write(request, &token);
    assert_true(golden_bytes(&golden, "request", request, sizeof(request)));
    assert_true(golden_close(&golden));
}

int main(int argc, char **argv)
{
    write_golden = argc > 1 && strcmp(argv[1], "--write-golden") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_packets),
        cmocka_unit_test(shared_requests),
        cmocka_unit_test(shared_ignored),
        cmocka_unit_test(shared_accepted),
        cmocka_unit_test(shared_scenarios),
        cmocka_unit_test(shared_replay),
        cmocka_unit_test(replay_window_forgets_nothing),
        cmocka_unit_test(last_sequence_is_taken_once),
        cmocka_unit_test(altered_packets_refused),
        cmocka_unit_test(types_of_the_other_direction_refused),
        cmocka_unit_test(checks_size_before_type),
        cmocka_unit_test(writer_refuses),
        cmocka_unit_test(body_is_encrypted_in_place),
        cmocka_unit_test(shape),
        cmocka_unit_test(golden_packets),
    };
    return cmocka_run_group_tests_name("secure_packet", tests, NULL, NULL);
}
