/* Tells the service manager that started the relay how the relay is, as systemd's sd_notify does:
   by a datagram to the socket that NOTIFY_SOCKET names. Without that variable nothing is sent. */
#ifndef CAUSEWAY_RELAY_NOTIFY_H
#define CAUSEWAY_RELAY_NOTIFY_H

#include "os/loop.h"

/* Reads the environment. If the manager watches this process (WATCHDOG_USEC), the loop tells it
   twice in that time that it turns. A process that is started from here is watched too. */
void notify_open(struct loop *loop);

/* Sends a state, as sd_notify(3) has them: "READY=1". Waits at most a second for the manager. */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sends that the relay reads its configuration again, until it sends READY=1. */
void notify_reloading(void);

/* Sends nothing from now on. It may be called without notify_open. */
void notify_close(void);

#endif
