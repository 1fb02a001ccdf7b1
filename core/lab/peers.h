/* Columns can run these protocols; column.c numbers them. */
#ifndef CAUSEWAY_LAB_PEERS_H
#define CAUSEWAY_LAB_PEERS_H

#include "lab/peer.h"

/* Defines the table of a protocol in the file that has its functions. `end` is the struct of one
   end; the members of the table that differ follow. */
#define CW_LAB_PEER(variable, end, ...)                                                            \
    const struct cw_lab_peer_type cw_lab_peer_##variable = {                                       \
        .size = sizeof(struct end),                                                                \
        .memory = memory,                                                                          \
        .begin = begin,                                                                            \
        .send = send,                                                                              \
        .receive = receive,                                                                        \
        .update = update,                                                                          \
        .transmit = transmit,                                                                      \
        .next = next,                                                                              \
        .waiting = waiting,                                                                        \
        __VA_ARGS__,                                                                               \
    };

/* These four are Causeway's own connection. It is as its defaults have it, copies new messages into
   the next packet while packets are being lost, has coded repair of messages, or obeys the good and
   bad mode of causeway/endpoint.h. */
extern const struct cw_lab_peer_type cw_lab_peer_plain;
extern const struct cw_lab_peer_type cw_lab_peer_copies;
extern const struct cw_lab_peer_type cw_lab_peer_coded;
extern const struct cw_lab_peer_type cw_lab_peer_binary;

/* The request-based protocol has one stream for everything: each state and message is a package,
   and a block is cut into some. Packages are kept for 30 seconds. */
extern const struct cw_lab_peer_type cw_lab_peer_rudp;

/* Packet notification with bunches: the state is a property, so that only its newest value is sent
   again. Messages are bunches on one channel, blocks on another. */
extern const struct cw_lab_peer_type cw_lab_peer_notify;

/* The byte stream of window.h: each item, states too, is a frame on the one stream, as in a
   WebSocket; the lengths of frames are written as there. CUBIC and selective acks. */
extern const struct cw_lab_peer_type cw_lab_peer_window;

/* The same with Nagle's algorithm. */
extern const struct cw_lab_peer_type cw_lab_peer_nagle;

/* Designs that the article on reliable ordered messages has or rejects, over the packet acks of
   causeway/endpoint.h, with a packet in each tick: all unacked messages in each packet; each
   message in three packets, with no look at the acks; what has not been sent in the last 0.1
   seconds. The newest state goes with each packet once, and a few pieces of a block are among the
   messages. */
extern const struct cw_lab_peer_type cw_lab_peer_unacked;
extern const struct cw_lab_peer_type cw_lab_peer_thrice;
extern const struct cw_lab_peer_type cw_lab_peer_tenth;

#endif
