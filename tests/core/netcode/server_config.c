/* A server is made with a config. */
#include "config_error.h"
#include "counted.h"
#include "secure_rig.h"

#include <math.h>

TEST(one_allocation)
{
    static struct counted counted;
    counted = (struct counted){0};
    struct rig rig;
    rig_init(&rig);
    rig.config.allocator = counted_allocator(&counted);
    rig_start(&rig);
    assert_int_equal(counted.size, cw_netcode_server_memory(&rig.config));
    const struct cw_address at = rig_client_address(1);
    struct cw_netcode_client *client = rig_client(&rig, 1);
    rig_connect(&rig, client, &at);
    assert_int_equal(counted.allocations, 1);
    end_owned(rig.server);
    assert_int_equal(counted.releases, 1);
    assert_int_equal(counted.released, counted.size);
    counted.refuse = true;
    assert_int_equal(cw_netcode_server_create(&rig.config, &rig.server), CW_ERROR_NO_MEMORY);
}

TEST(defaults)
{
    const struct cw_netcode_server_config config = cw_netcode_server_config_default();
    assert_int_equal(config.max_clients, 64);
    assert_int_equal(config.max_pending, CW_AUTO);
    assert_int_equal(config.token_history, CW_AUTO);
    assert_true(config.fingerprint == 0);
    assert_int_equal(config.max_token_life_seconds, 50);
    assert_true(config.requests_per_second == 5000);
    assert_true(config.client_datagrams_per_second == 2000);
    assert_true(unit_same(config.keep_alive_seconds, 0.1));
    assert_int_equal(config.disconnect_packets, 10);
    assert_false(config.insecure);
    struct rig rig;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    for (uint32_t clients = 63; clients <= 65; clients++) {
        struct cw_netcode_server_config spelled = rig.config;
        rig.config.max_clients = spelled.max_clients = clients;
        spelled.max_pending = 2 * clients;
        spelled.token_history = clients < 64 ? 1024 : 16 * clients;
        assert_int_equal(cw_netcode_server_memory(&rig.config), cw_netcode_server_memory(&spelled));
        spelled.max_pending++;
        assert_int_not_equal(cw_netcode_server_memory(&rig.config),
                             cw_netcode_server_memory(&spelled));
        spelled.max_pending--;
        spelled.token_history++;
        assert_int_not_equal(cw_netcode_server_memory(&rig.config),
                             cw_netcode_server_memory(&spelled));
    }
}

/* The config that was given to create may be gone or change afterwards. */
TEST(config_is_copied)
{
    struct rig rig;
    rig_init(&rig);
    rig_start(&rig);
    const struct cw_address at = rig_client_address(1);
    const struct cw_token_grant grant = rig_grant(&rig, 1);
    uint8_t token[CW_TOKEN_SIZE];
    assert_ok(cw_token_generate(&grant, rig_key, token));
    rig.address.port++;
    assert_ok(rig_give_token(&rig, &at, token));
}

/* Where the time of all calls is the Unix time, the offset is 0, and has to be said. */
TEST(the_clock_may_be_unix_time)
{
    struct rig rig;
    rig_init(&rig);
    rig.now = RIG_UNIX;
    rig.config.unix_offset_seconds = 0;
    rig_start(&rig);
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_token_grant grant = rig_grant(&rig, 1);
    grant.create_time = (uint64_t)rig.now;
    struct cw_netcode_client *client = rig_client_of(&rig, &config, &grant);
    const struct cw_address at = rig_client_address(1);
    rig_connect(&rig, client, &at);
}

TEST(configs_refused)
{
    struct rig rig;
    struct cw_netcode_server *server;
    rig_init(&rig);
    rig.config.addresses = &rig.address;
    const struct cw_netcode_server_config good = rig.config;
    struct cw_netcode_server_config bad = good;
    const struct cw_address none = {0};
    struct cw_address many[CW_TOKEN_MAX_ADDRESSES], second_none[2] = {rig.address};
    for (size_t i = 0; i < CW_TOKEN_MAX_ADDRESSES; i++)
        many[i] = rig.address;
    assert_true(cw_netcode_server_memory(&good) > 0);
#define REFUSED(change)                                                                            \
    bad = good;                                                                                    \
    bad.change;                                                                                    \
    assert_error_names(cw_netcode_server_create(&bad, &server), #change);                          \
    assert_int_equal(cw_netcode_server_memory(&bad), 0)
#define TAKEN(change)                                                                              \
    bad = good;                                                                                    \
    bad.change;                                                                                    \
    assert_true(cw_netcode_server_memory(&bad) > 0)
    TAKEN(max_pending = 65536);
    TAKEN(token_history = 1u << 24);
    TAKEN(max_pending = 1; memset(bad.private_key, 0, CW_KEY_BYTES - 1);
          bad.private_key[CW_KEY_BYTES - 1] = 1);
    memcpy(bad.private_key, CW_TOKEN_INSECURE_KEY, CW_KEY_BYTES);
    assert_int_equal(cw_netcode_server_create(&bad, &server), CW_ERROR_KEY);
    TAKEN(insecure = true; memset(bad.private_key, 0, CW_KEY_BYTES));
    TAKEN(addresses = many; bad.address_count = 32);
    REFUSED(addresses = second_none; bad.address_count = 2);
    REFUSED(addresses = &none);
    TAKEN(keep_alive_seconds = 10);
    TAKEN(requests_per_second = 0.1);
    TAKEN(client_datagrams_per_second = 0.1);
    REFUSED(unix_offset_seconds = cw_netcode_server_config_default().unix_offset_seconds);
    REFUSED(unix_offset_seconds = -INFINITY);
    TAKEN(unix_offset_seconds = 0);
    TAKEN(unix_offset_seconds = -1e9);
    TAKEN(disconnect_packets = 1);
    TAKEN(disconnect_packets = 100);
#undef REFUSED
#undef TAKEN
    cw_netcode_server_destroy(NULL);
}
