/* Keys of a connection are nowhere in the memory of client and server once they are of no more use.
 */
#include "client_bench.h"
#include "counted.h"

static struct cw_token parts_of(const uint8_t bytes[CW_TOKEN_SIZE])
{
    struct cw_token token;
    assert_ok(cw_token_read(bytes, CW_TOKEN_SIZE, &token));
    return token;
}

static void expect_keys(const struct counted *counted, const struct cw_token *token, bool there)
{
    assert_int_equal(counted_holds(counted, token->client_to_server_key, CW_KEY_BYTES), there);
    assert_int_equal(counted_holds(counted, token->server_to_client_key, CW_KEY_BYTES), there);
}

TEST(keys_of_a_slot)
{
    const struct cw_netcode_client_config client_config = cw_netcode_client_config_default();
    for (int by_server = 0; by_server < 2; by_server++) {
        static struct counted counted;
        counted = (struct counted){0};
        struct rig rig;
        rig_init(&rig);
        rig.config.allocator = counted_allocator(&counted);
        rig_start(&rig);
        const struct cw_address at = rig_client_address(1);
        uint8_t bytes[CW_TOKEN_SIZE];
        rig_token(&rig, bytes, 1);
        const struct cw_token token = parts_of(bytes);
        struct cw_netcode_client *client = rig_client_with(&rig, &client_config, bytes);
        expect_keys(&counted, &token, false);
        rig_challenge(&rig, client, &at);
        expect_keys(&counted, &token, true);
        const uint32_t slot = rig_connect(&rig, client, &at);
        expect_keys(&counted, &token, true);
        if (by_server)
            cw_netcode_server_disconnect(rig.server, slot, 0, NULL);
        else
            cw_netcode_client_disconnect(client);
        rig_up(&rig, client, &at);
        rig_drain(&rig, NULL);
        rig_down(&rig, client, &at);
        expect_keys(&counted, &token, false);
        end_owned(rig.server);
        assert_true(counted.wiped);
    }
}

TEST(keys_of_a_pending_client)
{
    static struct counted counted;
    counted = (struct counted){0};
    struct rig rig;
    rig_init(&rig);
    rig.config.allocator = counted_allocator(&counted);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    uint8_t bytes[2][CW_TOKEN_SIZE];
    rig_token(&rig, bytes[0], 1);
    rig_token(&rig, bytes[1], 2);
    const struct cw_token tokens[2] = {parts_of(bytes[0]), parts_of(bytes[1])};
    assert_ok(rig_give_token(&rig, &at, bytes[0]));
    expect_keys(&counted, &tokens[0], true);
    assert_ok(rig_give_token(&rig, &at, bytes[1]));
    expect_keys(&counted, &tokens[0], false);
    expect_keys(&counted, &tokens[1], true);
    rig.now += 5.01;
    cw_netcode_server_update(rig.server, rig.now);
    expect_keys(&counted, &tokens[1], false);
    end_owned(rig.server);
    assert_true(counted.wiped);
}

TEST(keys_of_a_denial)
{
    static struct counted counted;
    counted = (struct counted){0};
    struct rig rig;
    rig_init(&rig);
    rig.config.max_clients = 1;
    rig.config.allocator = counted_allocator(&counted);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1), other = rig_client_address(2);
    struct cw_netcode_client *client = rig_client(&rig, 1);
    rig_connect(&rig, client, &at);
    uint8_t bytes[CW_TOKEN_SIZE];
    rig_token(&rig, bytes, 2);
    const struct cw_token token = parts_of(bytes);
    assert_int_equal(rig_give_token(&rig, &other, bytes), CW_ERROR_SERVER_FULL);
    assert_true(counted_holds(&counted, token.server_to_client_key, CW_KEY_BYTES));
    rig_down(&rig, NULL, NULL);
    expect_keys(&counted, &token, false);
}

/* A client that keeps count of its memory, in the place of the bench's own. */
static struct bench counted_bench(struct counted *counted)
{
    struct bench bench = bench_setup(1, 5, 45);
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    config.allocator = counted_allocator(counted);
    config.fingerprint = 5;
    bench.client = netcode_client_with(&config);
    assert_ok(cw_netcode_client_connect(bench.client, bench.bytes, CW_TOKEN_SIZE, bench.now));
    expect_keys(counted, &bench.token, true);
    return bench;
}

TEST(keys_of_a_client)
{
    enum { DENIED, TIMED_OUT, DISCONNECTS, IS_DISCONNECTED, DESTROYED, WAYS };
    for (int way = 0; way < WAYS; way++) {
        static struct counted counted;
        counted = (struct counted){0};
        struct bench bench = counted_bench(&counted);
        uint8_t body[CW_PAYLOAD_MAX];
        if (way == DENIED) {
            bench_give_denied(&bench);
        } else if (way == TIMED_OUT) {
            bench_pass(&bench, 5);
        } else {
            bench_to_connected(&bench);
            expect_keys(&counted, &bench.token, true);
        }
        if (way == DISCONNECTS) {
            cw_netcode_client_disconnect(bench.client);
            for (int i = 0; i < 10; i++) {
                expect_keys(&counted, &bench.token, true);
                assert_int_equal(bench_take(&bench, body, NULL), CW_SECURE_DISCONNECT);
            }
        } else if (way == IS_DISCONNECTED) {
            bench_give(&bench, CW_SECURE_DISCONNECT, 1000, NULL, 0);
        }
        expect_keys(&counted, &bench.token, way == DESTROYED);
        end_owned(bench.client);
        assert_true(counted.wiped);
    }
}

/* The client refuses the token because of its schema. */
TEST(keys_of_a_refused_token)
{
    static struct counted counted;
    counted = (struct counted){0};
    struct bench bench = counted_bench(&counted);
    struct rig rig = {.address = bench.servers[0], .seed = 1};
    struct cw_token_grant grant = rig_grant(&rig, 1);
    grant.fingerprint = 6;
    uint8_t bytes[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, rig_key, bytes));
    const struct cw_token token = parts_of(bytes);
    cw_netcode_client_disconnect(bench.client);
    assert_int_equal(cw_netcode_client_connect(bench.client, bytes, sizeof(bytes), bench.now),
                     CW_ERROR_SCHEMA);
    expect_keys(&counted, &token, false);
    expect_keys(&counted, &bench.token, false);
}
