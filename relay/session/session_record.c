#include "session/session_internal.h"

#include <stdlib.h>

/* Begins another part. */
static void begin_part(struct session *session)
{
    struct session_record *record = session->record;
    session_describe(session, &record->parts[record->count++ % SESSION_RECORD_PARTS]);
}

void session_record(struct session *session, bool changed)
{
    if (!session->sessions->config.records || !session->allowance.answered || session->ending)
        return;
    if (!session->record)
        session->record = calloc(1, sizeof *session->record);
    const struct session_record *record = session->record;
    if (!record)
        return;
    const unsigned latest = (record->count + SESSION_RECORD_PARTS - 1) % SESSION_RECORD_PARTS;
    const double age = loop_now() - session->opened;
    if (changed || record->count == 0 ||
        age - record->parts[latest].age_seconds >= SESSION_RECORD_PART_SECONDS)
        begin_part(session);
}

void session_record_end(struct session *session)
{
    struct sessions *sessions = session->sessions;
    struct session_record **place = &sessions->ended[sessions->ended_next];
    if (!session->record)
        return;
    begin_part(session);
    free(*place);
    *place = session->record;
    sessions->ended_next = (sessions->ended_next + 1) % SESSIONS_RECORDS_ENDED;
}

static unsigned copy(const struct session_record *record, struct session_summary *out)
{
    const unsigned kept =
        record->count < SESSION_RECORD_PARTS ? record->count : SESSION_RECORD_PARTS;
    for (unsigned i = 0; i < kept; i++)
        out[i] = record->parts[(record->count - kept + i) % SESSION_RECORD_PARTS];
    return kept;
}

unsigned sessions_recorded(const struct sessions *sessions, unsigned long id,
                           struct session_summary *out)
{
    const struct session *session;
    for (size_t i = 0; (session = sessions_at(sessions, i)); i++) {
        if (session->id != id || !session->record)
            continue;
        const unsigned count = copy(session->record, out);
        session_describe(session, &out[count]);
        return count + 1;
    }
    for (unsigned i = 0; i < SESSIONS_RECORDS_ENDED; i++) {
        const struct session_record *record = sessions->ended[i];
        if (record && record->parts[0].id == id)
            return copy(record, out);
    }
    return 0;
}
