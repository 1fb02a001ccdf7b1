#include "session/eviction.h"

#include <stddef.h>

void eviction_remove(struct eviction_entry *entry)
{
    struct eviction_list *list = entry->list;
    if (!list)
        return;
    *(entry->before ? &entry->before->after : &list->first) = entry->after;
    *(entry->after ? &entry->after->before : &list->last) = entry->before;
    entry->list = NULL;
}

static void insert(struct eviction_list *list, struct eviction_entry *entry,
                   struct eviction_entry *before, struct eviction_entry *after)
{
    *entry = (struct eviction_entry){list, before, after};
    *(before ? &before->after : &list->first) = entry;
    *(after ? &after->before : &list->last) = entry;
}

void eviction_prepend(struct eviction *eviction, enum eviction_kind kind,
                      struct eviction_entry *entry)
{
    eviction_remove(entry);
    insert(&eviction->lists[kind], entry, NULL, eviction->lists[kind].first);
}

void eviction_append(struct eviction *eviction, enum eviction_kind kind,
                     struct eviction_entry *entry)
{
    eviction_remove(entry);
    insert(&eviction->lists[kind], entry, eviction->lists[kind].last, NULL);
}

struct eviction_entry *eviction_first(const struct eviction *eviction)
{
    for (int kind = 0; kind < EVICTION_KINDS; kind++) {
        if (eviction->lists[kind].first)
            return eviction->lists[kind].first;
    }
    return NULL;
}
