/* A protocol as a column sees it: one end of a conversation, behind a table of functions. */
#ifndef CAUSEWAY_LAB_PEER_H
#define CAUSEWAY_LAB_PEER_H

#include "causeway/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

CW_BEGIN_DECLARATIONS

/* The kinds of data that a game sends. */
enum cw_lab_traffic {
    CW_LAB_STATE = 1, /* one each tick; only the newest counts, so a lost one need not come again */
    CW_LAB_MESSAGE,   /* each message counts, in order */
    CW_LAB_BLOCK      /* big data; the next one is sent when this one has arrived */
};

/* Bytes of the shortest item, of the longest state or message, and of the longest block. */
#define CW_LAB_ITEM_MIN    9
#define CW_LAB_MESSAGE_MAX 256
#define CW_LAB_BLOCK_MAX   102400

/* No datagram of a peer is longer. */
#define CW_LAB_MAX_DATAGRAM 1200

/* An item that an application sends. Its size bytes follow from these three numbers, and begin with
   them. */
struct cw_lab_item {
    enum cw_lab_traffic traffic;
    uint32_t id;   /* counted from 0 for each kind of traffic */
    uint32_t size; /* bytes, from CW_LAB_ITEM_MIN up to the longest of its kind */
};

/* Writes the bytes of an item from offset on. offset + size must not exceed item->size. */
void cw_lab_item_write(const struct cw_lab_item *item, uint32_t offset, uint8_t *out, size_t size);

/* Reads the three numbers from an item's first CW_LAB_ITEM_MIN bytes. Returns false when size is
   smaller or no item begins like that. */
bool cw_lab_item_read(const uint8_t *data, size_t size, struct cw_lab_item *item);

/* Returns whether data holds size bytes of the item from offset on, none of them beyond its end. */
bool cw_lab_item_check(const struct cw_lab_item *item, uint32_t offset, const uint8_t *data,
                       size_t size);

/* The news that the application gets of an item. */
struct cw_lab_arrival {
    struct cw_lab_item item;
    bool lost; /* the protocol says that the item will never arrive; only the kind and the id are
                  set */
};

/* The reason for which a peer waits. For those with a number, the number is given beside the
   reason. */
enum cw_lab_waiting {
    CW_LAB_WAITING_NOTHING = 0,
    CW_LAB_WAITING_PACKET,  /* receiving: packet `number` is missing, and later ones wait for it */
    CW_LAB_WAITING_MESSAGE, /* receiving: message `number` is missing, and later ones wait for it */
    CW_LAB_WAITING_ANSWER,  /* receiving: the peer has asked for message `number` again */
    CW_LAB_WAITING_BYTE,    /* receiving: the stream's byte `number` is missing */
    CW_LAB_WAITING_ACK, /* sending: packet `number` is not settled, and nothing more may be sent */
    CW_LAB_WAITING_WINDOW, /* sending: the window is full; `number` is its size in bytes */
    CW_LAB_WAITING_TIMER,  /* sending: the peer sends again only after `number` milliseconds more */
    CW_LAB_WAITING_RATE    /* sending: no more than `number` datagrams per second are allowed */
};

/* The state of the flow control of a peer that has one. All is 0 where it has none, and in the
   modes that do not use it. */
struct cw_lab_control {
    double rtt;                   /* seconds, as the control judges it; 0 before there is one */
    double rtt_threshold_seconds; /* good and bad mode: a longer RTT is bad */
    double penalty_seconds;       /* the time for which the RTT must be good to end the bad mode */
    double good_seconds;          /* the time for which it has been good, or the good mode lasted */
    double packets_per_second;    /* the rate that is allowed in the mode */
    double window_bytes;          /* delay-based: bytes of blocks that may be in flight */
    double in_flight_bytes;       /* bytes of blocks that are in flight */
    bool good;                    /* it is in good mode */
};

/* The newest packet that a peer has sent: its head, and the number of its messages. All is 0 before
   the first one, and for a protocol whose packets have no such head. */
struct cw_lab_packet {
    uint32_t size;     /* bytes of the packet's first datagram */
    uint32_t sequence; /* the number of the packet, of 16 bits */
    uint32_t ack;      /* the newest packet of the other end that had arrived */
    uint32_t ack_bits; /* bit n: the packet ack - n of the other end had arrived */
    uint32_t messages; /* messages, and parts of blocks */
    uint32_t resent;   /* the number of these that were sent before */
};

/* A protocol: a constant table. The column never passes NULL or a time that is not finite, and
   time does not go back. */
struct cw_lab_peer_type {
    const char *name; /* unique, lower case, as in the page's address */

    /* The struct of one end has size bytes, and memory returns how many bytes its protocol takes in
       the mode. */
    const void *mode;
    size_t size;
    size_t (*memory)(const void *mode);

    /* Begins one end, whose struct is all zero. The allocator has the bytes that memory asked for.
       Returns false when they do not suffice. */
    bool (*begin)(void *peer, const void *mode, const struct cw_allocator *allocator);

    /* Takes an item. Returns false when there is no room now; the column offers it again in the
       next tick. */
    bool (*send)(void *peer, const struct cw_lab_item *item, double now);

    void (*receive)(void *peer, const uint8_t *data, size_t size, double now);

    /* Lets time pass, once per tick. */
    void (*update)(void *peer, double now);

    /* Writes the next datagram to out, at most CW_LAB_MAX_DATAGRAM bytes, and returns its size; 0
       when there is none. */
    size_t (*transmit)(void *peer, uint8_t *out, size_t capacity, double now);

    /* Gives the application's next arrival, in order; returns false when there is none. */
    bool (*next)(void *peer, struct cw_lab_arrival *arrival);

    /* Returns the reason for which this end waits, once the application has taken everything;
     *number is as above, 0 when the end waits for nothing. */
    enum cw_lab_waiting (*waiting)(const void *peer, double now, uint32_t *number);

    /* Tells the state of the flow control in *control, which is all 0; NULL for a protocol that has
       none. */
    void (*control)(const void *peer, struct cw_lab_control *control);

    /* Tells what the newest packet is; NULL for a protocol whose packets have no such head. */
    void (*packet)(const void *peer, struct cw_lab_packet *packet);

    /* True: transmit is also called after every receive, as a kernel would. False: it is called
       only after update, until it returns 0. */
    bool answers_at_once;
};

/* Returns the bytes of the one allocation that create makes. */
size_t cw_lab_peer_memory(const struct cw_lab_peer_type *type);

/* Makes one end; NULL when there is no memory. */
void *cw_lab_peer_create(const struct cw_lab_peer_type *type, const struct cw_allocator *allocator);

/* Frees the allocation, and the protocol's memory with it. NULL is allowed. */
void cw_lab_peer_destroy(void *peer);

CW_END_DECLARATIONS

#endif
