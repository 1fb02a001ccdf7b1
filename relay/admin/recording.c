#include "admin/recording.h"

#include "causeway/record.h"
#include "session/session.h"
#include "stats/gauges.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Bytes of the longest recording: each part has a line of its traffic, and few have drops. */
#define RECORDING_SIZE 32768

/* A silence of so many seconds gets a line. */
#define SILENCE_SECONDS 1.0

static void note_part(struct cw_record *record, const struct session_summary *from,
                      const struct session_summary *to)
{
    const struct traffic *before = &from->traffic, *after = &to->traffic;
    const double seconds = to->age_seconds - from->age_seconds;
    char line[CW_RECORD_NOTE_SIZE];
    char transports[64] = "no link";
    char rtt[32] = "";
    size_t size = 0;
    for (unsigned i = 0; i < from->transport_count && size < sizeof transports; i++)
        size += (size_t)snprintf(transports + size, sizeof transports - size, "%s%s",
                                 i > 0 ? "," : "", gauges_transports[from->transports[i]]);
    if (!isnan(to->rtt))
        snprintf(rtt, sizeof rtt, ", rtt %.0f ms", to->rtt * 1e3);
    snprintf(line, sizeof line,
             "%.1f s over %s%s: client %" PRIu64 " (%" PRIu64 " bytes), upstream %" PRIu64
             " (%" PRIu64 " bytes)",
             seconds, transports, rtt, after->client_datagrams - before->client_datagrams,
             after->client_bytes - before->client_bytes,
             after->upstream_datagrams - before->upstream_datagrams,
             after->upstream_bytes - before->upstream_bytes);
    cw_record_note(record, line, to->age_seconds);
    /* The first datagram after a part has lasted its time begins another. */
    if (seconds >= SESSION_RECORD_PART_SECONDS + SILENCE_SECONDS) {
        snprintf(line, sizeof line, "nothing had come for %.1f s",
                 seconds - SESSION_RECORD_PART_SECONDS);
        cw_record_note(record, line, to->age_seconds);
    }
#define NOTE_DROP(name, help)                                                                      \
    if (to->drops.name > from->drops.name) {                                                       \
        snprintf(line, sizeof line, #name " %" PRIu32, to->drops.name - from->drops.name);         \
        cw_record_note(record, line, to->age_seconds);                                             \
    }
    STATS_DROPPED_TO_SERVER(NOTE_DROP)
    STATS_DROPPED_TO_BROWSER(NOTE_DROP)
#undef NOTE_DROP
}

void recording_write(const struct session_summary *summaries, unsigned count, struct text *out)
{
    /* A record belongs to an endpoint, which does nothing here. */
    const struct cw_endpoint_config endpoint_config = cw_endpoint_config_default();
    struct cw_record_config config = cw_record_config_default();
    struct cw_endpoint *endpoint = NULL;
    struct cw_record *record = NULL;
    uint8_t bytes[RECORDING_SIZE];
    config.size = sizeof bytes;
    out->failed = cw_endpoint_create(&endpoint_config, &endpoint) != CW_OK ||
                  cw_record_create(&config, &record) != CW_OK;
    if (!out->failed) {
        cw_endpoint_set_record(endpoint, record);
        for (unsigned i = 1; i < count; i++)
            note_part(record, &summaries[i - 1], &summaries[i]);
        text_add_bytes(out, bytes, cw_record_write(record, bytes, sizeof bytes));
    }
    cw_record_destroy(record);
    cw_endpoint_destroy(endpoint);
}
