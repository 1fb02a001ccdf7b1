/* What the benches of the relay share: its process, a game server that echoes, and processors. */
#ifndef CAUSEWAY_TEST_RELAY_BENCH_H
#define CAUSEWAY_TEST_RELAY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* Ends the program with a line on errno. */
void fail(const char *what);

/* The servers get the first processor, everything that loads them the second. */
void pin(unsigned processor);

/* From now on this process, and those that it starts, go before all other work of the machine (a
   real-time priority). False with errno set when the system does not allow it. */
bool go_first(void);

/* Seconds of a clock, and of the processor time of a process. */
double now(clockid_t clock);
double cpu_seconds(pid_t pid);
double cpu_seconds_with_children(pid_t pid);

/* How often it has waited so far, and so woken up. */
double wakeups(pid_t pid);

/* Its memory in use. */
double resident_bytes(pid_t pid);

/* A bound UDP socket on loopback. */
int udp_socket(unsigned *port);

/* A process that echoes what comes to a socket, which it takes over. */
pid_t start_echo(int fd, unsigned processor);

/* Starts the relay, without pings and without limits on what a session sends, for so many sessions,
   with one more option, and reads its port from its log. */
pid_t start_relay(const char *program, unsigned upstream, unsigned sessions,
                  const char *const option[2], unsigned *port);

/* The relay of the build that CAUSEWAY_BUILD names. */
void relay_program(char *out, size_t capacity);

/* As many open files as the system lets a process have. */
void allow_all_files(void);

/* Sorts the values. */
double median(double *values, unsigned count);

#endif
