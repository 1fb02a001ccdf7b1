/* The server's time at the client, in ticks, and the client's own ticks, which run ahead of it so
   that the input for a tick reaches the server just before the server needs it.

   The client sends stamps of 2 bytes. The server answers with the stamp it received last, how long
   it has held it, and its tick time: 10 bytes, in a message of their own or inside of another, as
   each state of the world. Ten answers per second do; more make the clock better on a bad path.

   A tick time is the number of a tick and the part of it that has passed: the server runs tick n
   when its tick time reaches n. Ticks are counted in 32 bits and may begin anywhere. Tick times go
   on where ticks wrap, below 0 and past 2^32: cw_tick_of gives the tick. */
#ifndef CAUSEWAY_CLOCK_SYNC_H
#define CAUSEWAY_CLOCK_SYNC_H

#include "causeway/allocator.h"
#include "causeway/error.h"
#include "causeway/linkage.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

#define CW_CLOCK_STAMP_SIZE 2
#define CW_CLOCK_ECHO_SIZE  10

/* Tick times are from -CW_TICK_TIME_MAX to here: integers that are exact in a double. */
#define CW_TICK_TIME_MAX 4503599627370496.0

static inline bool cw_tick_time_valid(double tick_time)
{
    return tick_time >= -CW_TICK_TIME_MAX && tick_time <= CW_TICK_TIME_MAX;
}

/* The tick that runs at a valid tick time; 0 for another. */
static inline uint32_t cw_tick_of(double tick_time)
{
    return cw_tick_time_valid(tick_time) ? (uint32_t)(uint64_t)(int64_t)floor(tick_time) : 0;
}

/* How many ticks a is after b, negative when it is before. */
static inline int32_t cw_tick_difference(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

/* The server's side, one for each client: all zero at first, and when another client takes the
   place. Only the functions below look inside. */
struct cw_clock_echo {
    double received; /* when the newest stamp arrived */
    uint16_t stamp;
    bool stamped;
};

/* Takes a stamp. The closer now is to the arrival of its datagram, the better the client's clock.
   CW_ERROR_MALFORMED, with nothing changed: not CW_CLOCK_STAMP_SIZE bytes. CW_ERROR_STALE: a later
   one has come before. */
enum cw_error cw_clock_echo_receive(struct cw_clock_echo *echo, const uint8_t *data, size_t size,
                                    double now);

/* Writes CW_CLOCK_ECHO_SIZE bytes for the client: tick_time is the server's at now. Send them at
   once. 0 when capacity is less, and when the tick time is not valid. */
size_t cw_clock_echo_transmit(const struct cw_clock_echo *echo, double tick_time, uint8_t *out,
                              size_t capacity, double now);

/* The client's side. */
struct cw_clock_sync;

struct cw_clock_sync_config {
    struct cw_allocator allocator; /* zero: malloc */
    double ticks_per_second;       /* of the server, 1 to 1000; default 60 */
    /* How much faster or slower than the server's the times run to get where they should be, as a
       share: above 0, at most 0.5; default 0.05. */
    double slew;
    /* A time that is wrong by more than this jumps instead, above 0; default 0.5. */
    double jump_seconds;
    double max_lead_seconds; /* how far the client's ticks may be ahead, from 0 up; default 1.5 */
    /* When more ticks are due at once, as after a page was hidden, the client leaves them out, all
       but the newest: from 0 up; default 0.25. */
    double max_catch_up_seconds;
};

struct cw_clock_sync_config cw_clock_sync_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_clock_sync_memory(const struct cw_clock_sync_config *config);

/* Errors, with *sync left as it is: CW_ERROR_CONFIG_CLOCK_SYNC, CW_ERROR_NO_MEMORY. */
enum cw_error cw_clock_sync_create(const struct cw_clock_sync_config *config,
                                   struct cw_clock_sync **sync);

/* NULL is allowed. */
void cw_clock_sync_destroy(struct cw_clock_sync *sync);

/* Back to how it was created, as for another connection. */
void cw_clock_sync_reset(struct cw_clock_sync *sync);

/* Writes the stamp of now, CW_CLOCK_STAMP_SIZE bytes, for the server. Send it at once, with each
   packet of inputs or some ten times per second. 0 when capacity is less. */
size_t cw_clock_sync_transmit(struct cw_clock_sync *sync, uint8_t *out, size_t capacity,
                              double now);

/* Takes what cw_clock_echo_transmit has written. The closer now is to the arrival of its datagram,
   the better. CW_ERROR_MALFORMED: not such bytes, or an answer before the question.
   CW_ERROR_STALE: the server had no stamp yet, or one from long ago. Both change nothing. */
enum cw_error cw_clock_sync_receive(struct cw_clock_sync *sync, const uint8_t *data, size_t size,
                                    double now);

/* Takes the server's word on how early the client's inputs arrive, from cw_input_sender_receive:
   the input for tick, the one that came closest to being late, arrived so many ticks before the
   server needed it, after when negative. Until the first such word, the lead is guessed from the
   round trip. CW_ERROR_STALE, with nothing changed: the client has not run this tick of late. */
enum cw_error cw_clock_sync_adjust(struct cw_clock_sync *sync, uint32_t tick, double early_ticks,
                                   double now);

/* Lets time pass. Call it once per frame, then take what next gives. */
void cw_clock_sync_update(struct cw_clock_sync *sync, double now);

enum cw_clock_sync_event_type {
    CW_CLOCK_SYNC_EVENT_RESTART, /* tick is not the one after the last: the clock is set for the
                                    first time, the server's ticks have jumped, or too many ticks
                                    were due. What was predicted is void */
    CW_CLOCK_SYNC_EVENT_TICK     /* run tick: take the player's input for it and predict it */
};

struct cw_clock_sync_event {
    enum cw_clock_sync_event_type type;
    uint32_t tick;
};

/* The next event; false when there is none. */
bool cw_clock_sync_next(struct cw_clock_sync *sync, struct cw_clock_sync_event *event);

/* The server's tick time at now, which is not before the last update. It never goes backwards but
   where the server's ticks jump (an event RESTART follows). 0 before the first answer. */
double cw_clock_sync_server_time(const struct cw_clock_sync *sync, double now);

/* The client's own, ahead of the server's by the lead; otherwise the same. */
double cw_clock_sync_client_time(const struct cw_clock_sync *sync, double now);

struct cw_clock_sync_stats {
    bool synced;           /* the clock is set: an answer has arrived */
    double rtt_seconds;    /* round trip, smoothed, without the time that the server held it */
    double jitter_seconds; /* how much it differs from one to the next, smoothed */
    double error_seconds;  /* the server's time is wrong by no more than this */
    double lead_seconds;   /* how far the client's ticks are ahead */
    uint64_t answers;      /* that were taken */
    uint64_t restarts;     /* events told */
};

void cw_clock_sync_stats(const struct cw_clock_sync *sync, double now,
                         struct cw_clock_sync_stats *stats);

CW_END_DECLARATIONS

#endif
