/* The game at one end of a column: the items that it sends, and their fate. */
#ifndef CAUSEWAY_LAB_GAME_H
#define CAUSEWAY_LAB_GAME_H

#include "lab/latencies.h"
#include "lab/peer.h"

CW_BEGIN_DECLARATIONS

/* Bytes of an item of each kind of traffic. */
#define CW_LAB_STATE_SIZE   64
#define CW_LAB_MESSAGE_SIZE 64
#define CW_LAB_BLOCK_SIZE   CW_LAB_BLOCK_MAX

/* The number of items of a kind that are remembered. While this many messages are under way, the
   game sends no more. */
#define CW_LAB_GAME_REMEMBERED 4096

/* The fates of the items of one kind, counted since the statistics began. */
struct cw_lab_game_stats {
    uint32_t sent;
    uint32_t delivered;
    uint32_t lost;    /* items that the other end learned will not arrive */
    uint32_t refused; /* states that the peer had no room for, and messages that were not sent
                         because too many were under way */
    uint32_t faults;  /* faults of the protocol: items that arrived twice, that nobody sent, or that
                         should have come in order and did not */
    double mean_seconds;   /* the latency from send to delivery */
    double oldest_seconds; /* the age of the oldest message or block under way; 0 for states */
};

struct cw_lab_sent_item {
    uint32_t id;
    bool under_way;
    double sent;
};

/* One kind of traffic. */
struct cw_lab_flow {
    uint32_t made;     /* items so far, and the id of the next one */
    uint32_t accepted; /* items that the peer accepted; the ones from here to made wait for it */
    uint32_t settled;  /* all items before this one were delivered or lost; not for states */
    struct cw_lab_sent_item items[CW_LAB_GAME_REMEMBERED]; /* the items by id */
    struct cw_lab_game_stats stats;
    struct cw_lab_latencies latencies;
};

/* The state of a game; all zero has sent nothing. */
struct cw_lab_game {
    struct cw_lab_flow flows[CW_LAB_BLOCK + 1]; /* the flows by kind of traffic */
};

/* Makes a new item of the kind if it is due, and offers the peer the items that it has not
   accepted. A block is made only when none is under way. A state that is refused is not offered
   again; the next one gets its id. */
void cw_lab_game_send(struct cw_lab_game *game, enum cw_lab_traffic traffic, bool due,
                      const struct cw_lab_peer_type *type, void *peer, double now);

/* Takes an arrival at the other end. *seconds is the time that the item was under way. Returns
   false when the arrival is one of the faults. */
bool cw_lab_game_settle(struct cw_lab_game *game, const struct cw_lab_arrival *arrival, double now,
                        double *seconds);

/* Fills in zeros when there is no such traffic. */
void cw_lab_game_get_stats(const struct cw_lab_game *game, enum cw_lab_traffic traffic, double now,
                           struct cw_lab_game_stats *stats);

/* Begins the statistics anew. */
void cw_lab_game_restart_stats(struct cw_lab_game *game);

CW_END_DECLARATIONS

#endif
