/* Slots hold the connected clients of a server. Each client keeps its slot until it is gone and the
   application has been told. server_slots.c has the slots, and server_slots_transmit.c writes the
   packets. */
#ifndef CAUSEWAY_SERVER_SLOTS_H
#define CAUSEWAY_SERVER_SLOTS_H

#include "base/hash_index.h"
#include "netcode/crypto.h"
#include "netcode/secure_packet.h"
#include "netcode/server_events.h"
#include "netcode/server_log.h"

/* This is the client that a token admits. */
struct cw_client_identity {
    struct cw_address address;
    uint64_t id;
    uint64_t expire_time;      /* the token's, Unix seconds */
    uint8_t mac[CW_MAC_BYTES]; /* the token's, which it identifies */
    int32_t timeout_seconds;
    uint8_t client_to_server_key[CW_KEY_BYTES];
    uint8_t server_to_client_key[CW_KEY_BYTES];
    uint8_t user_data[CW_USER_DATA_SIZE];
};

enum cw_slot_state {
    CW_SLOT_FREE = 0,
    CW_SLOT_CONNECTED,
    CW_SLOT_CLOSED,
    CW_SLOT_KEPT /* free, but only for the client that has replaced the last one */
};

struct cw_slot {
    enum cw_slot_state state;
    struct cw_client_identity identity;
    uint64_t sequence;
    struct cw_replay replay;
    double allowance; /* datagrams that may be read now; below 1: none */
    double allowance_time;
    uint64_t datagrams_refused;
    double last_received;
    double last_sent;
    bool confirmed;
    bool keep_alive_due;
    bool introduced; /* the keep-alive that must come before a payload to an unconfirmed client was
                        sent */
    bool farewell_taken;         /* CLOSED: the application has been told */
    struct cw_farewell farewell; /* CLOSED: what the client is told */
    uint32_t disconnects_left;   /* with the farewell and without it */
    uint64_t challenge;          /* the number of the one that has moved the slot last; 0: none */
    bool moved;                  /* the client is to be told so */
    bool kept;                   /* CLOSED: KEPT comes next */
    void *user;                  /* the application's; see cw_netcode_server_set_user */
    struct cw_server_log_limit moves_logged;
};

struct cw_slots {
    const struct cw_netcode_server_config *config; /* the server's, complete */
    struct cw_server_events *events;
    struct cw_slot *slots;
    uint64_t used[CW_SERVER_MAX_CLIENTS / 64];    /* bits: slots that are not free */
    uint64_t due[CW_SERVER_MAX_CLIENTS / 64];     /* slots that may have something to transmit */
    uint64_t changed[CW_SERVER_MAX_CLIENTS / 64]; /* slots with a new state since the last look */
    bool any_changed;
    uint32_t due_cursor;
    uint32_t clients;          /* connected now */
    uint64_t connections_made; /* ever */
    uint64_t hash_seed;
    struct cw_hash_index by_address;
    struct cw_hash_index by_id;
    struct cw_hash_index by_token; /* its MAC */
    uint64_t moves;                /* ever, to another address */

    uint8_t body[CW_PAYLOAD_MAX]; /* the body of the packet received last */

    uint32_t outgoing_client;
    size_t outgoing_size; /* 0: none waits */
    uint8_t outgoing[CW_PAYLOAD_MAX];
};

/* Lays the slots and their tables out in the arena. config and events must be set. */
void cw_slots_layout(struct cw_slots *slots, struct cw_arena *arena);
/* Prepares the tables. Call it after layout has given them memory. */
void cw_slots_start(struct cw_slots *slots);

/* Returns the connected slot of an address, or NULL. */
struct cw_slot *cw_slots_by_address(const struct cw_slots *slots, const struct cw_address *address);
/* Returns the connected slot of the client with this id, or NULL. */
struct cw_slot *cw_slots_by_id(const struct cw_slots *slots, uint64_t id);
/* Returns the connected slot of the client that came with the token of this MAC, or NULL. */
struct cw_slot *cw_slots_by_token(const struct cw_slots *slots, const uint8_t mac[CW_MAC_BYTES]);
bool cw_slots_full(const struct cw_slots *slots);
/* Returns a client's slot, connected or closed, or NULL when it is free or there is no such
   slot. */
const struct cw_slot *cw_slots_get(const struct cw_slots *slots, uint32_t client);
/* Returns a client's slot while it is connected, otherwise NULL. */
struct cw_slot *cw_slots_connected(const struct cw_slots *slots, uint32_t client);
/* Does the opposite: returns a slot's number. */
uint32_t cw_slots_number(const struct cw_slots *slots, const struct cw_slot *slot);

/* Connects a client. There must be a free slot. */
void cw_slots_connect(struct cw_slots *slots, const struct cw_client_identity *identity,
                      double now);
/* Ends the connection in the slot because the same client has connected anew, and keeps the slot
   for it. */
void cw_slots_replace(struct cw_slots *slots, struct cw_slot *slot);
/* Connects the client for which a slot was kept. Returns false while the slot is not free yet. */
bool cw_slots_connect_kept(struct cw_slots *slots, uint32_t client,
                           const struct cw_client_identity *identity, double now);
/* Gives up a slot that was kept. Does nothing for another. */
void cw_slots_unkeep(struct cw_slots *slots, uint32_t client);
/* Moves the slot's client to the address at which it has answered the challenge of this number,
   which is not below slot->challenge. With a number that is not new, the client is only told
   again. */
void cw_slots_move(struct cw_slots *slots, struct cw_slot *slot, const struct cw_address *address,
                   uint64_t challenge, double now);
/* Ends a connection with these words. Does nothing when there is none. */
void cw_slots_disconnect(struct cw_slots *slots, uint32_t client,
                         const struct cw_farewell *farewell);
/* Does what cw_netcode_server_set_user does. */
void cw_slots_set_user(struct cw_slots *slots, uint32_t client, void *user);

/* Frees a closed slot when its client has been told and the application knows. */
void cw_slots_release(struct cw_slots *slots, struct cw_slot *slot);

enum cw_error cw_slots_receive(struct cw_slots *slots, struct cw_slot *slot, const uint8_t *data,
                               size_t size, double now);
/* Does what cw_netcode_server_send does. */
enum cw_error cw_slots_send(struct cw_slots *slots, uint32_t client, const uint8_t *payload,
                            size_t size);
/* These do what cw_netcode_server_announce, cw_netcode_server_seal and cw_netcode_server_transmit
   do. */
size_t cw_slots_announce(struct cw_slots *slots, struct cw_slot *slot, uint8_t out[CW_SECURE_MAX],
                         double now, struct cw_address *to);
size_t cw_slots_seal(struct cw_slots *slots, struct cw_slot *slot, uint8_t out[CW_SECURE_MAX],
                     size_t size, double now, struct cw_address *to);
size_t cw_slots_transmit(struct cw_slots *slots, uint8_t *out, size_t capacity, double now,
                         struct cw_address *to);
void cw_slots_update(struct cw_slots *slots, double now);
/* Does what cw_netcode_server_next does. Everything that a client sent comes before its
   DISCONNECTED. */
bool cw_slots_next(struct cw_slots *slots, struct cw_netcode_server_event *event);

#endif
