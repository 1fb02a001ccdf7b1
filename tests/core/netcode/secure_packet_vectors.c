/* Packets and the replay window against the shared vectors. */
#include "fixture.h"
#include "netcode.h"

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
        assert_ok(cw_replay_check(&replay, sequence));
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
    enum cw_error error = cw_request_parse(data, size, &request);
    if (!error)
        error = cw_request_check(&request, id, now);
    if (!error)
        error = cw_request_open(&request, private_key, &token);
    if (!error && address && !cw_token_names(&token, address, 1))
        error = CW_ERROR_TOKEN_SERVER;
    return error;
}

TEST(shared_packets)
{
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
            cw_secure_write(
                &(struct cw_secure_packet){
                    .type = type, .sequence = sequence, .body = expected_body, .size = body_size},
                &(struct cw_secure_key){.protocol_id = id, .bytes = its_key}, out, size),
            size);
        assert_memory_equal(out, expected, size);

        const bool to_server = type == CW_SECURE_RESPONSE || type > CW_SECURE_CHALLENGE;
        struct cw_secure_packet packet;
        struct cw_replay replay = {0};
        assert_ok(netcode_read(&packet, body, expected, size,
                               netcode_key(to_server ? CW_TO_SERVER : CW_TO_CLIENT, id, its_key),
                               &replay));
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
            cw_keep_alive_put(index, max, out);
            assert_memory_equal(out, expected_body, CW_KEEP_ALIVE_SIZE);
        }
        if (type == CW_SECURE_CHALLENGE || type == CW_SECURE_RESPONSE) {
            uint64_t challenge;
            const uint8_t *token = cw_challenge_get(body, &challenge);
            cw_challenge_put(challenge, token, out);
            assert_memory_equal(out, expected_body, CW_CHALLENGE_BODY_SIZE);
        }
        free(expected_body);
        free(expected);
        count++;
    }
    assert_int_equal(count, 108);
    cJSON_Delete(json);
}

TEST(shared_requests)
{
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
        assert_ok(cw_token_read(bytes, sizeof(bytes), &token));
        cw_request_write(&token, out);
        assert_memory_equal(out, expected, sizeof(out));
        const struct cw_address address =
            netcode_address(cJSON_GetArrayItem(vectors_get(item, "private_server_addresses"), 0));
        assert_ok(read_request(out, sizeof(out), token.protocol_id, token.expire_time - 1,
                               private_key, &address));
        enum cw_secure_type type;
        assert_ok(cw_secure_shape(out, sizeof(out), CW_TO_SERVER, &type));
        assert_int_equal(type, CW_SECURE_REQUEST);
    }
    cJSON_Delete(json);
}

TEST(shared_ignored)
{
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
            error = netcode_read(&packet, NULL, bytes, size,
                                 netcode_key(side_of(item), id, its_key), &replay);
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
TEST(shared_accepted)
{
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
        const enum cw_error error = netcode_read(
            &packet, body, bytes, size,
            netcode_key(side_of(item), netcode_u64(item, "protocol_id"), its_key), &replay);
        if (replay.newest == UINT64_MAX) {
            assert_int_equal(error, CW_ERROR_DUPLICATE);
            stricter++;
        } else {
            assert_ok(error);
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

TEST(shared_scenarios)
{
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
            const enum cw_error error = netcode_read(
                &packet, NULL, bytes, size,
                netcode_key(side_of(item), netcode_u64(item, "protocol_id"), its_key), &replay);
            if (strcmp(result, "accept") == 0) {
                assert_ok(error);
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

TEST(shared_replay)
{
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
