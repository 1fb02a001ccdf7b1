#include "session/session_internal.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thousand players may come back at once. */
#define QUESTIONS_PER_SECOND 1000.0
#define QUESTIONS_MOST       4000.0

const uint8_t *sessions_secret(const struct sessions *all)
{
    return names_secret(all->names);
}

/* Whether another process can go on with it; its next link must find it there. */
static bool can_move(const struct session *session)
{
    return session->named.listed && session->allowance.answered &&
           session->all->config.resume_seconds > 0.0;
}

/* Returns the socket that belongs to it; -1 when there is none. */
static int fill_parcel(const struct session *session, struct parcel *out)
{
    *out = (struct parcel){
        .offences = session->offences,
        .away = session->away,
        .opened = session->opened,
        .active = session->active,
        .unlinked = session->unlinked,
        .heard = session->heard,
        .packets = session->allowance.packets,
        .bytes = session->allowance.bytes,
        .traffic = session->traffic,
        .server = session->server,
        .client = session->client,
    };
    memcpy(out->name, session->named.name.hash, sizeof out->name);
    memcpy(out->owner, session->owner, sizeof out->owner);
    return upstream_socket(&session->upstream, &out->header);
}

bool sessions_hand_over(struct sessions *all, sessions_take *take, void *context)
{
    for (size_t i = 0; i < all->deadlines.count; i++) {
        const struct session *session =
            lws_container_of(all->deadlines.heap[i], struct session, deadline);
        struct parcel parcel;
        if (!can_move(session))
            continue;
        const int fd = fill_parcel(session, &parcel);
        if (fd >= 0 && !take(context, &parcel, fd))
            return false;
    }
    return true;
}

/* Has its address count it. What it had in the other process is not refused here. */
static bool count_address(struct session *session)
{
    struct socket_address owner = {.size = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 *v6 = &owner.address.v6;
    bool full;
    v6->sin6_family = AF_INET6;
    memcpy(&v6->sin6_addr, session->owner, sizeof session->owner);
    session->address = per_address_limit_enter(session->all->per_address, &owner, 0, &full);
    return session->address != NULL;
}

static bool carry_on(struct sessions *all, const struct parcel *parcel, const struct name *name,
                     int fd)
{
    struct session *session = session_create(all, parcel->owner);
    if (!session)
        return false;
    session->server = parcel->server;
    if (!count_address(session) || !upstream_adopt(&session->upstream, fd, &parcel->header)) {
        if (session->address)
            per_address_limit_leave(all->per_address, session->address);
        free(session);
        return false;
    }
    session->verdict = GATE_PASS;
    session->offences = parcel->offences;
    session->away = parcel->away != 0;
    session->opened = parcel->opened;
    session->active = parcel->active;
    session->heard = parcel->heard;
    session->kept = all->peers.keep != NULL;
    session->unlinked = fmin(parcel->unlinked, loop_now());
    session->allowance =
        (struct allowance){.answered = true, .packets = parcel->packets, .bytes = parcel->bytes};
    session->traffic = parcel->traffic;
    session->client = parcel->client;
    names_add(all->names, &session->named, name);
    session_list_append(&all->waiting, session);
    session_hurry(session);
    all->count++;
    all->stats->sessions_adopted++;
    return true;
}

void sessions_set_peers(struct sessions *all, const struct session_peers *peers)
{
    all->peers = *peers;
}

void sessions_ask(struct sessions *all, const struct name *name)
{
    const struct session_peers *peers = &all->peers;
    if (!peers->ask || all->draining || !peers->may_have(peers->context, name->hash) ||
        bucket_fill(&all->questions, QUESTIONS_PER_SECOND, QUESTIONS_MOST, loop_now()) < 1.0)
        return;
    all->questions.level -= 1.0;
    peers->ask(peers->context, name->hash);
}

void session_keep(struct session *session)
{
    const struct session_peers *peers = &session->all->peers;
    struct parcel parcel;
    if (!peers->keep || !can_move(session))
        return;
    const int fd = fill_parcel(session, &parcel);
    session->kept = fd >= 0 && peers->keep(peers->context, &parcel, fd);
}

void session_set_away(struct session *session, bool away)
{
    const struct session_peers *peers = &session->all->peers;
    session->away = away;
    if (session->kept)
        peers->set_away(peers->context, session->named.name.hash, away);
}

void session_unname(struct session *session, bool goes_on)
{
    const struct session_peers *peers = &session->all->peers;
    names_remove(session->all->names, &session->named);
    if (session->kept && !goes_on)
        peers->forget(peers->context, session->named.name.hash);
    session->kept = false;
}

void sessions_leave(struct sessions *all, const uint8_t hash[PARCEL_NAME_SIZE])
{
    struct name name = {.given = true};
    memcpy(name.hash, hash, sizeof name.hash);
    struct name_entry *entry = names_find(all->names, &name);
    if (entry)
        session_end(lws_container_of(entry, struct session, named), SESSION_END_MOVED);
}

/* True unless a session of this name is here that the game server has answered. One that began
   before this one was answered, or while it took long to get it, makes way: its page comes back at
   once. */
static bool make_way(const struct sessions *all, const struct name *name)
{
    struct name_entry *entry = names_find(all->names, name);
    if (!entry)
        return true;
    struct session *session = lws_container_of(entry, struct session, named);
    if (session->allowance.answered)
        return false;
    session_end(session, SESSION_END_RESTART);
    return true;
}

static bool adopt(struct sessions *all, const struct parcel *parcel, int fd)
{
    struct name name = {.given = true};
    memcpy(name.hash, parcel->name, sizeof name.hash);
    if (!make_way(all, &name))
        return false;
    if (fd >= 0 && !all->draining && all->count - all->evicted < all->config.max_sessions &&
        carry_on(all, parcel, &name, fd))
        return true;
    if (all->peers.decline)
        all->peers.decline(all->peers.context, parcel->name);
    return false;
}

bool sessions_adopt(struct sessions *all, const void *data, size_t size, int fd)
{
    struct parcel parcel;
    if (parcel_read(data, size, &parcel) && adopt(all, &parcel, fd))
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}
