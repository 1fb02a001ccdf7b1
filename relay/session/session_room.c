#include "session/session_internal.h"

/* Those of a household, or of one player who tries again. */
#define OPENED_FEW 8.0

void session_list_remove(struct session *session)
{
    struct session_list *list = session->list;
    if (!list)
        return;
    *(session->before ? &session->before->after : &list->first) = session->after;
    *(session->after ? &session->after->before : &list->last) = session->before;
    session->list = NULL;
}

static void insert(struct session_list *list, struct session *session, struct session *before,
                   struct session *after)
{
    session->list = list;
    session->before = before;
    session->after = after;
    *(before ? &before->after : &list->first) = session;
    *(after ? &after->before : &list->last) = session;
}

void session_list_prepend(struct session_list *list, struct session *session)
{
    session_list_remove(session);
    insert(list, session, NULL, list->first);
}

void session_list_append(struct session_list *list, struct session *session)
{
    session_list_remove(session);
    insert(list, session, list->last, NULL);
}

/* An address that opens one session after another must not end that of a newcomer before the game
   server could answer it, nor that of a player before the player is back. */
static bool crowds_out(const struct sessions *all, const unsigned char owner[16],
                       const struct session *session)
{
    const double now = loop_now();
    const double opened = address_memory_count(all->opened, owner, now);
    return !session->ending && opened > OPENED_FEW &&
           opened > address_memory_count(all->opened, session->owner, now);
}

/* A player may still come back to a session that waits, but not to one that the game server has
   left, as when its player goes on in another. */
static struct session *next_to_go(const struct sessions *all)
{
    if (all->unproven.first)
        return all->unproven.first;
    return all->unheard.first ? all->unheard.first : all->waiting.first;
}

static const char *why_it_goes(const struct session *session)
{
    if (session->list == &session->all->unheard)
        return "the game server no longer speaks to it";
    return session->newest ? "the game server has not answered it" : "it has no link";
}

bool session_make_room(struct sessions *all, const unsigned char owner[16])
{
    struct session *session = next_to_go(all);
    if (all->count - all->evicted < all->config.max_sessions)
        return true;
    if (!session || crowds_out(all, owner, session))
        return false;
    unsigned held;
    if (log_limit_pass(&all->room_limit, loop_now(), &held))
        log_warn("session %lu ended for another: --max-sessions is reached, and %s%s", session->id,
                 why_it_goes(session), log_held(held).text);
    session_list_remove(session);
    session->evicted = true;
    all->evicted++;
    if (session->ending)
        session_close_links(session, session_refusal_farewell(SESSION_REFUSED_FULL), true);
    else
        session_end(session, SESSION_END_ROOM);
    return true;
}
