#include "causeway/lab/window_config.h"

#define MAX_BUFFER       (UINT32_C(1) << 30)
#define MAX_SEGMENT_SIZE 65000
#define MAX_SEGMENTS     65536
#define MAX_RTO          3600
#define MAX_ACK_DELAY    0.5

struct cw_window_config cw_window_config_default(void)
{
    return (struct cw_window_config){
        .receive_buffer_bytes = 262144,
        .selective_acks = true,
        .max_segment_size = 1160,
        .send_buffer_bytes = 262144,
        .max_segments = 1024,
        .control = CW_WINDOW_CUBIC,
        .initial_window = 10,
        .initial_rto_seconds = 1,
        .min_variance_seconds = 0.2,
        .max_rto_seconds = 120,
        .ack_delay_seconds = 0.04,
    };
}

static bool within(uint32_t value, uint32_t most)
{
    return value >= 1 && value <= most;
}

/* Written so that NaN is refused. */
enum cw_error cw_window_config_check(const struct cw_window_config *config)
{
    if (!config)
        return CW_ERROR_INVALID_ARGUMENT;
    if (!within(config->max_segment_size, MAX_SEGMENT_SIZE))
        return CW_ERROR_CONFIG_PACKET_SIZE;
    if (!within(config->send_buffer_bytes, MAX_BUFFER) ||
        !within(config->receive_buffer_bytes, MAX_BUFFER) ||
        !within(config->max_segments, MAX_SEGMENTS) ||
        !within(config->initial_window, config->max_segments) ||
        (config->control != CW_WINDOW_RENO && config->control != CW_WINDOW_CUBIC))
        return CW_ERROR_CONFIG_WINDOW;
    if (!(config->initial_rto_seconds > 0 && config->min_variance_seconds > 0 &&
          config->min_variance_seconds <= MAX_RTO &&
          config->max_rto_seconds >= config->initial_rto_seconds &&
          config->max_rto_seconds <= MAX_RTO && config->ack_delay_seconds >= 0 &&
          config->ack_delay_seconds <= MAX_ACK_DELAY))
        return CW_ERROR_CONFIG_TIME;
    return CW_OK;
}
