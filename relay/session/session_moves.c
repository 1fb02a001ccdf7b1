#include "session/session_internal.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lookups in the directory per second, and the most at once: a thousand players may come back at
   the same time. */
#define LOOKUPS_PER_SECOND 1000.0
#define LOOKUPS_MOST       4000.0

const uint8_t *sessions_secret(const struct sessions *sessions)
{
    return session_index_secret(sessions->index);
}

/* Returns whether another process can go on with a session, which it can only if the next link
   finds the session there. */
static bool can_move(const struct session *session)
{
    return session->entry.listed && session->allowance.answered &&
           session->sessions->config.resume_seconds > 0.0;
}

/* Fills in the state of a session. Returns its socket; -1 when it has none. */
static int fill_state(const struct session *session, struct session_state *out)
{
    *out = (struct session_state){
        .offences = session->offences,
        .away = session->away,
        .opened = session->opened,
        .active = session->active,
        .unlinked = session->unlinked,
        .last_answer = session->last_answer,
        .token_id = session->token_id,
        .packets = session->allowance.packets,
        .bytes = session->allowance.bytes,
        .traffic = session->traffic,
        .server = session->server,
        .client = session->client,
    };
    memcpy(out->hash, session->entry.hash.bytes, sizeof out->hash);
    memcpy(out->owner, session->owner, sizeof out->owner);
    return upstream_socket(&session->upstream, &out->header);
}

bool sessions_export(struct sessions *sessions, sessions_export_one *take, void *context)
{
    for (size_t i = 0; i < sessions->deadlines.count; i++) {
        const struct session *session =
            lws_container_of(sessions->deadlines.heap[i], struct session, deadline);
        struct session_state state;
        if (!can_move(session))
            continue;
        const int fd = fill_state(session, &state);
        if (fd >= 0 && !take(context, &state, fd))
            return false;
    }
    return true;
}

/* Makes the address of a session count it. A session that was allowed in the other process is not
   refused here, so there is no limit. */
static bool count_address(struct session *session)
{
    struct socket_address owner = {.size = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 *v6 = &owner.address.v6;
    bool full;
    v6->sin6_family = AF_INET6;
    memcpy(&v6->sin6_addr, session->owner, sizeof session->owner);
    session->address = per_address_limit_enter(session->sessions->per_address, &owner, 0, &full);
    return session->address != NULL;
}

static bool carry_on(struct sessions *sessions, const struct session_state *state,
                     const struct session_hash *hash, int fd)
{
    struct session *session = session_create(sessions, state->owner);
    if (!session)
        return false;
    session->server = state->server;
    if (!count_address(session) || !upstream_adopt(&session->upstream, fd, &state->header)) {
        if (session->address)
            per_address_limit_leave(sessions->per_address, session->address);
        free(session);
        return false;
    }
    session->verdict = GATE_PASS;
    session->token_id = state->token_id;
    session->offences = state->offences;
    session->away = state->away != 0;
    session->opened = state->opened;
    session->active = state->active;
    session->last_answer = state->last_answer;
    session->published = sessions->directory.publish != NULL;
    session->unlinked = fmin(state->unlinked, loop_now());
    session->allowance =
        (struct allowance){.answered = true, .packets = state->packets, .bytes = state->bytes};
    session->traffic = state->traffic;
    session->client = state->client;
    session_index_add(sessions->index, &session->entry, hash);
    eviction_append(&sessions->eviction, EVICTION_UNLINKED, &session->eviction);
    session_hurry(session);
    sessions->count++;
    sessions->stats->sessions_adopted++;
    return true;
}

void sessions_set_directory(struct sessions *sessions, const struct session_directory *directory)
{
    sessions->directory = *directory;
}

bool sessions_look_up(struct sessions *sessions, const struct session_hash *hash)
{
    const struct session_directory *directory = &sessions->directory;
    if (!directory->lookup || sessions->draining ||
        !directory->may_contain(directory->context, hash->bytes) ||
        bucket_fill(&sessions->lookups, LOOKUPS_PER_SECOND, LOOKUPS_MOST, loop_now()) < 1.0)
        return true;
    sessions->lookups.level -= 1.0;
    return directory->lookup(directory->context, hash->bytes);
}

void session_publish(struct session *session)
{
    const struct session_directory *directory = &session->sessions->directory;
    struct session_state state;
    if (!directory->publish || !can_move(session))
        return;
    const int fd = fill_state(session, &state);
    session->published = fd >= 0 && directory->publish(directory->context, &state, fd);
}

void session_set_away(struct session *session, bool away)
{
    const struct session_directory *directory = &session->sessions->directory;
    session->away = away;
    if (session->published)
        directory->set_away(directory->context, session->entry.hash.bytes, away);
}

void session_withdraw(struct session *session, bool goes_on)
{
    const struct session_directory *directory = &session->sessions->directory;
    session_index_remove(session->sessions->index, &session->entry);
    if (session->published && !goes_on)
        directory->withdraw(directory->context, session->entry.hash.bytes);
    session->published = false;
}

void sessions_release(struct sessions *sessions, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct session_hash wanted = {.given = true};
    memcpy(wanted.bytes, hash, sizeof wanted.bytes);
    struct session_index_entry *entry = session_index_find(sessions->index, &wanted);
    if (entry)
        session_end(lws_container_of(entry, struct session, entry), SESSION_END_MOVED);
}

/* Returns true unless there is a session of this hash here that the game server has answered. A
   session that it has not answered makes way: it began before the adopted session was answered, or
   before that one arrived here, and its page opens another link at once. */
static bool make_way(const struct sessions *sessions, const struct session_hash *hash)
{
    struct session_index_entry *entry = session_index_find(sessions->index, hash);
    if (!entry)
        return true;
    struct session *session = lws_container_of(entry, struct session, entry);
    if (session->allowance.answered)
        return false;
    session_end(session, SESSION_END_RESTART);
    return true;
}

static bool adopt(struct sessions *sessions, const struct session_state *state, int fd)
{
    struct session_hash hash = {.given = true};
    memcpy(hash.bytes, state->hash, sizeof hash.bytes);
    if (!make_way(sessions, &hash))
        return false;
    /* It has a place already, whatever a reload has made of --max-sessions. */
    if (fd >= 0 && !sessions->draining &&
        sessions_places_taken(sessions) < sessions->config.capacity &&
        carry_on(sessions, state, &hash, fd))
        return true;
    if (sessions->directory.decline)
        sessions->directory.decline(sessions->directory.context, state->hash);
    return false;
}

bool sessions_adopt(struct sessions *sessions, const void *data, size_t size, int fd)
{
    struct session_state state;
    if (session_state_read(data, size, &state) && adopt(sessions, &state, fd))
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}
