/* This header includes the whole core, in the order in which one learns it. A UDP socket, a clock,
   and a client and a server that use them are in causeway/native. */
#ifndef CAUSEWAY_H
#define CAUSEWAY_H

/* Players: begin here. */
#include "causeway/client.h" /* a player's end */
#include "causeway/server.h" /* a game server with its players in slots */

/* Messages: what players and servers say to each other. */
#include "causeway/connection.h" /* one end of a conversation, and its channels */
#include "causeway/message.h"    /* one message, with its block and its owner */
#include "causeway/request.h"    /* questions that get an answer, with a time limit */
#include "causeway/schema.h"     /* types of messages, as tables of fields */
#include "causeway/stream.h"     /* one function that writes and reads a type, by hand */

/* Tokens and keys: who may connect. */
#include "causeway/token.h" /* keys, and connect tokens, which a backend gives to players */

/* Connections for bytes of your own, without messages. */
#include "causeway/netcode_client.h" /* a client's end */
#include "causeway/netcode_server.h" /* a server with its clients in slots */
#include "causeway/secure_packet.h"  /* their packets, for programs that carry them */

/* A fast game: each end as one object. */
#include "causeway/game_client.h" /* a player's end */
#include "causeway/game_config.h" /* the config and the message of both */
#include "causeway/game_server.h" /* the world, and a seat for each player */

/* The parts of these: each uses messages of yours. */
#include "causeway/clock_sync.h"    /* one tick number on both ends */
#include "causeway/history.h"       /* the world that a player saw when he shot */
#include "causeway/input.h"         /* commands of a player, which survive losses */
#include "causeway/interest.h"      /* the entities near to a player, in a large world */
#include "causeway/interpolation.h" /* smooth motion between snapshots */
#include "causeway/prediction.h"    /* a client's own player, moving without a delay */
#include "causeway/snapshot.h"      /* the world of the server, as differences */

/* Packets, for programs that need no messages. */
#include "causeway/endpoint.h"  /* numbers, acks, fragments, measurements, congestion control */
#include "causeway/record.h"    /* a flight recorder for an endpoint */
#include "causeway/simulator.h" /* a bad network for tests, from a seed */

/* Basics that all of them use. */
#include "causeway/base.h" /* errors, memory, addresses, and rules that all configs share */
#include "causeway/bits.h" /* numbers of any width in bits, written and read */

#endif
