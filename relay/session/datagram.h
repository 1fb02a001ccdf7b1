/* What all rooms of a session know of a datagram. */
#ifndef CAUSEWAY_RELAY_DATAGRAM_H
#define CAUSEWAY_RELAY_DATAGRAM_H

/* The longest datagram in either direction. */
#define SESSION_DATAGRAM_MAX 1400

/* What is longer than UDP carries is no datagram at all. */
#define SESSION_MESSAGE_MAX 65535

#endif
