/* A column needs this of a protocol: one end of a conversation, behind a table of functions. */
#ifndef CAUSEWAY_LAB_PEER_H
#define CAUSEWAY_LAB_PEER_H

#include "causeway/allocator.h"
#include "causeway/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The kinds of data that a game sends. */
enum cw_lab_traffic {
    CW_LAB_STATE = 1, /* every tick; only the newest counts, so a lost one need not come again */
    CW_LAB_MESSAGE,   /* each one counts, in order */
    CW_LAB_BLOCK      /* big data; the next one is sent when this one has arrived */
};

/* Bytes of the shortest item, of the longest state or message, and of the longest block. */
#define CW_LAB_ITEM_MIN    9
#define CW_LAB_MESSAGE_MAX 256
#define CW_LAB_BLOCK_MAX   102400

/* No datagram of a peer is longer. */
#define CW_LAB_MAX_DATAGRAM 1200

/* Something that an application sends. Its size bytes follow from these three numbers, and begin
   with them. */
struct cw_lab_item {
    enum cw_lab_traffic traffic;
    uint32_t id;   /* counted from 0 for each kind of traffic */
    uint32_t size; /* bytes, from CW_LAB_ITEM_MIN up to the longest of its kind */
};

/* Writes the bytes of an item from offset on. offset + size must not exceed item->size. */
void cw_lab_item_write(const struct cw_lab_item *item, uint32_t offset, uint8_t *out, size_t size);

/* Reads the three numbers from an item's first CW_LAB_ITEM_MIN bytes. False when size is smaller or
   no item begins like that. */
bool cw_lab_item_read(const uint8_t *data, size_t size, struct cw_lab_item *item);

/* Whether data holds size bytes of the item from offset on, none of them beyond its end. */
bool cw_lab_item_check(const struct cw_lab_item *item, uint32_t offset, const uint8_t *data,
                       size_t size);

/* What the application is told. */
struct cw_lab_arrival {
    struct cw_lab_item item;
    bool
        lost; /* it will never arrive, and the protocol says so; only the kind and the id are set */
};

/* What holds a peer up. */
enum cw_lab_waiting {
    CW_LAB_WAITING_NOTHING = 0,
    CW_LAB_WAITING_PACKET,  /* receives: packet number is missing, and later ones wait for it */
    CW_LAB_WAITING_MESSAGE, /* receives: message number is missing, and later ones wait for it */
    CW_LAB_WAITING_ANSWER,  /* receives: it has asked for message number again */
    CW_LAB_WAITING_BYTE,    /* receives: the stream's byte number is missing */
    CW_LAB_WAITING_ACK,     /* sends: packet number is not settled, and nothing more may be sent */
    CW_LAB_WAITING_WINDOW,  /* sends: the window is full; number is its size in bytes */
    CW_LAB_WAITING_TIMER,   /* sends: it sends again only after number milliseconds more */
    CW_LAB_WAITING_RATE     /* sends: no more than number datagrams per second are allowed */
};

/* A protocol: a constant table. The column never passes NULL or a time that is not finite, and
   time does not go back. */
struct cw_lab_peer_type {
    const char *name; /* unique, lower case, as in the page's address */

    /* The struct of one end has size bytes, and memory tells how many its protocol takes in that
       mode. */
    const void *mode;
    size_t size;
    size_t (*memory)(const void *mode);

    /* Begins one end, whose struct is all zero. The allocator has what memory asked for. False when
       it does not suffice. */
    bool (*begin)(void *peer, const void *mode, const struct cw_allocator *allocator);

    /* Takes an item. False: there is no room now; the column offers it again next tick. */
    bool (*send)(void *peer, const struct cw_lab_item *item, double now);

    void (*receive)(void *peer, const uint8_t *data, size_t size, double now);

    /* Lets time pass, once per tick. */
    void (*update)(void *peer, double now);

    /* Writes the next datagram to out, at most CW_LAB_MAX_DATAGRAM bytes, and returns its size; 0
       when there is none. */
    size_t (*transmit)(void *peer, uint8_t *out, size_t capacity, double now);

    /* The next thing that the application is told, in the order in which it is told. */
    bool (*next)(void *peer, struct cw_lab_arrival *arrival);

    /* What this end waits for, asked when the application has taken all that it can; number is as
       above, 0 when nothing. */
    enum cw_lab_waiting (*waiting)(const void *peer, double now, uint32_t *number);

    /* Whether transmit is also called after every receive, as a kernel would. Otherwise it is
       called only after update, until it returns 0. */
    bool answers_at_once;
};

/* Returns the bytes of the one allocation that create makes. */
size_t cw_lab_peer_memory(const struct cw_lab_peer_type *type);

/* Makes one end; NULL when there is no memory. */
void *cw_lab_peer_create(const struct cw_lab_peer_type *type, const struct cw_allocator *allocator);

/* The protocol goes with the allocation. NULL is allowed. */
void cw_lab_peer_destroy(void *peer);

CW_END_DECLARATIONS

#endif
