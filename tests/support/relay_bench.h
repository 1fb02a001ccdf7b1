/* Helpers of the relay's benches: its process, a game server that echoes, and processors. */
#ifndef CAUSEWAY_TEST_RELAY_BENCH_H
#define CAUSEWAY_TEST_RELAY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* Ends the program with a line on errno. */
void fail(const char *what);

/* Binds this process to a processor. The servers get the first one, everything that loads them the
   second. */
void pin(unsigned processor);

/* From now on this process, and those that it starts, go before all other work of the machine (a
   real-time priority). Returns false with errno set when the system does not allow it. */
bool go_first(void);

/* Returns the seconds of a clock, or of the processor time of a process. */
double now(clockid_t clock);
double cpu_seconds(pid_t pid);
double cpu_seconds_with_children(pid_t pid);

/* Returns how often the process has waited so far, and so woken up. */
double wakeups(pid_t pid);

/* Returns the memory in use of the process. */
double resident_bytes(pid_t pid);

/* Returns a bound UDP socket on loopback. */
int udp_socket(unsigned *port);

/* Starts a process that echoes what comes to a socket, which it takes over. */
pid_t start_echo(int fd, unsigned processor);

/* Starts the relay, without pings and without limits on what a session sends, for so many sessions,
   with one more option, and reads its port from its log. */
pid_t start_relay(const char *program, unsigned upstream, unsigned sessions,
                  const char *const option[2], unsigned *port);

/* Writes the path of the relay of the build that CAUSEWAY_BUILD names. */
void relay_program(char *out, size_t capacity);

/* Raises the limit of open files to what the system lets a process have. */
void allow_all_files(void);

/* Returns the median of the values, which it sorts. */
double median(double *values, unsigned count);

#endif
