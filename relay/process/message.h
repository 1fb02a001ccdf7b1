/* Messages between the processes of one relay: of a process with its successor during an upgrade,
   and of the supervisor with its workers. A pair of Unix sockets, a channel, keeps them whole, and
   each may carry a file descriptor. Every message begins with the same header: the version of all
   messages, the type, and the size of what follows. */
#ifndef CAUSEWAY_RELAY_MESSAGE_H
#define CAUSEWAY_RELAY_MESSAGE_H

#include "session/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of the header, the types, and all payloads. A change of any of them needs another
   version, since a successor may be of another build: processes of two versions do not understand
   each other, and then the upgrade fails without harm. 1 was the format without a header. */
#define MESSAGE_VERSION 4

/* Bytes of the longest payload. */
#define MESSAGE_MAX 512

enum message_type {
    /* These go to a process from the one that starts it, in this order. */
    MESSAGE_HELLO = 1, /* the secret, and which worker it is: struct hello_message */
    MESSAGE_COUNTERS,  /* to a worker: the memory of its counters */
    MESSAGE_FILTER,    /* to a worker: the memory of the directory's filter */
    MESSAGE_OPTIONS,   /* to a worker: a copy of the file of options, if there is one */
    MESSAGE_SOCKET,    /* an open socket, each with its own message */
    MESSAGE_OPEN,      /* all sockets were sent: open everything */
    /* These two processes exchange the next messages when everything is open. */
    MESSAGE_READY, /* from the new process: it has opened everything */
    /* to the new process: addresses that the operator has blocked: struct block[] */
    MESSAGE_BLOCKS,
    /* to a worker, then and after each change: a copy of the certificates of TLS */
    MESSAGE_CERTIFICATES,
    MESSAGE_SESSION, /* to the new process: a session and its socket: struct session_state */
    MESSAGE_START,   /* to the new process: all sessions were sent */
    MESSAGE_STARTED, /* from the new process: it serves the sessions from now on */
    /* Later, these go from a worker to its supervisor. */
    MESSAGE_PUBLISH,  /* a session that others can carry on, and its socket: struct session_state */
    MESSAGE_WITHDRAW, /* the hash of a published session, which has ended */
    MESSAGE_AWAY,     /* the hash of a session whose page may be gone */
    MESSAGE_BACK,     /* the hash of a session whose page is not gone after all */
    MESSAGE_LOOKUP,   /* the hash of a session for which a link asks; SESSION or UNKNOWN answers */
    /* the hash of a session that the worker was given, and for which it has no place */
    MESSAGE_DECLINE,
    MESSAGE_COUNTED, /* the worker's counters are up to date */
    MESSAGE_RESULT,  /* the result of a command: struct command_reply */
    /* Later, these go from the supervisor to a worker. */
    MESSAGE_UNKNOWN, /* no process has a session of this hash */
    MESSAGE_RELEASE, /* the hash of a session with which another worker goes on */
    MESSAGE_COUNT,   /* bring the counters up to date */
    /* a command of the operator: struct command_message; one with a page comes with memory */
    MESSAGE_COMMAND,
    MESSAGE_RELOAD,   /* take other options, from the copy that may come with it */
    MESSAGE_REPLACED, /* other processes have taken the relay over */
    /* Later, this goes from a worker by way of the supervisor to another. */
    MESSAGE_CLOSE_RTC, /* close a connection of WebRTC: struct close_rtc_message */
};

#define MESSAGE_SECRET_SIZE 32

struct hello_message {
    uint32_t worker; /* the number of the worker, from 1 on; 0 = it is none */
    uint32_t workers;
    uint8_t secret[MESSAGE_SECRET_SIZE]; /* the secret of the sessions' hashes */
};

/* A request to end a connection of WebRTC, for which a page has sent a DELETE; see webrtc_end. */
struct close_rtc_message {
    uint32_t worker; /* the worker that has the connection */
    char name[60];
};

/* A command for a worker. With a page comes memory that all workers share, into which they write
   the summaries. */
struct command_message {
    uint64_t ticket;
    unsigned first; /* the worker's first place in that memory, counted in summaries */
    struct command command;
};

struct command_reply {
    uint64_t ticket;
    struct command_result result;
};

struct message {
    enum message_type type;
    size_t size;
    uint8_t data[MESSAGE_MAX];
    int fd; /* -1 = it has none, or this process may open no more; the receiver owns it */
};

enum message_result {
    MESSAGE_RECEIVED,
    MESSAGE_NONE,  /* no message has come; never when the socket waits */
    MESSAGE_ENDED, /* the other process has closed its end, or sent no message of this version */
};

/* Opens two connected sockets that wait, and are not inherited. Returns false, with errno, when the
   system refuses. */
bool message_pair(int out[2]);

/* Sends a message of at most MESSAGE_MAX bytes, with a copy of fd unless that is -1. Waits while
   the other process is behind, at most as long as the socket's send timeout says. Returns false,
   with errno, when it cannot. */
bool message_send(int channel, enum message_type type, const void *data, size_t size, int fd);

/* Receives the next message. With `wait` it waits for one, at most as long as the socket's receive
   timeout says. */
enum message_result message_receive(int channel, struct message *out, bool wait);

#endif
