#include "http/descriptors.h"

#include "os/linger.h"
#include "os/log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* A session needs this many descriptors: one for its connection, and one for its socket towards the
   game server. */
#define PER_SESSION 2

/* Any other connection needs this many descriptors: its own, and that of the file that it is being
   sent. */
#define PER_PRE_SESSION 2

/* A reload may raise --max-sessions to this many times the number at the start. Tables are made for
   as many, at 16 bytes each in libwebsockets and less elsewhere; and libwebsockets looks through
   its own when a connection ends, at 5 instructions for each descriptor. */
#define GROWTH 2

/* The relay needs this many descriptors for everything else: listeners, timers, the log and the
   like, replies that are still being read, and the connections of the operator. */
#define OWN (32 + LINGERS_MAX + DESCRIPTORS_ADMIN)

/* All players of a relay may come at once, each with a WebSocket and the request for WebRTC.
   There are as many places for connections that are no sessions, within bounds; one more closes the
   oldest (hostile.descriptors). With TLS each costs 50 KB, also when it says nothing. More than the
   most would be of no use: in the ten seconds that a request may take, the budget of handshakes is
   enough for 3,850. */
#define PRE_SESSION_PER_SESSION 2
#define PRE_SESSION_LEAST       1024
#define PRE_SESSION_MOST        4096

/* There may always be this many connections that are no sessions: with fewer, a page hardly loads
   beside others. */
#define PRE_SESSION_MIN 64

bool descriptors_open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        /* A file that is opened takes the lowest free descriptor. */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return false;
    }
    return true;
}

static unsigned places(unsigned max_sessions)
{
    if (max_sessions > PRE_SESSION_MOST / PRE_SESSION_PER_SESSION)
        return PRE_SESSION_MOST;
    const unsigned wanted = PRE_SESSION_PER_SESSION * max_sessions;
    return wanted > PRE_SESSION_LEAST ? wanted : PRE_SESSION_LEAST;
}

bool descriptors_divide(unsigned max_sessions, struct descriptors *out)
{
    struct rlimit limit;
    *out = (struct descriptors){
        .sessions = max_sessions,
        .capacity = GROWTH * max_sessions,
        .pre_session = places(max_sessions),
    };
    const rlim_t others = PER_PRE_SESSION * (rlim_t)out->pre_session + OWN;
    const rlim_t needed = PER_SESSION * (rlim_t)max_sessions + others;
    const rlim_t wanted = GROWTH * PER_SESSION * (rlim_t)max_sessions + others;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == wanted)
        return true;
    /* A higher limit is lowered too: containers give a billion, and libwebsockets, whose tables
       have an entry for each descriptor, would use 2,560 instead. */
    rlim_t allowed = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    const struct rlimit changed = {.rlim_cur = allowed, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &changed) != 0)
        allowed = limit.rlim_cur;
    if (allowed >= wanted)
        return true;
    if (allowed >= needed) {
        out->capacity = (unsigned)((allowed - others) / PER_SESSION);
        return true;
    }
    const rlim_t least = OWN + PER_PRE_SESSION * PRE_SESSION_MIN + PER_SESSION;
    if (allowed < least) {
        log_error("the system allows %llu open files, which is too few (ulimit -n)",
                  (unsigned long long)allowed);
        return false;
    }
    rlim_t sessions = (allowed - OWN - PER_PRE_SESSION * PRE_SESSION_MIN) / PER_SESSION;
    if (sessions < max_sessions) {
        log_warn("the system allows %llu open files, enough for %u sessions instead of %u; those "
                 "need %llu (ulimit -n)",
                 (unsigned long long)allowed, (unsigned)sessions, max_sessions,
                 (unsigned long long)needed);
        out->sessions = (unsigned)sessions;
    }
    out->capacity = out->sessions;
    out->pre_session = (unsigned)((allowed - OWN - PER_SESSION * out->sessions) / PER_PRE_SESSION);
    if (out->sessions == max_sessions)
        log_warn("the system allows %llu open files, enough for %u players who come at once "
                 "instead of %u; those need %llu (ulimit -n)",
                 (unsigned long long)allowed, out->pre_session / PRE_SESSION_PER_SESSION,
                 places(max_sessions) / PRE_SESSION_PER_SESSION, (unsigned long long)needed);
    return true;
}
