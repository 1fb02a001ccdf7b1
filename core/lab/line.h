/* A column of the lab over a real network: a client (this) that sends items, and a server (echo.h)
   that sends each item back, both with peers of the same protocol. The latency of an item is its
   whole way, there and back, by the client's clock. Time and datagrams come from the caller. */
#ifndef CAUSEWAY_LAB_LINE_H
#define CAUSEWAY_LAB_LINE_H

#include "causeway/base.h"
#include "lab/column.h"
#include "lab/game.h"
#include "lab/peer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* Each datagram begins with one of these, little-endian, and the peer's datagram follows.

       to the server: 1 byte    the version
                      1 byte    the number of the protocol
                      4 bytes   the key: a random number, which another line does not have
                      4 bytes   the number of the datagram, from 0
       to the client: 1 byte    the version
                      1 byte    an enum cw_lab_answer
                      4 bytes   the key
                      4 bytes   the number of the datagram, from 0
                      4 bytes   how many datagrams have come from the client
                      4 bytes   the number of the newest of them
                      4 bytes   microseconds since that one came
                      1 byte    an enum cw_lab_waiting, and
                      4 bytes   its number: what the server waits for */
#define CW_LAB_LINE_VERSION       1
#define CW_LAB_LINE_CLIENT_HEADER 10
#define CW_LAB_LINE_SERVER_HEADER 27

/* No datagram of either end is longer. */
#define CW_LAB_LINE_MAX_DATAGRAM 1227

/* The server says one of these to a client. */
enum cw_lab_answer {
    CW_LAB_ANSWER_NONE = 0, /* nothing has come from it */
    CW_LAB_ANSWER_ECHO,     /* it sends items back */
    CW_LAB_ANSWER_FULL,     /* it has no place left */
    CW_LAB_ANSWER_FOREIGN   /* it does not know the version or the protocol */
};

/* The client's end. */
struct cw_lab_line;

struct cw_lab_line_config {
    struct cw_allocator allocator; /* zero: malloc */
    uint32_t protocol;             /* its number, below cw_lab_protocol_count(); default 0 */
    uint32_t key;                  /* a random number for each line; default 0 */
    bool states;                   /* a state of 64 bytes per tick; default true */
    uint32_t message_every;        /* ticks from one message of 64 bytes to the next; 0: none;
                                      default 1 */
    bool blocks;                   /* blocks of 102400 bytes, one after the other; default false */
    uint32_t max_events;           /* as in struct cw_lab_column_config; default 4096 */
};

struct cw_lab_line_config cw_lab_line_config_default(void);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_lab_line_memory(const struct cw_lab_line_config *config);

/* *line is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT when there is no such protocol or
   max_events is out of range, CW_ERROR_NO_MEMORY. */
enum cw_error cw_lab_line_create(const struct cw_lab_line_config *config,
                                 struct cw_lab_line **line);

/* NULL is allowed. */
void cw_lab_line_destroy(struct cw_lab_line *line);

/* Takes a datagram that arrived. Returns false when it is not from the server of this line. */
bool cw_lab_line_receive(struct cw_lab_line *line, const uint8_t *data, size_t size, double now);

/* Lets a tick pass, of which there are CW_LAB_TICKS_PER_SECOND. */
void cw_lab_line_step(struct cw_lab_line *line, double now);

/* Writes the next datagram to out and returns its size; 0 when there is none, or when capacity is
   below CW_LAB_LINE_MAX_DATAGRAM. Call it until it returns 0, after each receive and step. */
size_t cw_lab_line_transmit(struct cw_lab_line *line, uint8_t *out, size_t capacity, double now);

/* Takes the next event: DELIVERED when an item has come back, or GIVEN_UP; false when there is
   none. */
bool cw_lab_line_next(struct cw_lab_line *line, struct cw_lab_column_event *event);

/* Tells of the datagrams to the client (sender 0) or to the server (sender 1) whose fate is known
   here. A datagram that is late counts as lost until it comes. bytes are those of the peers: to the
   client, of what came; to the server, of all that was sent. */
void cw_lab_line_wire_stats(const struct cw_lab_line *line, uint32_t sender,
                            struct cw_lab_wire_stats *stats);

/* The fate of the client's items of one kind. */
void cw_lab_line_item_stats(const struct cw_lab_line *line, enum cw_lab_traffic traffic, double now,
                            struct cw_lab_game_stats *stats);

/* As cw_lab_column_waiting; end 0 is the server, in its own words. */
enum cw_lab_waiting cw_lab_line_waiting(const struct cw_lab_line *line, uint32_t end,
                                        uint32_t *number);

/* The state of the client's flow control; all 0 when its protocol has none. */
void cw_lab_line_control(const struct cw_lab_line *line, struct cw_lab_control *control);

/* The facts that a line knows of the network and of the server. */
struct cw_lab_line_stats {
    double rtt;       /* a datagram's round trip in seconds, smoothed; 0 before there is one */
    double least_rtt; /* the shortest; 0 before there is one */
    double heard;     /* the time when something came from the server; 0: never */
    enum cw_lab_answer answer; /* the server's last word */
};

void cw_lab_line_get_stats(const struct cw_lab_line *line, struct cw_lab_line_stats *stats);

CW_END_DECLARATIONS

#endif
