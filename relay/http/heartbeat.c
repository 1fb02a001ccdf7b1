#include "http/heartbeat.h"

#include <stddef.h>

/* Puts a heartbeat at the end of the list. All have the same interval, so a list in the order of
   the last questions is also in the order of the next ones, and one timer serves all. */

static void append(struct heartbeats *all, struct heartbeat *heartbeat, double now)
{
    heartbeat->due = now + all->interval;
    heartbeat->older = all->newest;
    heartbeat->newer = NULL;
    *(all->newest ? &all->newest->newer : &all->oldest) = heartbeat;
    all->newest = heartbeat;
}

static void remove_from(struct heartbeats *all, struct heartbeat *heartbeat)
{
    *(heartbeat->older ? &heartbeat->older->newer : &all->oldest) = heartbeat->newer;
    *(heartbeat->newer ? &heartbeat->newer->older : &all->newest) = heartbeat->older;
}

static void on_timer(void *context)
{
    struct heartbeats *all = context;
    double now = loop_now();
    while (all->oldest && all->oldest->due <= now) {
        struct heartbeat *heartbeat = all->oldest;
        void *owner = heartbeat->owner;
        remove_from(all, heartbeat);
        if (heartbeat->asked) {
            heartbeat->owner = NULL;
            all->lost(owner);
        } else {
            heartbeat->asked = true;
            append(all, heartbeat, now);
            all->ask(owner);
        }
    }
    if (all->oldest)
        loop_timer_start(all->loop, &all->timer, all->oldest->due - now);
}

void heartbeats_init(struct heartbeats *all, struct loop *loop, double interval,
                     void (*ask)(void *owner), void (*lost)(void *owner))
{
    all->loop = loop;
    all->interval = interval;
    all->ask = ask;
    all->lost = lost;
    all->timer.expired = on_timer;
    all->timer.context = all;
}

void heartbeat_start(struct heartbeats *all, struct heartbeat *heartbeat, void *owner)
{
    if (all->interval <= 0.0)
        return;
    heartbeat->owner = owner;
    heartbeat->asked = false;
    append(all, heartbeat, loop_now());
    if (all->oldest == heartbeat)
        loop_timer_start(all->loop, &all->timer, all->interval);
}

void heartbeat_heard(struct heartbeat *heartbeat)
{
    heartbeat->asked = false;
}

void heartbeat_stop(struct heartbeats *all, struct heartbeat *heartbeat)
{
    if (!heartbeat->owner)
        return;
    remove_from(all, heartbeat);
    heartbeat->owner = NULL;
    if (!all->oldest)
        loop_timer_stop(&all->timer);
}
