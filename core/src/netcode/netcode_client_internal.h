/* The sources of a netcode client share this header: netcode_client.c has its states,
   netcode_client_transmit.c what it sends, and netcode_client_about.c what others ask about it. The
   end of the header is for a client above it that has payloads of its own and wants no copies. */
#ifndef CAUSEWAY_NETCODE_CLIENT_INTERNAL_H
#define CAUSEWAY_NETCODE_CLIENT_INTERNAL_H

#include "base/one_thread.h"
#include "causeway/netcode_client.h"
#include "netcode/client_move.h"
#include "netcode/crypto.h"

struct cw_netcode_client {
    struct cw_netcode_client_config config;

    enum cw_client_state state;
    bool connected_waits; /* events */
    bool disconnected_waits;
    size_t payload_size; /* bytes in body, until they are taken; 0: none */

    struct cw_token token;
    uint8_t used_mac[CW_MAC_BYTES]; /* the MAC of the token before */
    bool used_any;
    uint32_t address; /* the index of the token's address that is being tried */
    double connect_time;
    double last_received;
    double last_sent;
    bool send_due;

    uint64_t sequence; /* the next packet's number; never goes back while the keys are the same */
    struct cw_replay replay;
    uint64_t challenge_sequence;
    uint8_t challenge_token[CW_CHALLENGE_TOKEN_SIZE];
    uint32_t index;
    uint32_t max_clients;
    uint32_t disconnects_left;
    struct cw_farewell farewell; /* the last words of the server */
    struct cw_move move;
    /* The outline of the schema of the server that denied last; its size is 0 when it told none. */
    size_t outline_size;
    uint8_t outline[CW_OUTLINE_MAX];

    size_t outgoing_size; /* 0: none waits */
    uint8_t outgoing[CW_PAYLOAD_MAX];
    uint8_t body[CW_PAYLOAD_MAX];

    struct cw_netcode_client_stats stats;
    uint64_t dropped[CW_ERROR_COUNT]; /* the same datagrams, by error */
    CW_ONE_THREAD_MEMBER;
};

/* Returns CW_OK for a config that create takes. */
enum cw_error cw_netcode_client_check(const struct cw_netcode_client_config *config);

/* Returns whether a call can be carried out: there is a client, and now is a finite time. */
bool cw_netcode_client_can_run(const struct cw_netcode_client *client, double now);

/* Forgets the keys, so that no packet can be written or read any more. */
void cw_netcode_client_forget_keys(struct cw_netcode_client *client);

/* Takes the payload that receive has left, if there is one: points *payload to it, until the next
   receive, and returns its size. Otherwise returns 0. */
size_t cw_netcode_client_take_payload(struct cw_netcode_client *client, const uint8_t **payload);

/* Counts the datagram received last as dropped, because its payload was. Returns the error. */
enum cw_error cw_netcode_client_drop(struct cw_netcode_client *client, enum cw_error error);

/* Returns whether the next event is CONNECTED. */
bool cw_netcode_client_begins(const struct cw_netcode_client *client);

/* An outlet tells what becomes of payloads now. When it is LOST, the server would not take them
   from the address that the client is moving to, and they are lost, as in any gap. A relay carries
   little until the server has answered, and should carry the request. */
enum cw_outlet { CW_OUTLET_CLOSED, CW_OUTLET_OPEN, CW_OUTLET_LOST };
enum cw_outlet cw_netcode_client_outlet(const struct cw_netcode_client *client);

/* Returns the place in `out` where the next payload must be for seal. */
uint8_t *cw_netcode_client_body(const struct cw_netcode_client *client, uint8_t *out);

/* Makes the datagram of a payload of `size` bytes, while the outlet is open. Returns its size and
   sets *to, as transmit does. */
size_t cw_netcode_client_seal(struct cw_netcode_client *client, uint8_t *out, size_t capacity,
                              size_t size, double now, struct cw_address *to);

#endif
