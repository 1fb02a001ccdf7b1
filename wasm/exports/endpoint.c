#include "causeway/endpoint.h"
#include "exports/exports.h"

void cw_set_endpoint(struct cw_endpoint_config *config, const struct cw_endpoint_numbers *numbers)
{
    cw_set_u32(&config->max_packet_size, numbers->max_packet_size);
    cw_set_u32(&config->fragment_size, numbers->fragment_size);
    cw_set_u32(&config->max_send_size, numbers->max_send_size);
    cw_set_u32(&config->fragment_above, numbers->fragment_above);
    cw_set_u32(&config->sent_window, numbers->sent_window);
    cw_set_u32(&config->received_window, numbers->received_window);
    cw_set_u32(&config->max_reassemblies, numbers->max_reassemblies);
    cw_set_f64(&config->rtt_smoothing, numbers->rtt_smoothing);
    cw_set_f64(&config->min_loss_timeout_seconds, numbers->min_loss_timeout_seconds);
}

/* The addresses of what this has made go to the scratch area. */
CW_EXPORT(endpoint_create)
enum cw_error endpoint_create(const struct cw_endpoint_numbers *numbers)
{
    struct cw_endpoint_config config = cw_endpoint_config_default();
    cw_set_endpoint(&config, numbers);
    struct cw_endpoint *endpoint = NULL;
    const enum cw_error error = cw_endpoint_create(&config, &endpoint);
    cw_scratch.created = (struct cw_created){
        .object = cw_place(endpoint),
        .max_datagram_size = (uint32_t)cw_endpoint_max_datagram_size(endpoint),
        .max_packet_size = config.max_packet_size,
    };
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

CW_EXPORT(endpoint_next_sequence)
uint32_t endpoint_next_sequence(const struct cw_endpoint *endpoint)
{
    return cw_endpoint_next_sequence(endpoint);
}

/* The address of the payload goes to the scratch area. */
CW_EXPORT(endpoint_begin)
enum cw_error endpoint_begin(struct cw_endpoint *endpoint, size_t size, uint8_t *out,
                             size_t capacity)
{
    uint8_t *payload = NULL;
    const enum cw_error error = cw_endpoint_begin(endpoint, size, out, capacity, &payload);
    cw_scratch.number = cw_place(payload);
    return error;
}

CW_EXPORT(endpoint_commit)
size_t endpoint_commit(struct cw_endpoint *endpoint, size_t size, double now)
{
    return cw_endpoint_commit(endpoint, size, now, NULL);
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

/* Returns the type of the event, 0 when there is none; the rest of it goes to the scratch area. */
CW_EXPORT(endpoint_next) uint32_t endpoint_next(struct cw_endpoint *endpoint)
{
    struct cw_endpoint_event event;
    if (!cw_endpoint_next(endpoint, &event))
        return 0;
    cw_scratch.endpoint_news = (struct cw_endpoint_news){
        .sequence = event.sequence,
        .payload = cw_place(event.payload),
        .size = (uint32_t)event.size,
    };
    return event.type;
}

CW_EXPORT(endpoint_accept) void endpoint_accept(struct cw_endpoint *endpoint, uint32_t sequence)
{
    cw_endpoint_accept(endpoint, (uint16_t)sequence);
}

/* The struct goes to the scratch area unchanged. */
CW_EXPORT(endpoint_stats) void endpoint_stats(const struct cw_endpoint *endpoint)
{
    cw_endpoint_stats(endpoint, &cw_scratch.endpoint_stats);
}
