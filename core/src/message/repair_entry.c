#include "message/repair_entry.h"

#define REPORT_TIMES 3   /* packets that carry the report, because some may be lost */
#define GRACE        5.0 /* rounds until combinations have arrived and the report of them is back */

void cw_repair_reset(struct cw_repair *repair)
{
    cw_repair_sender_reset(&repair->sender);
    cw_repair_receiver_reset(&repair->receiver);
    repair->reports_due = 0;
    repair->may_report = repair->reports = repair->has_report = false;
}

void cw_repair_begin(struct cw_repair *repair, bool first)
{
    cw_repair_sender_begin(&repair->sender, first);
    repair->may_report = first;
    repair->reports = false;
}

void cw_repair_report(struct cw_repair *repair)
{
    repair->reports_due = REPORT_TIMES;
}

/* Returns the time for which repeats wait for combinations, of which there may be few. Where losses
   come in bursts, combinations are lost with the messages, and are not waited for. */
static double grace_of(const struct cw_timing *timing, double wanted)
{
    return timing->bursts ? 0 : GRACE * (wanted < 1 ? wanted : 1) * (double)timing->interval;
}

const struct cw_timing *cw_repair_timing(struct cw_repair *repair, const struct cw_timing *timing,
                                         double wanted)
{
    repair->plain = timing;
    repair->sender.share = wanted;
    if (!cw_repair_is_active(repair))
        return timing;
    repair->timing = *timing;
    repair->timing.answer += grace_of(timing, wanted);
    repair->timing.patience += grace_of(timing, wanted);
    repair->timing.loss = 0; /* no losses, no copies: combinations are better */
    return &repair->timing;
}

uint32_t cw_repair_pick(struct cw_repair *repair, uint16_t oldest, uint16_t end,
                        const uint16_t *ids, uint32_t count, uint32_t bits_left)
{
    repair->reports = repair->may_report && repair->reports_due > 0;
    return cw_repair_sender_pick(&repair->sender, oldest, end, ids, count, bits_left);
}

bool cw_repair_write(struct cw_repair *repair, struct cw_stream *stream, uint16_t first_missing)
{
    uint32_t id = first_missing;
    if (!cw_stream_bool(stream, &repair->reports) ||
        (repair->reports && !cw_stream_bits(stream, &id, 16)))
        return false;
    repair->reports_due -= repair->reports;
    return cw_repair_sender_write(&repair->sender, stream);
}

bool cw_repair_read(struct cw_repair *repair, struct cw_stream *stream, const uint16_t *newest,
                    uint16_t limit)
{
    uint32_t id = 0;
    repair->has_report = false;
    if (!cw_stream_bool(stream, &repair->has_report) ||
        (repair->has_report && !cw_stream_bits(stream, &id, 16)))
        return false;
    repair->first_missing = (uint16_t)id;
    return cw_repair_receiver_read(&repair->receiver, stream, newest, limit);
}
