/* A recording is anybody's file: bytes of the input's own, and a real one with some bytes changed.
   Nothing crashes, nothing beyond the file is read, and it comes to an end. */
#include "copy_packet.h"
#include "target.h"

#include "causeway/record.h"

#include <stdlib.h>

#define MAX_PACKET 300
#define FILE_SIZE  8192

/* Records an endpoint that talks to itself, as the input says. */
static size_t record(struct input *input, uint8_t *out)
{
    static const uint8_t payload[MAX_PACKET];
    struct cw_endpoint_config config = cw_endpoint_config_default();
    struct cw_record_config record_config = cw_record_config_default();
    struct cw_endpoint *endpoint;
    struct cw_record *record;
    double now = 1;
    config.max_packet_size = MAX_PACKET;
    config.fragment_size = config.fragment_above = 100;
    config.sent_window = config.received_window = 32;
    record_config.size = FILE_SIZE;
    if (cw_endpoint_create(&config, &endpoint) != CW_OK ||
        cw_record_create(&record_config, &record) != CW_OK)
        abort();
    cw_endpoint_set_record(endpoint, record);
    for (unsigned count = take(input, 1); count > 0; count--) {
        uint8_t datagram[512];
        struct cw_endpoint_event event;
        size_t size;
        now += take(input, 1) / 64.0;
        cw_endpoint_update(endpoint, now);
        if (copy_packet(endpoint, payload, take(input, 2) % MAX_PACKET, datagram, now, &size) !=
            CW_OK)
            continue;
        for (; size > 0; size = cw_endpoint_transmit(endpoint, datagram, sizeof datagram, now)) {
            (void)cw_endpoint_receive(endpoint, datagram, size, now);
            while (cw_endpoint_next(endpoint, &event))
                cw_endpoint_accept(endpoint, event.sequence);
        }
    }
    const size_t size = cw_record_write(record, out, FILE_SIZE);
    cw_endpoint_destroy(endpoint);
    cw_record_destroy(record);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[FILE_SIZE];
    struct input input = {data, size};
    struct cw_recording *recording;
    struct cw_recording_event event;
    struct cw_endpoint_stats stats;
    if (take(&input, 1) % 4 > 0) {
        size = record(&input, file);
        while (input.size && size > 0)
            file[take(&input, 2) % size] ^= (uint8_t)take(&input, 1);
        data = file;
    }
    uint8_t *exact = malloc(size);
    if (size > 0)
        memcpy(exact, data, size);
    if (cw_recording_create(exact, size, NULL, &recording) == CW_OK) {
        while (cw_recording_next(recording, &event))
            continue;
        cw_recording_get_stats(recording, &stats);
        cw_recording_destroy(recording);
    }
    free(exact);
    return 0;
}
