#include "session/session_internal.h"

#include <stdlib.h>

void session_record(struct session *session, bool changed)
{
    if (!session->sessions->config.records || !session->allowance.answered || session->ending)
        return;
    if (!session->record)
        session->record = calloc(1, sizeof *session->record);
    struct session_record *record = session->record;
    if (!record)
        return;
    const unsigned latest = (record->count + SESSION_RECORD_PARTS - 1) % SESSION_RECORD_PARTS;
    const double age = loop_now() - session->opened;
    if (changed || record->count == 0 ||
        age - record->parts[latest].age_seconds >= SESSION_RECORD_PART_SECONDS)
        session_describe(session, &record->parts[record->count++ % SESSION_RECORD_PARTS]);
}

unsigned session_recorded(const struct session *session, struct session_summary *out)
{
    const struct session_record *record = session->record;
    unsigned count = 0;
    if (!record)
        return 0;
    const unsigned kept =
        record->count < SESSION_RECORD_PARTS ? record->count : SESSION_RECORD_PARTS;
    for (unsigned i = record->count - kept; i != record->count; i++)
        out[count++] = record->parts[i % SESSION_RECORD_PARTS];
    session_describe(session, &out[count++]);
    return count;
}
