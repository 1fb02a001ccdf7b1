/* The group of a game's client: the entities that it predicts together, its own and those that the
   application has chosen. They start from the same snapshot, and each tick steps all of them in the
   order of their ids. */
#ifndef CAUSEWAY_GAME_GROUP_H
#define CAUSEWAY_GAME_GROUP_H

#include "game/smoothing.h"

#include "causeway/game_config.h"
#include "causeway/snapshot.h"

struct cw_game_member {
    uint32_t entity, type;
    bool wanted;     /* the application has chosen it */
    bool there;      /* it is predicted */
    uint8_t *state;  /* after the tick that is played, or before it */
    uint8_t *before; /* before the newest tick */
    bool smooth;     /* there is an old state */
    uint8_t *old;    /* the newest state before the last snapshot */
    double *errors;  /* the fading ones of `state` */
};

struct cw_game_group {
    const struct cw_game_config *config;
    uint32_t chosen;      /* members that are wanted */
    uint32_t count, next; /* next is the place in `order` of the member that is stepped next */
    struct cw_game_member *members;  /* the first one is the client's own */
    struct cw_game_member **order;   /* the predicted members, by id */
    struct cw_smoothing *smoothings; /* for each type that is smoothed, or without limits */
    bool again;                      /* the ticks since the last snapshot are played again */
    bool faded;
    double faded_at;
};

/* Takes the parts from the arena; group is NULL while measuring. config must stay. */
void cw_game_group_layout(struct cw_game_group *group, struct cw_arena *arena,
                          const struct cw_game_config *config);

/* Forgets all members and what was chosen. */
void cw_game_group_reset(struct cw_game_group *group);

/* Sets the members beside the own one. They are predicted from the next snapshot on. */
void cw_game_group_choose(struct cw_game_group *group, const uint32_t *entities, size_t count);

/* Sets the own entity; its state is the caller's matter. Without one nobody is predicted. */
void cw_game_group_set_own(struct cw_game_group *group, uint32_t entity, bool there);

/* Starts all others from the newest snapshot. Returns whether there are any. */
bool cw_game_group_start(struct cw_game_group *group, const struct cw_snapshot_client *snapshots);

/* Ends playing again, so that all are in the newest tick. */
void cw_game_group_finish(struct cw_game_group *group);

/* Begins a tick. Then the members come one after the other; NULL ends the tick. */
void cw_game_group_begin(struct cw_game_group *group);
struct cw_game_member *cw_game_group_next(struct cw_game_group *group);

/* Returns the member that was stepped last. */
struct cw_game_member *cw_game_group_open(struct cw_game_group *group);

/* Returns the predicted member with this id, or NULL. */
struct cw_game_member *cw_game_group_find(const struct cw_game_group *group, uint32_t entity);

/* Lets the errors fade up to now. */
void cw_game_group_fade(struct cw_game_group *group, double now);

/* Copies both states of a member as they are to be shown, but for the errors of the own one. */
void cw_game_group_show(const struct cw_game_group *group, const struct cw_game_member *member,
                        uint8_t *from, uint8_t *to);

#endif
