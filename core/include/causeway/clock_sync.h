/* This module tells a client the server's time in ticks, and runs the client's own ticks ahead of
   it, so that the input for a tick reaches the server just before the server needs it.

   The client sends stamps of 2 bytes. The server answers with 10 bytes: the last stamp it received,
   how long it has held that stamp, and its tick time. Send the answer in a message of its own or
   inside another one, such as each state of the world. Ten answers per second are enough; more make
   the clock better on a bad path.

   A tick time is the number of a tick plus the part of it that has passed. The server runs tick n
   when its tick time reaches n. Ticks are 32-bit numbers, may begin anywhere and wrap. Tick times
   do not wrap with them: they may be below 0 or above 2^32. cw_tick_of gives the tick of a tick
   time. */
#ifndef CAUSEWAY_CLOCK_SYNC_H
#define CAUSEWAY_CLOCK_SYNC_H

#include "causeway/base.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_CLOCK_STAMP_SIZE 2
#define CW_CLOCK_ECHO_SIZE  10

/* Tick times are from -CW_TICK_TIME_MAX to CW_TICK_TIME_MAX, where a double holds integers
   exactly. */
#define CW_TICK_TIME_MAX 4503599627370496.0

static inline bool cw_tick_time_valid(double tick_time)
{
    return tick_time >= -CW_TICK_TIME_MAX && tick_time <= CW_TICK_TIME_MAX;
}

/* Returns the tick that runs at a valid tick time, or 0 for an invalid one. */
static inline uint32_t cw_tick_of(double tick_time)
{
    return cw_tick_time_valid(tick_time) ? (uint32_t)(uint64_t)(int64_t)floor(tick_time) : 0;
}

/* Returns the number of ticks from b to a; negative when a is before b. */
static inline int32_t cw_tick_difference(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/* The server has one of these per client. Set it to all zero at first, and again for each new
   client. The members are private. */
struct cw_clock_echo {
    double received; /* when the newest stamp arrived */
    uint16_t stamp;
    bool stamped;
};

/* Takes a stamp. The closer now is to the arrival of its datagram, the better the client's clock.
   Errors, with nothing changed: CW_ERROR_MALFORMED when size is not CW_CLOCK_STAMP_SIZE,
   CW_ERROR_STALE when a later stamp has arrived already. */
enum cw_error cw_clock_echo_receive(struct cw_clock_echo *echo, const uint8_t *data, size_t size,
                                    double now);

/* Writes an answer of CW_CLOCK_ECHO_SIZE bytes for the client. tick_time is the server's tick time
   at now. Send the answer at once. Returns 0 when capacity is less, or when the tick time is not
   valid. */
size_t cw_clock_echo_transmit(const struct cw_clock_echo *echo, double tick_time, uint8_t *out,
                              size_t capacity, double now);

/* The client's side. */
struct cw_clock_sync;

struct cw_clock_sync_config {
    struct cw_allocator allocator; /* zero: malloc */
    double ticks_per_second;       /* ticks of the server, 1 to 1000; default 60 */
    /* To correct itself, a time runs faster or slower than the server's by up to this share: above
       0, at most 0.5; default 0.05. */
    double slew;
    /* A time that is wrong by more than this jumps instead; above 0; default 0.5. */
    double jump_seconds;
    double max_lead_seconds; /* the longest that the client's ticks may run ahead, 0 or more;
                                default 1.5 */
    /* When more ticks than this are due at once, for example after a page was hidden, the client
       skips all but the newest; 0 or more; default 0.25. */
    double max_catch_up_seconds;
};

struct cw_clock_sync_config cw_clock_sync_config_default(void);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_clock_sync_memory(const struct cw_clock_sync_config *config);

/* Errors, with *sync left as it is: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_clock_sync_create(const struct cw_clock_sync_config *config,
                                   struct cw_clock_sync **sync);

/* NULL is allowed. */
void cw_clock_sync_destroy(struct cw_clock_sync *sync);

/* Goes back to the state after create, for a new connection. */
void cw_clock_sync_reset(struct cw_clock_sync *sync);

/* Writes the stamp of now, CW_CLOCK_STAMP_SIZE bytes, for the server. Send it at once, with each
   packet of inputs or about ten times per second. Returns 0 when capacity is less. */
size_t cw_clock_sync_transmit(struct cw_clock_sync *sync, uint8_t *out, size_t capacity,
                              double now);

/* Takes an answer from cw_clock_echo_transmit. The closer now is to the arrival of its datagram,
   the better. Errors, with nothing changed: CW_ERROR_MALFORMED for any other bytes, or an answer to
   a stamp that was not sent yet; CW_ERROR_STALE when the server had no stamp yet, or a very old
   one. */
enum cw_error cw_clock_sync_receive(struct cw_clock_sync *sync, const uint8_t *data, size_t size,
                                    double now);

/* Takes the server's report on how early the client's inputs arrive; see cw_input_sender_receive.
   tick is the one whose input came closest to being late. early_ticks is how many ticks before the
   server needed it that input arrived, negative when it came after. Until the first report the lead
   is guessed from the round trip. CW_ERROR_STALE, with nothing changed: the client has not run this
   tick recently. */
enum cw_error cw_clock_sync_adjust(struct cw_clock_sync *sync, uint32_t tick, double early_ticks,
                                   double now);

/* Lets time pass. Call it once per frame, then take the events with next. */
void cw_clock_sync_update(struct cw_clock_sync *sync, double now);

enum cw_clock_sync_event_type {
    CW_CLOCK_SYNC_EVENT_RESTART, /* tick does not follow the last one: the clock was set for the
                                    first time, the server's ticks jumped, or too many ticks were
                                    due. Discard all predictions */
    CW_CLOCK_SYNC_EVENT_TICK     /* run this tick: read the player's input for it and predict it */
};

struct cw_clock_sync_event {
    enum cw_clock_sync_event_type type;
    uint32_t tick;
};

/* Takes the next event. Returns false when there is none. */
bool cw_clock_sync_next(struct cw_clock_sync *sync, struct cw_clock_sync_event *event);

/* Returns the server's tick time at now, which must not be before the last update. The result never
   goes back, except where the server's ticks jump; a RESTART event follows then. It is 0 before the
   first answer. */
double cw_clock_sync_server_time(const struct cw_clock_sync *sync, double now);

/* Returns the client's own tick time, which is ahead of the server's by the lead. It is otherwise
   like the server's. */
double cw_clock_sync_client_time(const struct cw_clock_sync *sync, double now);

struct cw_clock_sync_stats {
    bool synced;           /* the clock is set: an answer has arrived */
    double rtt_seconds;    /* the smoothed round trip without the time the server held the stamp */
    double jitter_seconds; /* the difference from one round trip to the next, smoothed */
    double error_seconds;  /* the most that the server's time may be wrong */
    double lead_seconds;   /* the time by which the client's ticks run ahead */
    uint64_t answers;      /* answers accepted */
    uint64_t restarts;     /* RESTART events */
};

void cw_clock_sync_get_stats(const struct cw_clock_sync *sync, double now,
                             struct cw_clock_sync_stats *stats);

CW_END_DECLARATIONS

#endif
