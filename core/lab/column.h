/* A column of the lab: two peers of one protocol, a simulated network between them, and the traffic
   of a game, in virtual time. The same seed and the same calls give the same run, natively and in
   WebAssembly. */
#ifndef CAUSEWAY_LAB_COLUMN_H
#define CAUSEWAY_LAB_COLUMN_H

#include "causeway/base.h"
#include "lab/game.h"
#include "lab/peer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* Both ends take a turn in each tick, end 1 half a tick after end 0. An end is a server or a
   client, as you like; both send alike, but only end 0 sends blocks. */
#define CW_LAB_TICKS_PER_SECOND 60

/* Protocols are numbered from 0. */
uint32_t cw_lab_protocol_count(void);

/* NULL when there is none of that number. */
const struct cw_lab_peer_type *cw_lab_protocol(uint32_t protocol);

/* A short name in lower case, static; NULL when there is none of that number. */
const char *cw_lab_protocol_name(uint32_t protocol);

struct cw_lab_column;

struct cw_lab_column_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t protocol;             /* its number, below cw_lab_protocol_count(); default 0 */
    uint64_t seed;                 /* the seed of the network; default 1 */
    uint32_t max_events; /* events that are kept until they are taken, 0 (none) to 65536; default
                            4096. Beyond that the oldest is dropped */
};

struct cw_lab_column_config cw_lab_column_config_default(void);

/* The network and the traffic, the same in both directions. Nothing may be negative.

   Two columns with the same seed and the same settings treat their datagrams alike: datagram number
   N of an end, counted from 0, is lost in both or in neither, and takes the same time in both,
   whatever the protocols put into it. This ends where a queue overflows, because then the network
   depends on how much was sent, and where settings change or others flood the path, because the
   number of datagrams sent by then may differ. */
struct cw_lab_settings {
    double rtt_seconds;    /* each way takes half; default 0.1 */
    double jitter_seconds; /* each way takes up to this much more; default 0 */
    double loss;           /* the share of the datagrams that is lost, 0 to 1; default 0 */
    double burst_length; /* datagrams lost in a row, on average, 1 (at random) or more; default 1 */
    double bytes_per_second;       /* bandwidth each way; 0: no limit; default 0 */
    double queue_bytes;            /* bytes that may wait for the bandwidth; default 65536 */
    double flood_bytes_per_second; /* others on the path send so much from end 0 to end 1, in
                                      datagrams of 1201 bytes; default 0 */
    bool states;                   /* each end sends a state of 64 bytes per tick; default true */
    uint32_t message_every; /* ticks from one message of 64 bytes that each end sends to the next;
                               0: none; default 1 */
    bool blocks; /* end 0 sends blocks of 102400 bytes, one after the other; default false */
};

struct cw_lab_settings cw_lab_settings_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_lab_column_memory(const struct cw_lab_column_config *config);

/* Creates a column with the default settings. *column is set only on CW_OK. Errors:
   CW_ERROR_INVALID_ARGUMENT when there is no such protocol or max_events is out of range,
   CW_ERROR_NO_MEMORY. */
enum cw_error cw_lab_column_create(const struct cw_lab_column_config *config,
                                   struct cw_lab_column **column);

/* NULL is allowed. */
void cw_lab_column_destroy(struct cw_lab_column *column);

/* Goes back to the state after create, but keeps the settings. */
void cw_lab_column_reset(struct cw_lab_column *column);

/* Changes the settings. Datagrams in transit are not affected. Returns an
   error, with nothing changed, when a value is out of range. */
enum cw_error cw_lab_column_change(struct cw_lab_column *column,
                                   const struct cw_lab_settings *settings);

/* Lets ticks pass. */
void cw_lab_column_step(struct cw_lab_column *column, uint32_t ticks);

/* Seconds of virtual time since the column began: ticks passed / CW_LAB_TICKS_PER_SECOND. */
double cw_lab_column_time(const struct cw_lab_column *column);

enum cw_lab_column_event_type {
    CW_LAB_COLUMN_EVENT_SENT = 1,   /* a datagram is on its way and will arrive */
    CW_LAB_COLUMN_EVENT_LOST,       /* a datagram was sent and will not arrive */
    CW_LAB_COLUMN_EVENT_OVERFLOWED, /* a datagram found the queue full */
    CW_LAB_COLUMN_EVENT_DELIVERED,  /* the application at the other end got an item */
    CW_LAB_COLUMN_EVENT_GIVEN_UP    /* the application there learned that an item will not arrive */
};

struct cw_lab_column_event {
    enum cw_lab_column_event_type type;
    uint32_t sender;  /* the end that sent the datagram or the item, 0 or 1 */
    uint32_t traffic; /* DELIVERED, GIVEN_UP: the enum cw_lab_traffic of the item; otherwise 0 */
    uint32_t number;  /* the number of the datagram, or the id of the item */
    uint32_t size;    /* bytes; 0 for GIVEN_UP */
    double time;      /* when this happened, on the column's clock */
    double seconds;   /* SENT: the time until it arrives. DELIVERED, GIVEN_UP: the time since it was
                         sent. LOST: half a round trip. Otherwise 0 */
};

/* Takes the next event; false when there is none. */
bool cw_lab_column_next(struct cw_lab_column *column, struct cw_lab_column_event *event);

/* The events dropped because nobody took them, since create. */
uint64_t cw_lab_column_events_dropped(const struct cw_lab_column *column);

/* The datagrams that an end sent since the statistics began. */
struct cw_lab_wire_stats {
    uint32_t datagrams;
    uint32_t datagrams_lost;
    uint32_t datagrams_overflowed;
    uint64_t bytes; /* bytes of all datagrams, without the headers of UDP and IP */
};

/* Fills in zeros when there is no such end. */
void cw_lab_column_wire_stats(const struct cw_lab_column *column, uint32_t sender,
                              struct cw_lab_wire_stats *stats);

/* Tells the fate of the items of one kind that an end sent. Fills in zeros when there is no such
   kind or end. */
void cw_lab_column_item_stats(const struct cw_lab_column *column, uint32_t sender,
                              enum cw_lab_traffic traffic, struct cw_lab_game_stats *stats);

/* The latency in seconds that a share (0 to 1) of an end's items did not exceed, 0.5 being the
   median; 0 when none have arrived since the statistics began. */
double cw_lab_column_quantile(const struct cw_lab_column *column, uint32_t sender,
                              enum cw_lab_traffic traffic, double share);

/* Begins the statistics anew. Nothing else changes. */
void cw_lab_column_restart_stats(struct cw_lab_column *column);

/* Returns the reason for which an end waited after its last turn. *number is the number that enum
   cw_lab_waiting mentions for it. */
enum cw_lab_waiting cw_lab_column_waiting(const struct cw_lab_column *column, uint32_t end,
                                          uint32_t *number);

/* Fills in the state of an end's flow control; all 0 when its protocol has none. */
void cw_lab_column_control(const struct cw_lab_column *column, uint32_t end,
                           struct cw_lab_control *control);

/* Fills in the newest packet that an end has sent; all 0 when its protocol has none. */
void cw_lab_column_packet(const struct cw_lab_column *column, uint32_t end,
                          struct cw_lab_packet *packet);

/* A hash of all that has happened: every datagram, its bytes, its fate and its times, and every
   event that an application got. */
uint64_t cw_lab_column_hash(const struct cw_lab_column *column);

CW_END_DECLARATIONS

#endif
