/* What the parts of the server share: slots.c has the connected clients, handshake.c those that are
   about to connect, server.c the rest. */
#ifndef CAUSEWAY_SERVER_INTERNAL_H
#define CAUSEWAY_SERVER_INTERNAL_H

#include "causeway/server.h"

#include "base/hash_index.h"
#include "base/memory.h"
#include "secure/payload.h"
#include "secure/token_history.h"

#define CW_DENIALS 32

enum cw_slot_state { CW_SLOT_FREE = 0, CW_SLOT_CONNECTED, CW_SLOT_CLOSED };

struct cw_slot {
    enum cw_slot_state state;
    struct cw_address address;
    uint64_t id;
    int32_t timeout_seconds;
    uint8_t client_to_server_key[CW_KEY_BYTES];
    uint8_t server_to_client_key[CW_KEY_BYTES];
    uint8_t user_data[CW_USER_DATA_SIZE];
    uint64_t sequence;
    struct cw_replay replay;
    double last_received;
    double last_sent;
    bool confirmed;
    bool keep_alive_due;
    bool introduced;     /* the keep-alive before a payload to an unconfirmed client is sent */
    bool round_open;     /* its connection may have datagrams to transmit */
    bool farewell_taken; /* CLOSED: the application knows */
    uint32_t disconnects_left;
};

/* A client whose request was good and whose response is awaited. */
struct cw_pending {
    bool active;
    bool queued; /* its number waits in the queue of challenges */
    struct cw_address address;
    uint64_t id;
    int32_t timeout_seconds;
    uint8_t mac[CW_MAC_BYTES];
    uint8_t client_to_server_key[CW_KEY_BYTES];
    uint8_t server_to_client_key[CW_KEY_BYTES];
    uint8_t user_data[CW_USER_DATA_SIZE];
    uint64_t first_challenge; /* sequence; none before it is this client's */
    double deadline;
    uint32_t place; /* in the list of active ones; or, when not active, the next free one */
};

struct cw_denial {
    struct cw_address address;
    uint8_t key[CW_KEY_BYTES];
    bool schema;
};

struct cw_server {
    struct cw_server_config config;
    size_t memory;
    struct cw_address *addresses;
    uint8_t challenge_key[CW_KEY_BYTES];
    uint64_t hash_seed;
    bool started;
    double start_time; /* of the first call */

    struct cw_slot *slots;
    struct cw_connection **connections; /* of the slots; NULL: payloads are the application's */
    uint64_t used[CW_SERVER_MAX_CLIENTS / 64]; /* bits: slots that are not free */
    uint64_t due[CW_SERVER_MAX_CLIENTS / 64];  /* bits: slots that may have something to transmit */
    uint64_t
        readable[CW_SERVER_MAX_CLIENTS / 64]; /* bits: slots whose connection may have events */
    uint32_t due_cursor;
    uint32_t clients;
    struct cw_hash_index slots_by_address;
    struct cw_hash_index slots_by_id;

    struct cw_pending *pending;
    uint32_t *pending_active; /* numbers of the active ones, in no order */
    uint32_t pending_count;
    uint32_t pending_free;
    struct cw_hash_index pending_by_address;
    uint32_t *challenge_queue; /* a ring of max_pending numbers */
    uint32_t challenge_first, challenge_count;
    struct cw_denial denials[CW_DENIALS]; /* a ring */
    uint32_t denial_first, denial_count;
    struct cw_token_history history;
    uint64_t global_sequence;    /* of the next packet outside a slot */
    uint64_t challenge_sequence; /* of the next challenge token */
    double allowance;            /* requests that may be decrypted now */
    double allowance_time;

    struct cw_server_event *events; /* a ring */
    uint32_t event_capacity, event_first, event_count;
    bool payload_waits;
    uint8_t body[CW_PAYLOAD_MAX];

    uint32_t outgoing_client;
    size_t outgoing_size; /* 0: none waits */
    uint8_t outgoing[CW_PAYLOAD_MAX];

    struct cw_server_stats stats;
};

/* Unix seconds. */
uint64_t cw_server_unix(const struct cw_server *server, double now);

static inline bool cw_bit_get(const uint64_t *bits, uint32_t bit)
{
    return bits[bit / 64] >> bit % 64 & 1;
}

static inline void cw_bit_set(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] |= (uint64_t)1 << bit % 64;
}

static inline void cw_bit_clear(uint64_t *bits, uint32_t bit)
{
    bits[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

/* The first bit that is set, from `from` on; CW_HASH_INDEX_NONE at the end of count bits. */
static inline uint32_t cw_bit_next(const uint64_t *bits, uint32_t from, uint32_t count)
{
    while (from < count) {
        const uint64_t word = bits[from / 64] >> from % 64;
        if (word) {
            const uint32_t bit = from + (uint32_t)__builtin_ctzll(word);
            return bit < count ? bit : CW_HASH_INDEX_NONE;
        }
        from = (from / 64 + 1) * 64;
    }
    return CW_HASH_INDEX_NONE;
}

/* Handshake. */
void cw_handshake_layout(struct cw_server *server, struct cw_arena *arena);
void cw_handshake_start(struct cw_server *server);
enum cw_error cw_handshake_request(struct cw_server *server, const struct cw_address *from,
                                   const void *data, size_t size, double now);
enum cw_error cw_handshake_response(struct cw_server *server, const struct cw_address *from,
                                    const void *data, size_t size, double now);
size_t cw_handshake_transmit(struct cw_server *server, struct cw_address *to, void *out,
                             size_t capacity);
void cw_handshake_update(struct cw_server *server, double now);

/* Slots. */
/* connection: the application's config, or NULL. */
enum cw_error cw_slots_layout(struct cw_server *server, struct cw_arena *arena,
                              const struct cw_connection_config *connection);
void cw_slots_destroy(struct cw_server *server);
/* The connected slot of an address, or of a client id; NULL. */
struct cw_slot *cw_slots_by_address(struct cw_server *server, const struct cw_address *address);
struct cw_slot *cw_slots_by_id(struct cw_server *server, uint64_t id);
/* A free slot; NULL. */
struct cw_slot *cw_slots_find_vacant(struct cw_server *server);
void cw_slots_connect(struct cw_server *server, struct cw_slot *slot,
                      const struct cw_pending *pending, const uint8_t user_data[CW_USER_DATA_SIZE],
                      double now);
void cw_slots_close(struct cw_server *server, struct cw_slot *slot,
                    enum cw_disconnect_reason reason);
/* Frees a closed slot when its client has been told and the application knows. */
void cw_slots_release(struct cw_server *server, struct cw_slot *slot);
enum cw_error cw_slots_receive(struct cw_server *server, struct cw_slot *slot, const void *data,
                               size_t size, double now);
size_t cw_slots_transmit(struct cw_server *server, struct cw_address *to, void *out,
                         size_t capacity, double now);
void cw_slots_update(struct cw_server *server, double now);

/* Events. There is always room: one of each kind per slot, and one payload. */
void cw_server_put_event(struct cw_server *server, const struct cw_server_event *event);

#endif
