#include "game/game_group.h"

#include <math.h>
#include <string.h>

static const float *limits_of(const struct cw_game_config *config, uint32_t type)
{
    if (type == config->player_type)
        return config->smooth_limits;
    return config->group_limits ? config->group_limits[type] : NULL;
}

/* Lays out what smooths each type. Returns the most numbers that one of them has. */
static uint32_t lay_out_smoothings(struct cw_game_group *parts, struct cw_arena *arena,
                                   const struct cw_game_config *config)
{
    const uint32_t count = config->max_group > 0 ? cw_schema_count(config->schema) : 0;
    uint32_t most = 0;
    parts->smoothings = cw_arena_take(arena, count * sizeof *parts->smoothings);
    for (uint32_t type = 0; type < count; type++) {
        const float *const limits = limits_of(config, type);
        struct cw_schema_numbers numbers = {0};
        if (!limits)
            continue;
        cw_smoothing_layout(parts->smoothings ? &parts->smoothings[type] : NULL, arena,
                            config->schema, type, limits);
        cw_schema_list_numbers(config->schema, type, &numbers);
        most = numbers.count > most ? numbers.count : most;
    }
    return most;
}

void cw_game_group_layout(struct cw_game_group *group, struct cw_arena *arena,
                          const struct cw_game_config *config)
{
    const size_t count = 1 + (size_t)config->max_group;
    const size_t size = cw_schema_message_size(config->schema);
    struct cw_game_group parts = {.config = config};
    const uint32_t numbers = lay_out_smoothings(&parts, arena, config);
    parts.members = cw_arena_take(arena, count * sizeof *parts.members);
    parts.order = cw_arena_take(arena, count * sizeof(struct cw_game_member *));
    for (size_t i = 0; i < count; i++) {
        struct cw_game_member member = {.type = config->player_type};
        member.state = cw_arena_take(arena, size);
        member.before = cw_arena_take(arena, size);
        member.old = cw_arena_take(arena, i > 0 ? size : 0);
        member.errors = cw_arena_take(arena, i > 0 ? numbers * sizeof *member.errors : 0);
        if (parts.members)
            parts.members[i] = member;
    }
    if (group)
        *group = parts;
}

/* Puts the members that are predicted in order. */
static void sort(struct cw_game_group *group)
{
    group->count = group->next = 0;
    for (uint32_t i = 0; i <= group->config->max_group; i++) {
        struct cw_game_member *const member = &group->members[i];
        uint32_t place = group->count;
        if (!member->there || !group->members[0].there)
            continue;
        for (; place > 0 && group->order[place - 1]->entity > member->entity; place--)
            group->order[place] = group->order[place - 1];
        group->order[place] = member;
        group->count++;
    }
}

static void drop(struct cw_game_member *member)
{
    member->wanted = member->there = false;
}

void cw_game_group_reset(struct cw_game_group *group)
{
    for (uint32_t i = 0; i <= group->config->max_group; i++)
        drop(&group->members[i]);
    group->chosen = group->count = group->next = 0;
    group->again = group->faded = false;
}

static bool is_chosen(const uint32_t *entities, size_t count, uint32_t entity)
{
    for (size_t i = 0; i < count; i++)
        if (entities[i] == entity)
            return true;
    return false;
}

/* Finds the member that was chosen for an entity; without one it is a free one, or NULL. */
static struct cw_game_member *find_wanted(struct cw_game_group *group, uint32_t entity)
{
    struct cw_game_member *unused = NULL;
    for (uint32_t i = 1; i <= group->config->max_group; i++) {
        struct cw_game_member *const member = &group->members[i];
        if (member->wanted && member->entity == entity)
            return member;
        if (!member->wanted && !unused)
            unused = member;
    }
    return unused;
}

void cw_game_group_choose(struct cw_game_group *group, const uint32_t *entities, size_t count)
{
    for (uint32_t i = 1; i <= group->config->max_group; i++)
        if (!is_chosen(entities, count, group->members[i].entity))
            drop(&group->members[i]);
    for (size_t i = 0; i < count; i++) {
        struct cw_game_member *const member = find_wanted(group, entities[i]);
        if (member && !member->wanted) {
            member->wanted = true;
            member->entity = entities[i];
        }
    }
    group->chosen = (uint32_t)count;
    sort(group);
}

void cw_game_group_set_own(struct cw_game_group *group, uint32_t entity, bool there)
{
    group->members[0].entity = entity;
    group->members[0].there = there;
    for (uint32_t i = 1; i <= group->config->max_group; i++)
        group->members[i].there &= there && group->members[i].entity != entity;
    sort(group);
}

static size_t size_of(const struct cw_game_group *group, const struct cw_game_member *member)
{
    return cw_schema_type(group->config->schema, member->type)->size;
}

/* Starts a member from its state in a snapshot, NULL when it has none. */
static void start(struct cw_game_group *group, struct cw_game_member *member, uint32_t type,
                  const void *state)
{
    const bool goes_on = member->there && state && member->type == type;
    member->there = state != NULL;
    if (!state)
        return;
    member->type = type;
    if (!goes_on)
        memset(member->errors, 0, group->smoothings[type].numbers.count * sizeof *member->errors);
    else if (!group->again)
        memcpy(member->old, member->state, size_of(group, member));
    member->smooth = goes_on && (member->smooth || !group->again);
    memcpy(member->state, state, size_of(group, member));
    memcpy(member->before, state, size_of(group, member));
}

bool cw_game_group_start(struct cw_game_group *group, const struct cw_snapshot_client *snapshots)
{
    for (uint32_t i = 1; i <= group->config->max_group; i++) {
        struct cw_game_member *const member = &group->members[i];
        const bool other = member->wanted && member->entity != group->members[0].entity;
        uint32_t type = 0;
        const void *const state =
            other ? cw_snapshot_client_state(snapshots, member->entity, &type) : NULL;
        start(group, member, type, state);
    }
    sort(group);
    group->again = group->count > 1;
    return group->again;
}

void cw_game_group_finish(struct cw_game_group *group)
{
    for (uint32_t i = 1; i <= group->config->max_group && group->again; i++) {
        struct cw_game_member *const member = &group->members[i];
        if (member->there && member->smooth)
            cw_smoothing_correct(&group->smoothings[member->type], member->errors, member->old,
                                 member->state);
    }
    group->again = false;
}

void cw_game_group_begin(struct cw_game_group *group)
{
    group->next = 0;
    for (uint32_t i = 0; i < group->count; i++)
        memcpy(group->order[i]->before, group->order[i]->state, size_of(group, group->order[i]));
}

struct cw_game_member *cw_game_group_next(struct cw_game_group *group)
{
    return group->next < group->count ? group->order[group->next++] : NULL;
}

struct cw_game_member *cw_game_group_open(struct cw_game_group *group)
{
    return group->order[group->next - 1];
}

struct cw_game_member *cw_game_group_find(const struct cw_game_group *group, uint32_t entity)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->order[i]->entity == entity)
            return group->order[i];
    return NULL;
}

void cw_game_group_fade(struct cw_game_group *group, double now)
{
    const double passed = group->faded ? fmax(now - group->faded_at, 0) : 0;
    const double left = exp(-passed / group->config->smooth_seconds);
    group->faded_at = group->faded ? group->faded_at + passed : now;
    group->faded = true;
    for (uint32_t i = 1; i <= group->config->max_group; i++) {
        const struct cw_game_member *const member = &group->members[i];
        for (uint32_t n = 0; n < group->smoothings[member->type].numbers.count; n++)
            member->errors[n] *= left;
    }
}

void cw_game_group_show(const struct cw_game_group *group, const struct cw_game_member *member,
                        uint8_t *from, uint8_t *to)
{
    const size_t size = size_of(group, member);
    memcpy(from, member->before, size);
    memcpy(to, member->state, size);
    if (member == group->members)
        return;
    cw_smoothing_add(&group->smoothings[member->type], member->errors, from);
    cw_smoothing_add(&group->smoothings[member->type], member->errors, to);
}
