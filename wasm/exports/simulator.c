#include "causeway/simulator.h"
#include "exports/exports.h"

/* The addresses of what this has made go to the scratch area. */
CW_EXPORT(simulator_create)
enum cw_error simulator_create(double seed, double max_datagram_size, double max_datagrams)
{
    struct cw_simulator_config config = cw_simulator_config_default();
    config.seed = seed >= 0 && seed < 0x1p64 ? (uint64_t)seed : 0;
    cw_set_u32(&config.max_datagram_size, max_datagram_size);
    cw_set_u32(&config.max_datagrams, max_datagrams);

    struct cw_simulator *simulator = NULL;
    const enum cw_error error = cw_simulator_create(&config, &simulator);
    cw_scratch.created = (struct cw_created){
        .object = cw_place(simulator),
        .max_datagram_size = config.max_datagram_size,
    };
    return error;
}

CW_EXPORT(simulator_destroy) void simulator_destroy(struct cw_simulator *simulator)
{
    cw_simulator_destroy(simulator);
}

/* The scratch area holds the struct of the path. */
CW_EXPORT(simulator_change) enum cw_error simulator_change(struct cw_simulator *simulator)
{
    return cw_simulator_change(simulator, &cw_scratch.simulator_path);
}

CW_EXPORT(simulator_receive)
enum cw_error simulator_receive(struct cw_simulator *simulator, const uint8_t *data, size_t size,
                                double now)
{
    return cw_simulator_receive(simulator, data, size, now);
}

CW_EXPORT(simulator_transmit)
size_t simulator_transmit(struct cw_simulator *simulator, uint8_t *out, size_t capacity, double now)
{
    return cw_simulator_transmit(simulator, out, capacity, now);
}

CW_EXPORT(simulator_due) double simulator_due(const struct cw_simulator *simulator)
{
    return cw_simulator_due(simulator);
}

/* The struct goes to the scratch area unchanged. */
CW_EXPORT(simulator_stats) void simulator_stats(const struct cw_simulator *simulator)
{
    cw_simulator_stats(simulator, &cw_scratch.simulator_stats);
}
