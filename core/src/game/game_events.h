/* The events of a game: what happens in a tick and is to be played once, as a sound. The server has
   a log of them. Each body for a client has those that the client has not acked yet, and so says
   what happened up to its tick, and what did not. */
#ifndef CAUSEWAY_GAME_EVENTS_H
#define CAUSEWAY_GAME_EVENTS_H

#include "causeway/game_client.h"

/* The most events in a body, and their bytes: the low 16 bits of the first one's number, a byte
   with how many there are, the bit CW_GAME_EVENTS_ALL and for each its age in ticks, its entity (2
   bytes) and its kind. The bit says that there are no more up to the body's tick. */
#define CW_GAME_MOST_EVENTS  32u
#define CW_GAME_EVENTS_COUNT 0x7fu
#define CW_GAME_EVENTS_ALL   0x80u
#define CW_GAME_EVENTS_HEAD  3u
#define CW_GAME_EVENT_SIZE   4u

/* The events that a server keeps, and the snapshots that it remembers to have sent to a client. */
#define CW_GAME_LOG_EVENTS 256u
#define CW_GAME_LOG_SENT   64u

/* The events of a client: predicted ones without the server's word, and those not taken yet. */
#define CW_GAME_PREDICTED_EVENTS 32u
#define CW_GAME_QUEUED_EVENTS    64u

struct cw_game_happened {
    uint32_t tick;
    uint16_t entity;
    uint8_t kind;
};

/* The server's newest events. */
struct cw_game_log {
    uint32_t count; /* since create or reset */
    struct cw_game_happened events[CW_GAME_LOG_EVENTS];
};

/* The part of the log that a client has: all before `acked`, and all before `end` if it has that
   snapshot. */
struct cw_game_log_reader {
    uint32_t acked;
    struct {
        uint16_t number;
        uint32_t end;
    } sent[CW_GAME_LOG_SENT];
};

void cw_game_log_add(struct cw_game_log *log, uint32_t tick, uint32_t entity, uint8_t kind);

/* Writes what a client lacks up to a tick, as much as fits; there must be room for one. Returns the
   size, 0 for no events. *end becomes the number of the first event that is not in it. */
size_t cw_game_log_write(const struct cw_game_log *log, const struct cw_game_log_reader *reader,
                         uint32_t tick, uint8_t *out, size_t capacity, uint32_t *end);

/* Notes with which snapshot they were sent, and that a snapshot has arrived. */
void cw_game_log_sent(struct cw_game_log_reader *reader, uint32_t number, uint32_t end);
void cw_game_log_acked(struct cw_game_log_reader *reader, uint16_t number);

/* The client's events: those that it has predicted, and those that the application is to take. */
struct cw_game_events {
    bool known;    /* the server has told events */
    uint16_t next; /* the number of the next one */
    uint32_t predicted_count;
    struct cw_game_happened predicted[CW_GAME_PREDICTED_EVENTS];
    uint32_t first, count;
    struct cw_game_event queue[CW_GAME_QUEUED_EVENTS];
};

void cw_game_events_reset(struct cw_game_events *events);

/* Takes an event that the client itself has played in a tick. */
void cw_game_events_predict(struct cw_game_events *events, uint32_t tick, uint32_t entity,
                            uint8_t kind);

/* Takes the server's word of a tick: the events of a body, NULL for none. It leaves
   out events of entities from max_entities on. */
void cw_game_events_receive(struct cw_game_events *events, const uint8_t *data, uint32_t tick,
                            uint32_t max_entities);

bool cw_game_events_next(struct cw_game_events *events, struct cw_game_event *event);

#endif
