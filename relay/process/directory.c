#include "process/directory.h"

#include <libwebsockets.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool directory_create(struct directory *directory, unsigned capacity,
                      const uint8_t secret[SESSION_SECRET_SIZE])
{
    *directory =
        (struct directory){.capacity = capacity, .index = session_index_create(capacity, secret)};
    return directory->index && deadlines_reserve(&directory->deadlines, capacity) &&
           directory_filter_create(&directory->filter, capacity, &directory->filter_fd);
}

void directory_destroy(struct directory *directory)
{
    while (directory->first)
        directory_remove(directory, directory->first);
    session_index_destroy(directory->index);
    deadlines_free(&directory->deadlines);
    if (directory->filter.counts)
        close(directory->filter_fd);
    directory_filter_close(&directory->filter);
}

struct directory_entry *directory_find(const struct directory *directory,
                                       const uint8_t hash[SESSION_HASH_SIZE])
{
    struct session_hash wanted = {.given = true};
    memcpy(wanted.bytes, hash, sizeof wanted.bytes);
    struct session_index_entry *found = session_index_find(directory->index, &wanted);
    return found ? lws_container_of(found, struct directory_entry, indexed) : NULL;
}

bool directory_put(struct directory *directory, const void *data, size_t size, int fd,
                   unsigned worker, double until)
{
    struct session_state state;
    struct session_hash hash = {.given = true};
    struct directory_entry *entry = NULL;
    const bool readable = session_state_read(data, size, &state);
    if (readable && worker == DIRECTORY_NO_WORKER)
        directory_filter_add(&directory->filter, state.hash);
    if (readable && fd >= 0) {
        struct directory_entry *old = directory_find(directory, state.hash);
        if (old)
            directory_remove(directory, old);
        if (directory->count < directory->capacity)
            entry = calloc(1, sizeof *entry);
    }
    if (!entry) {
        if (readable)
            directory_filter_remove(&directory->filter, state.hash);
        if (fd >= 0)
            close(fd);
        return false;
    }
    entry->state = state;
    entry->fd = fd;
    entry->worker = worker;
    memcpy(hash.bytes, state.hash, sizeof hash.bytes);
    session_index_add(directory->index, &entry->indexed, &hash);
    entry->next = directory->first;
    if (directory->first)
        directory->first->previous = entry;
    directory->first = entry;
    directory->count++;
    if (worker == DIRECTORY_NO_WORKER)
        deadlines_set(&directory->deadlines, &entry->deadline, until);
    return true;
}

void directory_assign(struct directory *directory, struct directory_entry *entry, unsigned worker)
{
    entry->worker = worker;
    deadlines_remove(&directory->deadlines, &entry->deadline);
}

void directory_remove(struct directory *directory, struct directory_entry *entry)
{
    *(entry->previous ? &entry->previous->next : &directory->first) = entry->next;
    if (entry->next)
        entry->next->previous = entry->previous;
    session_index_remove(directory->index, &entry->indexed);
    directory_filter_remove(&directory->filter, entry->state.hash);
    deadlines_remove(&directory->deadlines, &entry->deadline);
    close(entry->fd);
    free(entry);
    directory->count--;
}

void directory_release(struct directory *directory, struct directory_entry *entry, double until)
{
    entry->worker = DIRECTORY_NO_WORKER;
    deadlines_set(&directory->deadlines, &entry->deadline, until);
}

void directory_release_all(struct directory *directory, unsigned worker, double until)
{
    for (struct directory_entry *one = directory->first; one; one = one->next) {
        if (one->worker == worker)
            directory_release(directory, one, until);
    }
}

double directory_expire(struct directory *directory, double now)
{
    struct deadline *first;
    while ((first = deadlines_first(&directory->deadlines)) && first->time <= now)
        directory_remove(directory, lws_container_of(first, struct directory_entry, deadline));
    return first ? first->time : INFINITY;
}
