/* What a process of the relay gets from the one that started it, over a Unix socket: the secret of
   the sessions' names, and open sockets for browsers, which would not let others have their ports
   otherwise. */
#ifndef CAUSEWAY_RELAY_HERITAGE_H
#define CAUSEWAY_RELAY_HERITAGE_H

#include "os/socket_address.h"

#include <stdbool.h>
#include <stdint.h>

#define HERITAGE_SECRET_SIZE 32
/* Enough for all workers together. */
#define HERITAGE_SOCKETS_MAX 1100

/* Kinds of messages, in the order in which they come; new ones go to the end, since a successor may
   be of another build. */
enum heritage_message {
    HERITAGE_SECRET = 1, /* to the new process: version, secret, and which worker it is */
    HERITAGE_COUNTERS,   /* to a worker: the memory of its counters */
    HERITAGE_SOCKET,     /* each with a socket */
    HERITAGE_OPEN,       /* that was all: open everything */
    HERITAGE_READY,      /* from the new process: everything is open */
    HERITAGE_PARCEL,     /* to it: a session and its socket */
    HERITAGE_START,      /* those were all */
    HERITAGE_STARTED,    /* from it: it serves them from now on */
    /* Later, between a worker and its supervisor. */
    HERITAGE_KEEP,     /* from it: a parcel of a session that others can carry on */
    HERITAGE_FORGET,   /* from it: the name of such a session, which has ended */
    HERITAGE_ASK,      /* from it: the name of one that it has not; the answer is its parcel, or */
    HERITAGE_UNKNOWN,  /* to it: nobody has one of this name */
    HERITAGE_LEAVE,    /* to it: the name of one with which another worker goes on */
    HERITAGE_COUNT,    /* to it: bring the counters up to date */
    HERITAGE_COUNTED,  /* from it: they are */
    HERITAGE_REPLACED, /* to it: other processes have taken the relay over */
    /* Before the parcels. */
    HERITAGE_BLOCKS, /* to a new process: addresses that the operator has blocked */
    /* Between a worker and its supervisor. */
    HERITAGE_END_RTC, /* from it, and to the one of which it tells: struct rtc_end_message */
    HERITAGE_ORDER,   /* to it: an order of the operator; see struct order_message */
    HERITAGE_OBEYED,  /* from it: the result; see struct order_reply */
    /* Before its sockets. */
    HERITAGE_NAMES,   /* to a worker: the memory of the names that others may have */
    HERITAGE_OPTIONS, /* to a worker: a copy of the file of options, if there is one */
    /* Between a worker and its supervisor. */
    HERITAGE_RELOAD,  /* to it: take other options, from the copy that may come with it */
    HERITAGE_DECLINE, /* from it: the name of one that it was given, and has no room for */
    /* Before the parcels, and whenever they change. */
    HERITAGE_CERTIFICATES, /* to a worker: a copy of those of TLS, if there are any */
    /* Between a worker and its supervisor. */
    HERITAGE_AWAY, /* from it: the name of a session that others can carry on, whose page may be
                      gone */
    HERITAGE_BACK, /* from it: the name of one whose page is not gone after all */
};

/* A page has sent a DELETE for a connection of WebRTC; see webrtc_end. */
struct rtc_end_message {
    uint32_t worker; /* whose it is */
    char name[60];
};

struct heritage {
    int line; /* to the process that started this one; -1 = none did, and there is nothing */
    uint8_t secret[HERITAGE_SECRET_SIZE];
    unsigned worker;                   /* which one this is, from 1 on; 0 = none */
    unsigned workers;                  /* how many there are */
    int counters;                      /* the memory of its counters; -1 = none */
    int names;                         /* that of the names that others may have; -1 = none */
    int options;                       /* a copy of the file of options; -1 = none */
    int sockets[HERITAGE_SOCKETS_MAX]; /* -1 = taken */
    unsigned count;
};

/* Sends the parts of a heritage; `worker` of `workers`, or 0 of 0. False when the other process
   does not take them. */
bool heritage_send_secret(int line, const uint8_t secret[HERITAGE_SECRET_SIZE], unsigned worker,
                          unsigned workers);
bool heritage_send_socket(int line, int socket);

/* Receives the heritage of this process, up to HERITAGE_OPEN, or finds that there is none. Call it
   once. Logs why and returns false when it cannot. */
bool heritage_receive(struct heritage *out);

/* Takes out a socket of this type (SOCK_STREAM, SOCK_DGRAM) that is bound to this address; any port
   will do when that has none. -1 when there is none. */
int heritage_take(struct heritage *heritage, int type, const struct socket_address *address);

/* Closes the sockets that nobody has taken, and the line. */
void heritage_close(struct heritage *heritage);

#endif
