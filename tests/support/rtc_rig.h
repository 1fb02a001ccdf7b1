/* A relay process with WebRTC, a UDP echo behind it, and many browsers' sides in this process. */
#ifndef CAUSEWAY_TESTS_RTC_RIG_H
#define CAUSEWAY_TESTS_RTC_RIG_H

#include "relay/stats/stats.h"
#include "rtc_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* A browser. */
struct rtc_browser {
    struct rtc_client client;
    char ticket[192]; /* "TICKET MASK" of its answer */
    int fd;
    size_t awaited;  /* the size of messages that count as echoes, 0: all */
    unsigned echoed; /* the number of those that came back */
    size_t last_size;
};

struct rtc_rig {
    struct rtc_identity identity;
    const char *host; /* "127.0.0.1" or "::1" */
    const char *from; /* the browsers' address; NULL = any */
    pid_t relay;
    FILE *log;          /* the relay's log */
    struct stats stats; /* the relay's counters, when they were read last */
    pid_t echo;
    unsigned port;     /* the relay's TCP port */
    unsigned rtc_port; /* the relay's UDP port */
    int epoll;
    struct rtc_browser **browsers;
    unsigned count;
    unsigned long received; /* datagrams of the relay to the browsers, and their bytes */
    unsigned long received_bytes;
};

/* Binds this process, and those that it starts from now on, to a processor, when there are two. */
void rtc_rig_pin(unsigned processor);

/* Starts a UDP echo that answers every datagram. */
pid_t rtc_rig_start_echo(unsigned processor, unsigned *port);

/* Starts `program` (with `wrapper` in front, "" for none) as a relay in front of an echo, which
   lets browsers be silent for as long as others need to open; exits with a message when that cannot
   be done. */
void rtc_rig_start(struct rtc_rig *rig, const char *program, const char *wrapper, const char *host);

/* Makes a rig for a relay that runs already, at 127.0.0.1, and that the rig does not stop. */
void rtc_rig_join(struct rtc_rig *rig, unsigned port, unsigned rtc_port, const char *from);

/* Asks the relay for its counters. */
void rtc_rig_read_stats(struct rtc_rig *rig);

/* Reads the counters and stops both processes. Returns the relay's exit code. */
int rtc_rig_stop(struct rtc_rig *rig);

/* Returns whether each datagram that the stopped relay received is in exactly one of its
   counters. */
bool rtc_rig_adds_up(const struct rtc_rig *rig);

/* Adds a browser that has its answer and has sent nothing yet. */
struct rtc_browser *rtc_rig_offer(struct rtc_rig *rig);

/* Adds a browser that has no answer, but what the page of another browser makes of its ticket. */
struct rtc_browser *rtc_rig_claim(struct rtc_rig *rig, const struct rtc_browser *other);

/* Puts a browser on a socket of its own at another address, as a NAT or a change of networks does;
   the browser does not know. */
void rtc_rig_move(struct rtc_rig *rig, struct rtc_browser *browser, const char *address);

/* Hands on to the browsers what has come, after waiting for it for so many milliseconds. */
void rtc_rig_serve(struct rtc_rig *rig, int milliseconds);

/* Returns a UDP socket that sends to the relay's port from an address. */
int rtc_rig_socket(const struct rtc_rig *rig, const char *address);

/* Adds browsers and opens their channels; returns false when one is not open after `seconds`. */
bool rtc_rig_open(struct rtc_rig *rig, unsigned count, double seconds);

/* Each browser sends `rounds` datagrams, one at a time, and waits for its echo; returns false when
   one does not come within `seconds`. */
bool rtc_rig_echo(struct rtc_rig *rig, unsigned rounds, size_t size, double seconds);

/* Keeps one datagram per browser on its way for so long; returns how many came back. */
unsigned long rtc_rig_run(struct rtc_rig *rig, size_t size, double seconds);

/* Has all browsers say goodbye, and frees them. */
void rtc_rig_close(struct rtc_rig *rig);

/* Returns the resident memory of the relay in KiB, or the processor time that a process has had in
   seconds. */
long rtc_rig_memory(const struct rtc_rig *rig);
double rtc_rig_cpu(pid_t pid);

double rtc_rig_now(void);

#endif
