/* Who owns a session of a relay with workers: the supervisor's directory, the workers, their death, and an upgrade of them
   all. When the supervisor dies without a successor, its pages move to another relay: slots.pml. check.mjs has the sizes
   that are searched, and the guards that it removes with -DNO_... to see the search fail.

   A page plays on one session by links to any worker. A session is the pair of a hash, which names its page, and a UDP
   socket, whose address the game server knows. Messages between processes keep their order, and the supervisor never
   waits for a worker. Losses of links, deaths, late answers and refusals are bounded by budgets; their order is free. The
   limit of lookups per second and the filter's false positives are left out.

   `file:function` in a comment names the function that a step stands for; check.mjs sees that it exists. */

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef CHANNEL
#define CHANNEL 2
#endif
#ifndef LOSSES
#define LOSSES 2
#endif
#ifndef SECOND_LINKS
#define SECOND_LINKS 1
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef LATE
#define LATE 1
#endif
#ifndef REFUSALS
#define REFUSALS 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifdef UPGRADE
#define GENERATIONS 2
#else
#define GENERATIONS 1
#endif
#define ALL     (GENERATIONS * WORKERS)
#define OF(w)   ((w) / WORKERS) /* the generation of a worker */
#define AT(w, p) ((w) * PAGES + (p))

mtype = { PUBLISH, WITHDRAW, LOOKUP, DECLINE, SESSION, UNKNOWN, RELEASE, REPLACED };
chan to_supervisor[ALL] = [CHANNEL] of { mtype, byte, byte };
chan to_worker[ALL] = [CHANNEL] of { mtype, byte, byte };

/* A session at a worker. ASKED: the game server is going to answer it. HELD: the game server has. */
#define NONE  0
#define FRESH 1
#define ASKED 2
#define HELD  3
byte held[ALL * PAGES];
byte socket_of[ALL * PAGES];
bit published[ALL * PAGES];
bit dead[ALL];
bit draining[ALL];
byte awaits[ALL]; /* the page, plus 1, for which an answer has not come */
bit busy[ALL]; /* it waits for an answer, and does nothing else */

/* The directory: the worker that has a session. */
#define NO_ENTRY  0
#define NO_WORKER 1
#define BY(w)     ((w) + 2)
byte owner[GENERATIONS * PAGES];
byte kept_socket[GENERATIONS * PAGES];
byte filter[GENERATIONS * PAGES];
bit asking[ALL]; /* a question that is not answered at once */
byte asks_page[ALL];

/* A generation of processes. */
#define STARTING 0
#define SERVING  1
#define LEFT     2
#define KILLED   3
byte stage[GENERATIONS];

/* A page: the workers to which its two links go, plus 1; the socket that the game server knows; whether its client is
   connected there; the sockets so far. */
byte link_at[PAGES * 2];
byte server_knows[PAGES];
byte moved[PAGES]; /* times */
bit connected[PAGES];
byte sockets[PAGES];

byte losses = LOSSES, second_links = SECOND_LINKS, deaths = DEATHS, late = LATE, refusals = REFUSALS, expiries = EXPIRIES;

#define LINKED(w, p) (link_at[2 * (p)] == (w) + 1 || link_at[2 * (p) + 1] == (w) + 1)

/* A worker that is about to give a session up, or to end, is no owner any more. */
#define OWNS(w, p) \
    (held[AT(w, p)] == HELD && !(to_worker[w]??[RELEASE, eval(p), _]) && stage[OF(w)] == SERVING)

#define WITHDRAWS_1(w, p) (to_supervisor[w]??[WITHDRAW, eval(p), _])
#if WORKERS == 1
#define WITHDRAWS(g, p) WITHDRAWS_1(g, p)
#elif WORKERS == 2
#define WITHDRAWS(g, p) (WITHDRAWS_1(2 * (g), p) || WITHDRAWS_1(2 * (g) + 1, p))
#else
#define WITHDRAWS(g, p) (WITHDRAWS_1(3 * (g), p) || WITHDRAWS_1(3 * (g) + 1, p) || WITHDRAWS_1(3 * (g) + 2, p))
#endif

inline unlink(w, p)
{
    if :: link_at[2 * (p)] == (w) + 1 -> link_at[2 * (p)] = 0 :: else fi;
    if :: link_at[2 * (p) + 1] == (w) + 1 -> link_at[2 * (p) + 1] = 0 :: else fi
}

/* A client whose move has come to nothing begins another one. */
inline forget_page(w, p)
{
    connected[p] = connected[p] || held[AT(w, p)] == ASKED;
    held[AT(w, p)] = NONE;
    socket_of[AT(w, p)] = 0;
    unlink(w, p)
}

/* relay/session/session.c:session_end, relay/session/session_moves.c:session_withdraw */
inline end_session(w, p, goes_on)
{
    forget_page(w, p);
    if
    :: published[AT(w, p)] && !(goes_on) -> published[AT(w, p)] = 0; to_supervisor[w]!WITHDRAW, p, 0
    :: else -> published[AT(w, p)] = 0
    fi
}

/* No two workers of one generation own one socket, and no page has two sockets that are owned. */
inline assert_one_owner(w, p)
{
    other = OF(w) * WORKERS;
    do
    :: other < (OF(w) + 1) * WORKERS -> assert(other == w || !OWNS(other, p) || !OWNS(w, p)); other++
    :: else -> other = 0; break
    od
}

/* relay/session/session_moves.c:adopt, relay/session/session_moves.c:make_way, relay/session/session_moves.c:carry_on,
   relay/process/worker.c:decline */
inline adopt(w, p, s)
{
    if
#ifdef NO_MAKE_WAY
    :: held[AT(w, p)] != NONE -> skip
#else
    :: held[AT(w, p)] == HELD -> skip
#endif
    :: else ->
        if :: held[AT(w, p)] != NONE -> end_session(w, p, true) :: else fi;
        if
        :: draining[w] -> to_supervisor[w]!DECLINE, p, 0
        :: !draining[w] && refusals > 0 -> refusals--; to_supervisor[w]!DECLINE, p, 0
        :: !draining[w] ->
            held[AT(w, p)] = HELD;
            socket_of[AT(w, p)] = s;
            published[AT(w, p)] = 1;
            assert_one_owner(w, p)
        fi
    fi
}

/* relay/process/shutdown.c:shutdown_leave, relay/session/session.c:sessions_end_all */
inline leave(w)
{
    draining[w] = 1;
    page = 0;
    do
    :: page < PAGES && held[AT(w, page)] != NONE -> end_session(w, page, true)
    :: page < PAGES && held[AT(w, page)] == NONE -> page++
    :: else -> page = 0; break
    od
}

/* relay/process/worker.c:obey, relay/session/session_moves.c:sessions_release */
inline obey(w, m, p, s)
{
    if
    :: m == SESSION -> adopt(w, p, s)
    :: m == RELEASE && held[AT(w, p)] != NONE -> end_session(w, p, true)
    :: m == REPLACED -> leave(w)
    :: else
    fi;
    if :: (m == SESSION || m == UNKNOWN) && awaits[w] == p + 1 -> awaits[w] = 0 :: else fi
}

/* A worker dies with all that it has. */
inline die(w)
{
    page = 0;
    do
    :: page < PAGES ->
        forget_page(w, page);
        published[AT(w, page)] = 0;
        page++
    :: else -> page = 0; break
    od;
    do :: to_worker[w]?_, _, _ :: empty(to_worker[w]) -> break od;
    awaits[w] = 0;
    dead[w] = 1
}

#define MAY_DIE(w) (deaths > 0 && stage[OF(w)] == SERVING)

/* relay/session/session_moves.c:sessions_look_up, relay/process/worker.c:lookup. It waits, and `known` tells whether the
   answer came in time. */
inline look_up(w, p)
{
    known = true;
    if
#ifndef NO_SINGLE_QUESTION
    :: !draining[w] && awaits[w] != 0 -> known = false
    :: !draining[w] && awaits[w] == 0 && filter[OF(w) * PAGES + p] > 0 ->
#else
    :: !draining[w] && filter[OF(w) * PAGES + p] > 0 ->
#endif
        awaits[w] = p + 1;
        to_supervisor[w]!LOOKUP, p, 0;
        do
        :: atomic { to_worker[w]?m, q, s ->
               obey(w, m, q, s);
               m = 0; q = 0; s = 0;
               if :: awaits[w] == 0 -> break :: else fi }
        :: atomic { late > 0 -> late--; known = false; break }
        :: atomic { stage[OF(w)] == KILLED -> known = false; break }
        :: atomic { dead[w] -> known = false; break }
        :: atomic { MAY_DIE(w) && !dead[w] -> deaths--; die(w) }
        od
    :: else
    fi
}

/* A page opens a link when it has none, and sometimes a second one. */
#define MAY_OPEN(w, p) \
    (!busy[w] && !dead[w] && !draining[w] && stage[OF(w)] == SERVING && !LINKED(w, p) && \
     ((link_at[2 * (p)] == 0 && link_at[2 * (p) + 1] == 0) || \
      (link_at[2 * (p)] * link_at[2 * (p) + 1] == 0 && second_links > 0)))

/* relay/session/session_links.c:session_link_open, relay/session/session_links.c:join,
   relay/session/session_links.c:begin. The link opens at the one that the page still lacks. */
inline open_link(w, p)
{
    if
    :: dead[w] || draining[w] || stage[OF(w)] != SERVING || LINKED(w, p) -> skip
    :: else ->
        if :: held[AT(w, p)] == NONE -> held[AT(w, p)] = FRESH :: else fi;
        if
        :: link_at[2 * p] == 0 -> link_at[2 * p] = w + 1
        :: link_at[2 * p] != 0 && link_at[2 * p + 1] == 0 -> link_at[2 * p + 1] = w + 1
        :: else
        fi
    fi
}

/* The page sends on a session without an answer: relay/session/session.c:session_receive,
   relay/session/session.c:is_only_one. The game server lets a client connect once, and move from then on, by one path at
   a time: when the client has moved since the look-up began, it goes on by its newer path. */
#define NEVER 255
inline send_datagram(w, p)
{
    if
    :: held[AT(w, p)] == FRESH && known && moved[p] == knew ->
        held[AT(w, p)] = ASKED;
        if :: socket_of[AT(w, p)] == 0 -> sockets[p]++; socket_of[AT(w, p)] = sockets[p] :: else fi;
        server_knows[p] = socket_of[AT(w, p)];
        moved[p]++;
        connected[p] = 0
    :: else
    fi
}

/* relay/session/session.c:on_answer, relay/session/session_moves.c:session_publish, relay/process/worker.c:publish */
inline take_answer(w, p)
{
    held[AT(w, p)] = HELD;
    connected[p] = 1;
    /* A page never gets a second session while the first lives in the same generation. */
    assert_one_owner(w, p);
    assert(owner[OF(w) * PAGES + p] == NO_ENTRY || WITHDRAWS(OF(w), p));
    published[AT(w, p)] = 1;
    filter[OF(w) * PAGES + p]++;
    to_supervisor[w]!PUBLISH, p, socket_of[AT(w, p)]
}

/* What a worker does for one page. */
proctype Page_at(byte w; byte p)
{
    byte q, s, page, other;
    mtype m;
    bit known;
    byte knew;
    do
    :: atomic { MAY_OPEN(w, p) ->
           busy[w] = 1;
           if :: link_at[2 * p] + link_at[2 * p + 1] != 0 -> second_links-- :: else fi };
       if :: held[AT(w, p)] == NONE -> look_up(w, p) :: else fi;
       atomic { open_link(w, p); known = 0; busy[w] = 0 }
    :: atomic { !busy[w] && held[AT(w, p)] == FRESH && LINKED(w, p) ->
           busy[w] = 1;
           knew = (connected[p] || server_knows[p] == 0 -> moved[p] : NEVER) };
#ifdef NO_SECOND_LOOKUP
       known = 1;
#else
       look_up(w, p);
#endif
       atomic { send_datagram(w, p); known = 0; knew = 0; busy[w] = 0 }
    :: atomic { !busy[w] && held[AT(w, p)] == ASKED -> take_answer(w, p) }
#ifdef UPGRADE
    /* A page may have begun a session in each generation before one of them ends. Its client moves to the other. */
    :: atomic { held[AT(w, p)] == HELD && connected[p] && server_knows[p] != socket_of[AT(w, p)] &&
                link_at[2 * p] + link_at[2 * p + 1] == w + 1 ->
           server_knows[p] = socket_of[AT(w, p)];
           moved[p]++ }
#endif
    /* relay/session/session_links.c:session_link_close, relay/session/session_links.c:may_wait */
    :: atomic { !busy[w] && !dead[w] && losses > 0 && LINKED(w, p) ->
           losses--;
           unlink(w, p);
           if :: held[AT(w, p)] != HELD -> end_session(w, p, false) :: else fi }
    /* relay/session/session.c:on_timer */
    :: atomic { !busy[w] && expiries > 0 && held[AT(w, p)] == HELD && !LINKED(w, p) ->
           expiries--;
           end_session(w, p, false) }
    od
}

proctype Worker(byte w)
{
    byte q, s, page, other;
    mtype m;
    do
    :: atomic { !busy[w] && len(to_worker[w]) > 0 -> to_worker[w]?m, q, s; obey(w, m, q, s); m = 0; q = 0; s = 0 }
    :: atomic { !busy[w] && !dead[w] && MAY_DIE(w) -> deaths--; die(w) }
    od
}

/* relay/process/supervisor_workers.c:tell. A worker that does not take its messages is killed: it would keep a
   session that another gets, or wait for an answer. */
inline send(w, m, p, s)
{
    if
    :: dead[w]
    :: !dead[w] && len(to_worker[w]) < CHANNEL -> to_worker[w]!m, p, s
#ifdef NO_KILL
    :: !dead[w] && len(to_worker[w]) == CHANNEL
#else
    :: !dead[w] && len(to_worker[w]) == CHANNEL -> die(w)
#endif
    fi
}

/* relay/process/supervisor_workers.c:answer, relay/process/directory.c:directory_assign */
inline reply(w, p)
{
    d = OF(w) * PAGES + p;
    if
    :: owner[d] == NO_ENTRY -> send(w, UNKNOWN, p, 0)
    :: owner[d] != NO_ENTRY ->
#ifndef NO_RELEASE
        if :: owner[d] != NO_WORKER && owner[d] != BY(w) -> send(owner[d] - 2, RELEASE, p, 0) :: else fi;
#endif
        owner[d] = BY(w);
        send(w, SESSION, p, kept_socket[d])
    fi;
    d = 0
}

inline drop_entry(i)
{
    owner[i] = NO_ENTRY;
    kept_socket[i] = 0;
    filter[i]--
}

/* relay/process/supervisor_workers.c:obey, relay/process/supervisor_workers.c:keep,
   relay/process/supervisor_workers.c:forget, relay/process/supervisor_workers.c:take_back,
   relay/process/directory.c:directory_put, relay/process/directory.c:directory_remove,
   relay/process/directory.c:directory_release. */
inline obey_worker(w, m, p, s)
{
    d = OF(w) * PAGES + p;
    if
    :: m == PUBLISH ->
        if :: owner[d] != NO_ENTRY -> drop_entry(d) :: else fi;
        owner[d] = BY(w);
        kept_socket[d] = s
    :: m == WITHDRAW ->
#ifdef NO_OWNER_CHECK_IN_FORGET
        if :: owner[d] != NO_ENTRY -> drop_entry(d) :: else fi
#else
        if :: owner[d] == BY(w) -> drop_entry(d) :: else fi
#endif
    :: m == DECLINE ->
        if :: owner[d] == BY(w) -> owner[d] = NO_WORKER :: else fi
    :: m == LOOKUP ->
#ifdef NO_DRAIN
        reply(w, p)
#else
        if
        :: owner[d] != NO_ENTRY -> reply(w, p)
        :: else -> asking[w] = 1; asks_page[w] = p
        fi
#endif
    fi;
    d = 0
}

/* relay/process/supervisor_workers.c:supervisor_read_workers. Before an unknown session is denied, all that the workers
   have sent is read: one of them may have published it. */
inline read_workers(g)
{
    w = g * WORKERS;
    do
#ifdef NO_READING_OF_ASKERS
    :: w < (g + 1) * WORKERS && asking[w] -> w++
    :: w < (g + 1) * WORKERS && !asking[w] && len(to_supervisor[w]) > 0 ->
#else
    :: w < (g + 1) * WORKERS && len(to_supervisor[w]) > 0 ->
#endif
        to_supervisor[w]?m, p, s;
        obey_worker(w, m, p, s)
    :: w < (g + 1) * WORKERS && len(to_supervisor[w]) == 0 -> w++
    :: w == (g + 1) * WORKERS -> break
    od;
    w = g * WORKERS;
    do
    :: w < (g + 1) * WORKERS && asking[w] ->
        asking[w] = 0;
        reply(w, asks_page[w]);
        asks_page[w] = 0
    :: w < (g + 1) * WORKERS && !asking[w] -> w++
    :: w == (g + 1) * WORKERS -> break
    od
}

inline take_message(x)
{
    w = x;
    obey_worker(w, m, p, s);
    if :: asking[w] -> read_workers(g) :: else fi;
    w = 0; m = 0; p = 0; s = 0
}

/* relay/process/supervisor_workers.c:on_end, relay/process/directory.c:directory_release_all,
   relay/process/supervisor_workers.c:spawn */
inline end_of(w)
{
    p = 0;
    do
    :: p < PAGES ->
        if :: owner[OF(w) * PAGES + p] == BY(w) -> owner[OF(w) * PAGES + p] = NO_WORKER :: else fi;
        p++
    :: else -> p = 0; break
    od;
    dead[w] = 0
}

#ifdef UPGRADE
#define HANDS_OVER(g) ((g) == 0 && stage[0] == SERVING && stage[1] == SERVING)

/* relay/process/supervisor.c:send_sessions, relay/process/supervisor.c:adopt, relay/process/upgrade.c:hand_over. The
   successor serves from now on, and its predecessor waits for word of that. No session that a worker has published may be
   missing. */
inline hand_over()
{
#ifndef NO_READING_BEFORE_UPGRADE
    read_workers(0);
#endif
    page = 0;
    do
    :: page < PAGES ->
        w = 0;
        do
        :: w < WORKERS -> assert(held[AT(w, page)] != HELD || dead[w] || owner[page] != NO_ENTRY); w++
        :: else -> break
        od;
        if
        :: owner[page] != NO_ENTRY ->
            owner[PAGES + page] = NO_WORKER;
            kept_socket[PAGES + page] = kept_socket[page];
            filter[PAGES + page] = 1
        :: else
        fi;
        page++
    :: else -> break
    od;
    page = 0; w = 0; p = 0; s = 0; m = 0;
    stage[1] = SERVING
}

/* relay/process/supervisor.c:leave */
inline replace_workers()
{
    stage[0] = LEFT;
    w = 0;
    do
    :: w < WORKERS -> send(w, REPLACED, 0, 0); w++
    :: else -> break
    od;
    w = 0
}

/* relay/process/upgrade.c:fail: the successor was too late, and the old process goes on. */
inline kill_successor()
{
    stage[1] = KILLED;
    w = WORKERS;
    do
    :: w < ALL -> die(w); w++
    :: else -> break
    od;
    w = 0
}
#else
#define HANDS_OVER(g) false
#endif

proctype Supervisor(byte g)
{
    byte w, p, s, d, page;
    mtype m;
    do
    :: atomic { !HANDS_OVER(g) && len(to_supervisor[g * WORKERS]) > 0 -> to_supervisor[g * WORKERS]?m, p, s; take_message(g * WORKERS) }
    :: atomic { dead[g * WORKERS] && !HANDS_OVER(g) && stage[g] != KILLED && !busy[g * WORKERS] && len(to_supervisor[g * WORKERS]) == 0 -> end_of(g * WORKERS) }
#if WORKERS > 1
    :: atomic { !HANDS_OVER(g) && len(to_supervisor[g * WORKERS + 1]) > 0 -> to_supervisor[g * WORKERS + 1]?m, p, s; take_message(g * WORKERS + 1) }
    :: atomic { dead[g * WORKERS + 1] && !HANDS_OVER(g) && stage[g] != KILLED && !busy[g * WORKERS + 1] && len(to_supervisor[g * WORKERS + 1]) == 0 -> end_of(g * WORKERS + 1) }
#endif
#if WORKERS > 2
    :: atomic { !HANDS_OVER(g) && len(to_supervisor[g * WORKERS + 2]) > 0 -> to_supervisor[g * WORKERS + 2]?m, p, s; take_message(g * WORKERS + 2) }
    :: atomic { dead[g * WORKERS + 2] && !HANDS_OVER(g) && stage[g] != KILLED && !busy[g * WORKERS + 2] && len(to_supervisor[g * WORKERS + 2]) == 0 -> end_of(g * WORKERS + 2) }
#endif
#ifdef UPGRADE
    :: atomic { g == 0 && stage[0] == SERVING && stage[1] == STARTING -> hand_over() }
    :: atomic { g == 0 && HANDS_OVER(0) -> replace_workers() }
    :: atomic { g == 0 && HANDS_OVER(0) -> kill_successor() }
#endif
    od
}

/* When nothing is left to happen, each page plays: on the session of one worker, which nobody else has. */
proctype Quiet()
{
    byte p, w, owners;
    atomic { timeout ->
        do
        :: p < PAGES ->
            w = 0; owners = 0;
            do
            :: w < ALL && stage[OF(w)] == SERVING ->
                owners = owners + (held[AT(w, p)] == HELD);
                assert(!LINKED(w, p) || (held[AT(w, p)] == HELD && socket_of[AT(w, p)] == server_knows[p]));
                w++
            :: w < ALL && stage[OF(w)] != SERVING -> w++
            :: else -> break
            od;
            assert(owners == 1 && (link_at[2 * p] != 0 || link_at[2 * p + 1] != 0));
            p++
        :: else -> break
        od }
}

init {
    byte w, p;
    atomic {
        stage[0] = SERVING;
        run Supervisor(0);
#ifdef UPGRADE
        run Supervisor(1);
#endif
        do
        :: w < ALL ->
            run Worker(w);
            p = 0;
            do :: p < PAGES -> run Page_at(w, p); p++ :: else -> break od;
            w++
        :: else -> break
        od;
        run Quiet()
    }
}
