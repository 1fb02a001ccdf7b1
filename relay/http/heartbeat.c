#include "http/heartbeat.h"

#include <stddef.h>

/* All heartbeats have the same interval. So a list in the order of the last questions is also in
   the order of the next ones, and one timer serves all. */

static void append(struct heartbeats *heartbeats, struct heartbeat *heartbeat, double now)
{
    heartbeat->due = now + heartbeats->interval;
    heartbeat->older = heartbeats->newest;
    heartbeat->newer = NULL;
    *(heartbeats->newest ? &heartbeats->newest->newer : &heartbeats->oldest) = heartbeat;
    heartbeats->newest = heartbeat;
}

static void remove_from(struct heartbeats *heartbeats, struct heartbeat *heartbeat)
{
    *(heartbeat->older ? &heartbeat->older->newer : &heartbeats->oldest) = heartbeat->newer;
    *(heartbeat->newer ? &heartbeat->newer->older : &heartbeats->newest) = heartbeat->older;
}

static void on_timer(void *context)
{
    struct heartbeats *heartbeats = context;
    double now = loop_now();
    while (heartbeats->oldest && heartbeats->oldest->due <= now) {
        struct heartbeat *heartbeat = heartbeats->oldest;
        void *owner = heartbeat->owner;
        remove_from(heartbeats, heartbeat);
        if (heartbeat->asked) {
            heartbeat->owner = NULL;
            heartbeats->lost(owner);
        } else {
            heartbeat->asked = true;
            append(heartbeats, heartbeat, now);
            heartbeats->ask(owner);
        }
    }
    if (heartbeats->oldest)
        loop_timer_start(heartbeats->loop, &heartbeats->timer, heartbeats->oldest->due - now);
}

void heartbeats_init(struct heartbeats *heartbeats, struct loop *loop, double interval,
                     void (*ask)(void *owner), void (*lost)(void *owner))
{
    heartbeats->loop = loop;
    heartbeats->interval = interval;
    heartbeats->ask = ask;
    heartbeats->lost = lost;
    heartbeats->timer.expired = on_timer;
    heartbeats->timer.context = heartbeats;
}

void heartbeat_start(struct heartbeats *heartbeats, struct heartbeat *heartbeat, void *owner)
{
    if (heartbeats->interval <= 0.0)
        return;
    heartbeat->owner = owner;
    heartbeat->asked = false;
    append(heartbeats, heartbeat, loop_now());
    if (heartbeats->oldest == heartbeat)
        loop_timer_start(heartbeats->loop, &heartbeats->timer, heartbeats->interval);
}

void heartbeat_received(struct heartbeat *heartbeat)
{
    heartbeat->asked = false;
}

void heartbeat_stop(struct heartbeats *heartbeats, struct heartbeat *heartbeat)
{
    if (!heartbeat->owner)
        return;
    remove_from(heartbeats, heartbeat);
    heartbeat->owner = NULL;
    if (!heartbeats->oldest)
        loop_timer_stop(&heartbeats->timer);
}
