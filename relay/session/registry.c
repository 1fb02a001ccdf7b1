#include "session/registry.h"

#include <libwebsockets.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool registry_create(struct registry *registry, unsigned most,
                     const uint8_t secret[NAMES_SECRET_SIZE])
{
    *registry = (struct registry){.most = most, .names = names_create(most, secret)};
    return registry->names && deadlines_reserve(&registry->deadlines, most) &&
           known_names_create(&registry->known, most, &registry->known_fd);
}

void registry_destroy(struct registry *registry)
{
    while (registry->first)
        registry_forget(registry, registry->first);
    names_destroy(registry->names);
    deadlines_free(&registry->deadlines);
    if (registry->known.counts)
        close(registry->known_fd);
    known_names_close(&registry->known);
}

struct registration *registry_find(const struct registry *registry,
                                   const uint8_t hash[PARCEL_NAME_SIZE])
{
    struct name name = {.given = true};
    memcpy(name.hash, hash, sizeof name.hash);
    struct name_entry *entry = names_find(registry->names, &name);
    return entry ? lws_container_of(entry, struct registration, named) : NULL;
}

bool registry_keep(struct registry *registry, const void *data, size_t size, int fd, unsigned owner,
                   double until)
{
    struct parcel parcel;
    struct name name = {.given = true};
    struct registration *registration = NULL;
    if (fd < 0)
        return false;
    if (parcel_read(data, size, &parcel)) {
        struct registration *old = registry_find(registry, parcel.name);
        if (old)
            registry_forget(registry, old);
        if (registry->count < registry->most)
            registration = calloc(1, sizeof *registration);
    }
    if (!registration) {
        close(fd);
        return false;
    }
    registration->parcel = parcel;
    registration->fd = fd;
    registration->owner = owner;
    memcpy(name.hash, parcel.name, sizeof name.hash);
    names_add(registry->names, &registration->named, &name);
    known_names_add(&registry->known, parcel.name);
    registration->next = registry->first;
    if (registry->first)
        registry->first->previous = registration;
    registry->first = registration;
    registry->count++;
    if (owner == REGISTRY_NOBODY)
        deadlines_set(&registry->deadlines, &registration->deadline, until);
    return true;
}

void registry_give(struct registry *registry, struct registration *registration, unsigned owner)
{
    registration->owner = owner;
    deadlines_remove(&registry->deadlines, &registration->deadline);
}

void registry_forget(struct registry *registry, struct registration *registration)
{
    *(registration->previous ? &registration->previous->next : &registry->first) =
        registration->next;
    if (registration->next)
        registration->next->previous = registration->previous;
    names_remove(registry->names, &registration->named);
    known_names_remove(&registry->known, registration->parcel.name);
    deadlines_remove(&registry->deadlines, &registration->deadline);
    close(registration->fd);
    free(registration);
    registry->count--;
}

void registry_release(struct registry *registry, struct registration *registration, double until)
{
    registration->owner = REGISTRY_NOBODY;
    deadlines_set(&registry->deadlines, &registration->deadline, until);
}

void registry_orphan(struct registry *registry, unsigned owner, double until)
{
    for (struct registration *one = registry->first; one; one = one->next) {
        if (one->owner == owner)
            registry_release(registry, one, until);
    }
}

double registry_expire(struct registry *registry, double now)
{
    struct deadline *first;
    while ((first = deadlines_first(&registry->deadlines)) && first->time <= now)
        registry_forget(registry, lws_container_of(first, struct registration, deadline));
    return first ? first->time : INFINITY;
}
