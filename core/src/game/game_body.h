/* The bodies that the two ends of a game send to each other.

   From the server: a byte of flags, the client's entity (2 bytes), how many ticks went without the
   client's input (its low byte), then as the flags say an echo of the clock, a report about inputs,
   the server's rate (2 bytes) and events (see game_events.h), and a snapshot.

   From the client: a byte of flags, a stamp of the clock, as the flag says the low 16 bits of the
   number of its newest snapshot, and inputs, of which there may be none. */
#ifndef CAUSEWAY_GAME_BODY_H
#define CAUSEWAY_GAME_BODY_H

#include "causeway/clock_sync.h"
#include "causeway/input.h"

/* The most bytes before the events or the inputs. */
#define CW_GAME_DOWN_HEAD (4 + CW_CLOCK_ECHO_SIZE + CW_INPUT_REPORT_SIZE + 2)
#define CW_GAME_UP_HEAD   (1 + CW_CLOCK_STAMP_SIZE + 2)

/* A rate of 1 on the wire: the server keeps up. */
#define CW_GAME_FULL_RATE 32768

/* The head of a body from the server. Parts that are not there are NULL. */
struct cw_game_down {
    uint16_t entity;
    uint8_t starved;
    uint16_t rate; /* 1 to CW_GAME_FULL_RATE */
    const uint8_t *echo, *report;
    bool has_events;
    const uint8_t *events; /* only where the head was read */
};

/* The head of a body from the client. */
struct cw_game_up {
    const uint8_t *stamp;
    bool has_snapshot;
    uint16_t snapshot;
};

/* Writes a head into CW_GAME_DOWN_HEAD or CW_GAME_UP_HEAD bytes and returns its size. */
size_t cw_game_write_down(const struct cw_game_down *head, uint8_t *out);
size_t cw_game_write_up(const struct cw_game_up *head, uint8_t *out);

/* Reads a head and returns its size, or 0 when the bytes are none. */
size_t cw_game_read_down(const uint8_t *data, size_t size, struct cw_game_down *head);
size_t cw_game_read_up(const uint8_t *data, size_t size, struct cw_game_up *head);

#endif
