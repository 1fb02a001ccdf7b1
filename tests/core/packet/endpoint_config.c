/* Tests of the values that an endpoint's config may have, and of its memory. */
#include "fixture.h"

#include "config_error.h"
#include "endpoints.h"

static struct seen seen;

TEST(test_defaults_are_those_of_the_header)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    assert_int_equal(config.max_packet_size, 4096);
    assert_int_equal(config.fragment_size, 1024);
    assert_int_equal(config.max_send_size, CW_AUTO);
    assert_int_equal(config.fragment_above, 1024);
    assert_int_equal(config.sent_window, 256);
    assert_int_equal(config.received_window, 256);
    assert_int_equal(config.max_reassemblies, 4);
    assert_true(unit_same(config.rtt_smoothing, 0.1));
    assert_true(unit_same(config.min_loss_timeout_seconds, 0.1));
    assert_null(config.allocator.allocate);
}

struct counting {
    size_t allocations, releases, size;
    void *memory;
    bool empty;
};

static void *count_allocate(void *context, size_t size)
{
    struct counting *counting = context;
    counting->allocations++;
    if (counting->empty)
        return NULL;
    counting->size = size;
    counting->memory = malloc(size);
    memset(counting->memory, 0x5A, size);
    return counting->memory;
}

static void count_release(void *context, void *memory, size_t size)
{
    struct counting *counting = context;
    counting->releases++;
    assert_ptr_equal(memory, counting->memory);
    assert_int_equal(size, counting->size);
    free(memory);
}

static void refuse_config(struct cw_endpoint_config config, const char *field)
{
    struct counting counting = {0};
    struct cw_endpoint *const untouched = (struct cw_endpoint *)(void *)&counting;
    struct cw_endpoint *endpoint = untouched;
    config.allocator = (struct cw_allocator){count_allocate, count_release, &counting};
    assert_error_names(cw_endpoint_create(&config, &endpoint), field);
    assert_ptr_equal(endpoint, untouched);
    assert_int_equal(cw_endpoint_memory(&config), 0);
    assert_int_equal(counting.allocations, 0);
}

static void accept_config(struct cw_endpoint_config config)
{
    assert_true(cw_endpoint_memory(&config) > 0);
    endpoint_with(&config);
}

#define CONFIG_WITH(field, value) (with = cw_endpoint_config_default(), with.field = (value), with)

TEST(test_a_config_that_cannot_work_is_refused_by_name)
{
    struct cw_endpoint_config with;
    refuse_config(CONFIG_WITH(sent_window, 32768), "sent_window");
    refuse_config(CONFIG_WITH(received_window, 32768), "received_window");
    refuse_config(CONFIG_WITH(sent_window, 100), "sent_window");
    refuse_config(CONFIG_WITH(received_window, 0), "received_window");
    refuse_config(CONFIG_WITH(max_packet_size, 256 * 1024 + 1), "max_packet_size");
    refuse_config(CONFIG_WITH(max_packet_size, UINT32_MAX), "max_packet_size");
    refuse_config(CONFIG_WITH(max_send_size, 4097), "max_send_size");
    refuse_config(CONFIG_WITH(fragment_size, 15), "max_packet_size");
}

TEST(test_configs_at_the_limits_are_accepted)
{
    struct cw_endpoint_config with;
    for (uint32_t window = 32; window <= 16384; window *= 2) {
        with = cw_endpoint_config_default();
        with.sent_window = with.received_window = window;
        accept_config(with);
    }
    accept_config(CONFIG_WITH(max_packet_size, 1));
    accept_config(CONFIG_WITH(max_packet_size, 256 * 1024));
    accept_config(CONFIG_WITH(max_send_size, 1));
    accept_config(CONFIG_WITH(max_send_size, 4096));
    accept_config(CONFIG_WITH(fragment_size, 16));
    accept_config(CONFIG_WITH(fragment_size, 65493));
    accept_config(CONFIG_WITH(fragment_above, 1));
    accept_config(CONFIG_WITH(fragment_above, 65493));
    accept_config(CONFIG_WITH(max_reassemblies, 1));
    accept_config(CONFIG_WITH(max_reassemblies, 64));
    accept_config(CONFIG_WITH(rtt_smoothing, 1));
    accept_config(CONFIG_WITH(min_loss_timeout_seconds, 0));
    accept_config(CONFIG_WITH(min_loss_timeout_seconds, 60));
}

static void use_for_a_while(struct cw_endpoint *a, struct cw_endpoint *b,
                            const struct cw_endpoint_config *config)
{
    struct wire wire;
    uint8_t *payload = malloc(config->max_packet_size);
    for (uint32_t i = 0; i < 2000; i++) {
        struct cw_endpoint *from = i % 2 ? a : b, *to = i % 2 ? b : a;
        const size_t size = i * 97 % (config->max_packet_size + 1);
        fill_payload(payload, size, i);
        wire_send(&wire, from, payload, size, i * 0.01);
        if (i % 7)
            wire_deliver(&wire, to, i * 0.01, &seen);
        else if (wire.count > 1) /* leaves the packet incomplete */
            receive_bytes(to, wire.datagrams[1].data, wire.datagrams[1].size, i * 0.01, &seen);
        wire_free(&wire);
        cw_endpoint_update(a, i * 0.01);
        cw_endpoint_update(b, i * 0.01);
        seen_take(&seen, a);
        seen_take(&seen, b);
    }
    free(payload);
}

TEST(test_memory_is_one_allocation_of_the_size_told)
{
    struct cw_endpoint_config configs[4];
    for (size_t i = 0; i < 4; i++)
        configs[i] = cw_endpoint_config_default();
    configs[1].max_packet_size = 1000; /* such packets are never cut up */
    configs[2].max_packet_size = 5001;
    configs[2].fragment_size = 333;
    configs[2].fragment_above = 100;
    configs[2].max_reassemblies = 7;
    configs[3].sent_window = 32;
    configs[3].received_window = 1024;
    configs[3].max_packet_size = 1;
    for (size_t i = 0; i < 4; i++) {
        struct counting counting[2] = {{0}};
        struct cw_endpoint *ends[2];
        for (int j = 0; j < 2; j++) {
            struct cw_endpoint_config config = configs[i];
            config.allocator = (struct cw_allocator){count_allocate, count_release, &counting[j]};
            assert_int_equal(cw_endpoint_create(&config, &ends[j]), CW_OK);
            assert_int_equal(counting[j].size, cw_endpoint_memory(&configs[i]));
        }
        use_for_a_while(ends[0], ends[1], &configs[i]);
        for (int j = 0; j < 2; j++) {
            cw_endpoint_reset(ends[j]);
            assert_int_equal(counting[j].allocations, 1);
            assert_int_equal(counting[j].releases, 0);
            cw_endpoint_destroy(ends[j]);
            assert_int_equal(counting[j].allocations, 1);
            assert_int_equal(counting[j].releases, 1);
        }
        seen_clear(&seen);
    }
}

TEST(test_a_default_endpoint_fits_into_32_kilobytes)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    assert_true(cw_endpoint_memory(&config) <= 32768);
}

TEST(test_what_an_end_does_not_send_takes_no_memory)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    const size_t memory = cw_endpoint_memory(&config);
    config.max_send_size = 1000;
    assert_true(cw_endpoint_memory(&config) <= memory - 4096); /* no packet is cut up */
    assert_int_equal(cw_endpoint_config_max_datagram_size(&config), 1000 + 9);
    struct cw_endpoint *e = endpoint_with(&config);
    uint8_t out[1009], *place;
    assert_int_equal(cw_endpoint_begin(e, 1001, out, sizeof out, &place),
                     CW_ERROR_PACKET_TOO_LARGE);
    assert_int_equal(cw_endpoint_begin(e, 1000, out, sizeof out, &place), CW_OK);
    assert_int_equal(cw_endpoint_commit(e, 1000, 0, NULL), 1000 + 8);
}

TEST(test_an_empty_allocator_is_an_error)
{
    struct counting counting = {.empty = true};
    struct cw_endpoint *const untouched = (struct cw_endpoint *)(void *)&counting;
    struct cw_endpoint *endpoint = untouched;
    struct cw_endpoint_config config = cw_endpoint_config_default();
    config.allocator = (struct cw_allocator){count_allocate, count_release, &counting};
    assert_int_equal(cw_endpoint_create(&config, &endpoint), CW_ERROR_NO_MEMORY);
    assert_ptr_equal(endpoint, untouched);
    assert_int_equal(counting.releases, 0);
}

TEST(test_destroying_nothing_is_allowed)
{
    cw_endpoint_destroy(NULL);
}
