#include "causeway/endpoint.h"
#include "exports/exports.h"

enum {
    MAX_PACKET_SIZE,
    FRAGMENT_SIZE,
    MAX_SEND_SIZE,
    FRAGMENT_ABOVE,
    SENT_WINDOW,
    RECEIVED_WINDOW,
    MAX_REASSEMBLIES,
    RTT_SMOOTHING,
    MIN_LOSS_TIMEOUT_SECONDS,
    ENDPOINT_NUMBERS
};
_Static_assert(ENDPOINT_NUMBERS == CW_ENDPOINT_NUMBERS, "exports.h tells another number");

void cw_set_endpoint(struct cw_endpoint_config *config, const double *numbers)
{
    cw_set_u32(&config->max_packet_size, numbers[MAX_PACKET_SIZE]);
    cw_set_u32(&config->fragment_size, numbers[FRAGMENT_SIZE]);
    cw_set_u32(&config->max_send_size, numbers[MAX_SEND_SIZE]);
    cw_set_u32(&config->fragment_above, numbers[FRAGMENT_ABOVE]);
    cw_set_u32(&config->sent_window, numbers[SENT_WINDOW]);
    cw_set_u32(&config->received_window, numbers[RECEIVED_WINDOW]);
    cw_set_u32(&config->max_reassemblies, numbers[MAX_REASSEMBLIES]);
    cw_set_f64(&config->rtt_smoothing, numbers[RTT_SMOOTHING]);
    cw_set_f64(&config->min_loss_timeout_seconds, numbers[MIN_LOSS_TIMEOUT_SECONDS]);
}

/* The endpoint goes to u32[0], its max_packet_size to u32[1]. */
CW_EXPORT(endpoint_create) enum cw_error endpoint_create(const double *numbers)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    cw_set_endpoint(&config, numbers);
    struct cw_endpoint *endpoint = NULL;
    const enum cw_error error = cw_endpoint_create(&config, &endpoint);
    cw_scratch.u32[0] = (uint32_t)(uintptr_t)endpoint;
    cw_scratch.u32[1] = config.max_packet_size;
    return error;
}

CW_EXPORT(endpoint_destroy) void endpoint_destroy(struct cw_endpoint *endpoint)
{
    cw_endpoint_destroy(endpoint);
}

CW_EXPORT(endpoint_reset) void endpoint_reset(struct cw_endpoint *endpoint)
{
    cw_endpoint_reset(endpoint);
}

CW_EXPORT(endpoint_max_datagram_size)
size_t endpoint_max_datagram_size(const struct cw_endpoint *endpoint)
{
    return cw_endpoint_max_datagram_size(endpoint);
}

CW_EXPORT(endpoint_next_sequence)
uint32_t endpoint_next_sequence(const struct cw_endpoint *endpoint)
{
    return cw_endpoint_next_sequence(endpoint);
}

/* The sequence number goes to u32[0]. */
CW_EXPORT(endpoint_send)
enum cw_error endpoint_send(struct cw_endpoint *endpoint, const uint8_t *payload, size_t size,
                            double now)
{
    uint16_t sequence = 0;
    const enum cw_error error = cw_endpoint_send(endpoint, payload, size, now, &sequence);
    cw_scratch.u32[0] = sequence;
    return error;
}

CW_EXPORT(endpoint_transmit)
size_t endpoint_transmit(struct cw_endpoint *endpoint, uint8_t *out, size_t capacity, double now)
{
    return cw_endpoint_transmit(endpoint, out, capacity, now);
}

CW_EXPORT(endpoint_receive)
enum cw_error endpoint_receive(struct cw_endpoint *endpoint, const uint8_t *data, size_t size,
                               double now)
{
    return cw_endpoint_receive(endpoint, data, size, now);
}

CW_EXPORT(endpoint_update) void endpoint_update(struct cw_endpoint *endpoint, double now)
{
    cw_endpoint_update(endpoint, now);
}

/* The type of the event, 0 when there is none; sequence, payload and size go to u32[0] to [2]. */
CW_EXPORT(endpoint_next) uint32_t endpoint_next(struct cw_endpoint *endpoint)
{
    struct cw_endpoint_event event;
    if (!cw_endpoint_next(endpoint, &event))
        return 0;
    cw_scratch.u32[0] = event.sequence;
    cw_scratch.u32[1] = (uint32_t)(uintptr_t)event.payload;
    cw_scratch.u32[2] = (uint32_t)event.size;
    return event.type;
}

CW_EXPORT(endpoint_refuse) void endpoint_refuse(struct cw_endpoint *endpoint, uint32_t sequence)
{
    cw_endpoint_refuse(endpoint, (uint16_t)sequence);
}

/* The struct as it is goes to the scratch area; all its fields have 8 bytes. */
CW_EXPORT(endpoint_stats) void endpoint_stats(const struct cw_endpoint *endpoint)
{
    _Static_assert(sizeof(struct cw_endpoint_stats) <= sizeof cw_scratch,
                   "the scratch is too small");
    cw_endpoint_stats(endpoint, (struct cw_endpoint_stats *)cw_scratch.bytes);
}
