/* The buffers of a socket that many players share. */
#ifndef CAUSEWAY_RELAY_SOCKET_BUFFER_H
#define CAUSEWAY_RELAY_SOCKET_BUFFER_H

/* Asks for buffers of this many bytes in both directions, beyond the system's limits if this
   process may. */
void socket_buffer_ask(int fd, int bytes);

/* Logs what the system gave of it for what comes in, and what the operator can do when it is less.
   `what` is for the log. */
void socket_buffer_report(int fd, int bytes, const char *what);

#endif
