#include "lab/window_internal.h"

#include <math.h>
#include <string.h>

static void rto_init(struct cw_window_rto *rto, const struct cw_window_config *config)
{
    *rto = (struct cw_window_rto){.config = config, .timeout = config->initial_rto_seconds};
}

/* Takes the round trip time of a segment that was sent only once (Karn). */
static void rto_sample(struct cw_window_rto *rto, double seconds)
{
    if (rto->rtt > 0) {
        rto->deviation += (fabs(seconds - rto->rtt) - rto->deviation) / 4;
        rto->rtt += (seconds - rto->rtt) / 8;
    } else {
        rto->deviation = seconds / 2;
        rto->rtt = seconds;
    }
    const double variance = 4 * rto->deviation;
    const double least = rto->config->min_variance_seconds;
    rto->timeout = rto->rtt + (variance > least ? variance : least);
}

/* Notes progress, which ends the backoff. Karn would wait for a sample; Linux has one in each ack,
   because it sends timestamps. */
static void rto_progress(struct cw_window_rto *rto)
{
    rto->doublings = 0;
}

/* Notes that the timeout has passed: the next one is twice as long. */
static void rto_back_off(struct cw_window_rto *rto)
{
    if (cw_window_rto_seconds(rto) < rto->config->max_rto_seconds)
        rto->doublings++;
}

double cw_window_rto_seconds(const struct cw_window_rto *rto)
{
    const double seconds = ldexp(rto->timeout, (int)rto->doublings);
    return seconds < rto->config->max_rto_seconds ? seconds : rto->config->max_rto_seconds;
}

/* The constants of RFC 9438: segments per cubed second, and the share of the window that remains
   after a loss. */
#define CUBIC_SCALE 0.4
#define CUBIC_REST  0.7
#define RENO_REST   0.5
/* The segments per round trip at which a window is as large as Reno's on average (RFC 9438). */
#define FRIENDLY_GROWTH (3 * (1 - CUBIC_REST) / (1 + CUBIC_REST))
#define LEAST_THRESHOLD 2
#define MOST_GROWTH     1.5

static void congestion_init(struct cw_window_congestion *congestion, enum cw_window_control control,
                            uint32_t initial_window)
{
    *congestion = (struct cw_window_congestion){
        .control = control, .cwnd = initial_window, .ssthresh = INFINITY};
}

/* Returns the cube root, by Newton's steps from above. The result is the same on every machine,
   which that of cbrt is not. */
static double cube_root(double value)
{
    if (!(value > 0))
        return 0;
    double root = value > 1 ? value : 1, next = root;
    do {
        root = next;
        next = (2 * root + value / (root * root)) / 3;
    } while (next < root);
    return root;
}

static void begin_epoch(struct cw_window_congestion *c, double now)
{
    c->growing = true;
    c->epoch = now;
    c->friendly = c->cwnd;
    if (c->plateau < c->cwnd)
        c->plateau = c->cwnd;
    c->reach = cube_root((c->plateau - c->cwnd) / CUBIC_SCALE);
}

static void grow_cubic(struct cw_window_congestion *c, double segments, double rtt, double now)
{
    if (!c->growing)
        begin_epoch(c, now);
    const double from_plateau = now - c->epoch + rtt - c->reach;
    double target = CUBIC_SCALE * from_plateau * from_plateau * from_plateau + c->plateau;
    if (target > MOST_GROWTH * c->cwnd)
        target = MOST_GROWTH * c->cwnd;
    const double friendly_growth = c->friendly < c->highest ? FRIENDLY_GROWTH : 1;
    c->friendly += friendly_growth * segments / c->cwnd;
    if (target > c->cwnd)
        c->cwnd += (target - c->cwnd) * segments / c->cwnd;
    if (c->cwnd < c->friendly)
        c->cwnd = c->friendly;
}

/* Grows the window after segments have been acked outside a recovery. flight is the number of
   segments that were in flight: a window that was not used does not grow. */
static void congestion_acked(struct cw_window_congestion *c, uint32_t segments, uint32_t flight,
                             double rtt, double now)
{
    const bool slow_start = c->cwnd < c->ssthresh;
    if (slow_start ? 2.0 * flight <= c->cwnd : flight + 1 <= c->cwnd) {
        c->growing = false;
        return;
    }
    double rest = segments;
    if (slow_start) {
        const double most = c->ssthresh - c->cwnd;
        const double step = rest < most ? rest : most;
        c->cwnd += step;
        rest -= step;
    }
    if (!(rest > 0))
        return;
    if (c->control == CW_WINDOW_RENO)
        c->cwnd += rest / c->cwnd;
    else
        grow_cubic(c, rest, rtt, now);
}

static void lower_threshold(struct cw_window_congestion *c)
{
    const bool cubic = c->control == CW_WINDOW_CUBIC;
    /* A second loss below the plateau means that others want to grow, so leave them more room. */
    const bool shrinking = c->cwnd < c->plateau;
    c->highest = c->cwnd;
    c->plateau = shrinking ? c->cwnd * (1 + CUBIC_REST) / 2 : c->cwnd;
    c->growing = false;
    c->ssthresh = c->cwnd * (cubic ? CUBIC_REST : RENO_REST);
    if (c->ssthresh < LEAST_THRESHOLD)
        c->ssthresh = LEAST_THRESHOLD;
}

/* Reduces the window to a part of its size, when acks have shown a loss. */
static void congestion_reduce(struct cw_window_congestion *c)
{
    lower_threshold(c);
    c->cwnd = c->ssthresh;
}

/* Begins slow start anew with one segment, when the timeout has passed. again says that it has
   passed for the same loss before, which has lowered the threshold already. */
static void congestion_collapse(struct cw_window_congestion *c, bool again)
{
    if (!again)
        lower_threshold(c);
    c->cwnd = 1;
    c->growing = false;
}

void cw_window_sender_layout(struct cw_window_sender *s, struct cw_arena *arena,
                             const struct cw_window_config *config)
{
    s->buffer = cw_arena_take(arena, config->send_buffer_bytes);
    s->segments = cw_arena_take(arena, config->max_segments * sizeof *s->segments);
}

void cw_window_sender_init(struct cw_window_sender *s, const struct cw_window_config *config)
{
    *s = (struct cw_window_sender){
        .config = config,
        .buffer = s->buffer,
        .segments = s->segments,
        .acked = config->first_sequence,
        .next = config->first_sequence,
        .end = config->first_sequence,
        .limit = config->first_sequence + config->receive_buffer_bytes,
        .recover = config->first_sequence - 1,
        .timer = INFINITY,
    };
    rto_init(&s->rto, config);
    congestion_init(&s->congestion, config->control, config->initial_window);
}

static struct cw_window_segment *segment_at(const struct cw_window_sender *s, uint32_t index)
{
    return &s->segments[(s->first + index) % s->config->max_segments];
}

/* Keeps the timer running while anything is in flight, and while the other end's window holds
   everything back. */
static void keep_timer(struct cw_window_sender *s, double now)
{
    const bool held_back = s->next != s->end && s->next == s->limit;
    if (s->count == 0 && !held_back)
        s->timer = INFINITY;
    else if (s->timer == INFINITY)
        s->timer = now + cw_window_rto_seconds(&s->rto);
}

/* Returns the place of a byte that is not acked. */
static uint32_t place_of(const struct cw_window_sender *s, uint32_t sequence)
{
    return (s->head + (sequence - s->acked)) % s->config->send_buffer_bytes;
}

size_t cw_window_sender_add(struct cw_window_sender *s, const uint8_t *data, size_t size,
                            double now)
{
    const uint32_t capacity = s->config->send_buffer_bytes;
    const uint32_t room = capacity - (s->end - s->acked);
    const uint32_t taken = size < room ? (uint32_t)size : room;
    const uint32_t place = place_of(s, s->end);
    const uint32_t first = taken < capacity - place ? taken : capacity - place;
    if (taken == 0)
        return 0;
    memcpy(s->buffer + place, data, first);
    memcpy(s->buffer, data + first, taken - first);
    s->end += taken;
    keep_timer(s, now);
    return taken;
}

void cw_window_sender_copy(const struct cw_window_sender *s, uint32_t sequence, uint32_t size,
                           uint8_t *out)
{
    const uint32_t place = place_of(s, sequence);
    const uint32_t to_end = s->config->send_buffer_bytes - place;
    const uint32_t first = size < to_end ? size : to_end;
    memcpy(out, s->buffer + place, first);
    memcpy(out + first, s->buffer, size - first);
}

bool cw_window_sender_knows(const struct cw_window_sender *s, const struct cw_window_header *header)
{
    if (cw_window_ahead(header->ack, s->next) > 0)
        return false;
    for (uint32_t i = 0; i < header->range_count; i++)
        if (cw_window_ahead(header->ranges[i].end, s->next) > 0)
            return false;
    return true;
}

static void set_fate(struct cw_window_sender *s, struct cw_window_segment *segment,
                     enum cw_window_fate fate)
{
    s->sacked -= segment->fate == CW_WINDOW_SACKED;
    s->lost -= segment->fate == CW_WINDOW_LOST;
    s->sacked += fate == CW_WINDOW_SACKED;
    s->lost += fate == CW_WINDOW_LOST;
    segment->fate = fate;
}

/* Removes all segments that are acked and returns their number. *sent is set to the time when the
   last of them was sent, if this gives the round trip time: none of them was sent twice (Karn), and
   the last did not wait for one before it. */
static uint32_t take_acked(struct cw_window_sender *s, uint32_t ack, double *sent)
{
    uint32_t taken = 0;
    bool twice = false;
    while (s->count > 0) {
        struct cw_window_segment *segment = segment_at(s, 0);
        const int32_t covered = cw_window_ahead(ack, segment->sequence);
        if (covered <= 0)
            break;
        if ((uint32_t)covered < segment->size) {
            segment->sequence = ack;
            segment->size -= (uint32_t)covered;
            break;
        }
        twice |= segment->resent;
        if (segment->fate != CW_WINDOW_SACKED)
            *sent = segment->sent;
        set_fate(s, segment, CW_WINDOW_IN_FLIGHT);
        s->first = (s->first + 1) % s->config->max_segments;
        s->count--;
        taken++;
    }
    if (twice)
        *sent = INFINITY;
    s->head = place_of(s, ack);
    s->acked = ack;
    return taken;
}

/* Keeps the highest orders, the highest first. */
static void note_order(struct cw_window_sender *s, uint64_t order)
{
    for (uint32_t i = 0; i < CW_WINDOW_DUPLICATE_ACKS; i++) {
        if (order > s->newest[i]) {
            const uint64_t lower = s->newest[i];
            s->newest[i] = order;
            order = lower;
        }
    }
}

static bool is_covered(const struct cw_window_header *header,
                       const struct cw_window_segment *segment)
{
    for (uint32_t i = 0; i < header->range_count; i++)
        if (cw_window_ahead(segment->sequence, header->ranges[i].begin) >= 0 &&
            cw_window_ahead(header->ranges[i].end, segment->sequence + segment->size) >= 0)
            return true;
    return false;
}

/* Takes the selective acks. For a segment that was sent twice it is unknown which copy arrived, so
   it gives no order and no round trip time. */
static void take_sacked(struct cw_window_sender *s, const struct cw_window_header *header,
                        double *sent)
{
    for (uint32_t i = 0; header->range_count > 0 && i < s->count; i++) {
        struct cw_window_segment *segment = segment_at(s, i);
        if (segment->fate == CW_WINDOW_SACKED || !is_covered(header, segment))
            continue;
        set_fate(s, segment, CW_WINDOW_SACKED);
        if (!segment->resent) {
            note_order(s, segment->order);
            *sent = segment->sent;
        }
    }
}

/* Marks segments as lost when three that were sent after them have arrived. With selective acks
   this also shows for a segment that was sent again. */
static void mark_overtaken(struct cw_window_sender *s)
{
    const uint64_t overtaken = s->newest[CW_WINDOW_DUPLICATE_ACKS - 1];
    for (uint32_t i = 0; s->sacked > 0 && i < s->count; i++) {
        struct cw_window_segment *segment = segment_at(s, i);
        if (segment->fate == CW_WINDOW_IN_FLIGHT && segment->order < overtaken)
            set_fate(s, segment, CW_WINDOW_LOST);
    }
}

static void begin_recovery(struct cw_window_sender *s)
{
    s->state = CW_WINDOW_RECOVERY;
    s->recover = s->next;
    s->at_once = true;
    s->timer = INFINITY;
    s->recoveries++;
    congestion_reduce(&s->congestion);
}

/* Takes the ack of new bytes, with this many segments. */
static void advance(struct cw_window_sender *s, uint32_t taken)
{
    s->timer = INFINITY;
    rto_progress(&s->rto);
    if (s->state == CW_WINDOW_OPEN) {
        s->duplicate_acks = 0;
    } else if (cw_window_ahead(s->acked, s->recover) >= 0) {
        s->state = CW_WINDOW_OPEN;
        s->duplicate_acks = 0;
    } else if (s->state == CW_WINDOW_RECOVERY && !s->config->selective_acks && s->count > 0) {
        /* In NewReno the ack of a part shows the next loss. All but the first of these segments had
           caused duplicate acks. */
        const uint32_t counted = taken > 0 ? taken - 1 : 0;
        s->duplicate_acks -= counted < s->duplicate_acks ? counted : s->duplicate_acks;
        set_fate(s, segment_at(s, 0), CW_WINDOW_LOST);
        s->at_once = true;
    }
}

static bool open_window(struct cw_window_sender *s, const struct cw_window_header *header)
{
    const uint32_t limit = header->ack + header->window;
    if (cw_window_ahead(limit, s->limit) <= 0)
        return false;
    if (s->next == s->limit && s->count == 0)
        rto_progress(&s->rto); /* the backoff was for the probes */
    s->limit = limit;
    return true;
}

void cw_window_sender_acked(struct cw_window_sender *s, const struct cw_window_header *header,
                            bool pure, double now)
{
    const int32_t newly = cw_window_ahead(header->ack, s->acked);
    if (newly < 0)
        return; /* a later ack has overtaken this one */
    const bool grows = s->state != CW_WINDOW_RECOVERY;
    const bool opened = open_window(s, header);
    const uint32_t flight = s->count;
    double sent = INFINITY;
    const uint32_t taken = take_acked(s, header->ack, &sent);
    if (s->config->selective_acks)
        take_sacked(s, header, &sent);
    if (sent <= now)
        rto_sample(&s->rto, now - sent);
    if (newly > 0)
        advance(s, taken);
    else if (!s->config->selective_acks && pure && !opened && s->duplicate_acks < s->count)
        s->duplicate_acks++;
    if (grows && taken > 0)
        congestion_acked(&s->congestion, taken, flight, s->rto.rtt, now);
    if (s->config->selective_acks)
        mark_overtaken(s);
    else if (s->state == CW_WINDOW_OPEN && s->duplicate_acks >= CW_WINDOW_DUPLICATE_ACKS &&
             cw_window_ahead(s->acked, s->recover) > 0)
        set_fate(s, segment_at(s, 0), CW_WINDOW_LOST);
    if (s->state == CW_WINDOW_OPEN && s->lost > 0)
        begin_recovery(s);
    keep_timer(s, now);
}

static void time_out(struct cw_window_sender *s)
{
    congestion_collapse(&s->congestion, s->state != CW_WINDOW_OPEN);
    for (uint32_t i = 0; i < s->count; i++)
        if (segment_at(s, i)->fate != CW_WINDOW_SACKED)
            set_fate(s, segment_at(s, i), CW_WINDOW_LOST);
    s->duplicate_acks = 0;
    s->state = CW_WINDOW_TIMED_OUT;
    s->recover = s->next;
    s->timeouts++;
}

void cw_window_sender_update(struct cw_window_sender *s, double now)
{
    if (now < s->timer)
        return;
    if (s->count > 0)
        time_out(s);
    else
        s->probe = true;
    rto_back_off(&s->rto);
    s->timer = now + cw_window_rto_seconds(&s->rto);
}

bool cw_window_sender_has_room(const struct cw_window_sender *s)
{
    const uint32_t gone = s->sacked + s->lost + s->duplicate_acks;
    const uint32_t in_flight = s->count > gone ? s->count - gone : 0;
    return in_flight < (uint32_t)s->congestion.cwnd;
}

static struct cw_window_segment *first_lost(const struct cw_window_sender *s)
{
    uint32_t index = 0;
    while (segment_at(s, index)->fate != CW_WINDOW_LOST)
        index++;
    return segment_at(s, index);
}

/* Returns the next segment that was not sent before; NULL when none may be. */
static struct cw_window_segment *new_segment(struct cw_window_sender *s)
{
    uint32_t size = s->end - s->next;
    if (size > s->config->max_segment_size)
        size = s->config->max_segment_size;
    if (size > s->limit - s->next)
        size = s->limit - s->next;
    if (size == 0 || s->count == s->config->max_segments)
        return NULL;
    if (s->config->nagle && s->count > 0 && size < s->config->max_segment_size)
        return NULL;
    struct cw_window_segment *segment = segment_at(s, s->count++);
    *segment = (struct cw_window_segment){.sequence = s->next, .size = size};
    s->next += size;
    return segment;
}

bool cw_window_sender_pick(struct cw_window_sender *s, double now, uint32_t *sequence,
                           uint32_t *size)
{
    struct cw_window_segment *segment = NULL;
    const bool room = cw_window_sender_has_room(s);
    if (s->lost > 0 && (room || s->at_once)) {
        segment = first_lost(s);
        set_fate(s, segment, CW_WINDOW_IN_FLIGHT);
        segment->resent = true;
        s->at_once = false;
        s->segments_resent++;
    } else if (room) {
        segment = new_segment(s);
    }
    if (!segment)
        return false;
    segment->order = ++s->order;
    segment->sent = now;
    s->segments_sent++;
    keep_timer(s, now);
    *sequence = segment->sequence;
    *size = segment->size;
    return true;
}

bool cw_window_sender_probe(struct cw_window_sender *s)
{
    const bool due = s->probe;
    s->probe = false;
    s->probes += due;
    return due;
}
