/* This is the order in which sessions give up their places to others when all are taken: first
   those that the game server has not answered, then those to which it no longer speaks, then those
   that wait for a link; of each kind the one that has been so for longest. */
#ifndef CAUSEWAY_RELAY_EVICTION_H
#define CAUSEWAY_RELAY_EVICTION_H

enum eviction_kind {
    EVICTION_UNPROVEN, /* it is ending, or the game server has not answered it */
    EVICTION_SILENT,   /* the game server no longer speaks to it */
    EVICTION_UNLINKED, /* it waits for a link */
    EVICTION_KINDS,
};

/* The entry of a session, embedded in it. All zero is in no list, so that the session keeps its
   place. */
struct eviction_entry {
    struct eviction_list *list;
    struct eviction_entry *before;
    struct eviction_entry *after;
};

/* The lists; all zero has no sessions. */
struct eviction {
    struct eviction_list {
        struct eviction_entry *first;
        struct eviction_entry *last;
    } lists[EVICTION_KINDS];
};

/* Put a session at the front or the end of a list, and take it out of the one that it is in. */
void eviction_prepend(struct eviction *eviction, enum eviction_kind kind,
                      struct eviction_entry *entry);
void eviction_append(struct eviction *eviction, enum eviction_kind kind,
                     struct eviction_entry *entry);

/* Takes a session out of the list that it is in, if any. */
void eviction_remove(struct eviction_entry *entry);

/* Returns the session that gives way first; NULL when none does. */
struct eviction_entry *eviction_first(const struct eviction *eviction);

#endif
