/* The structs that JavaScript and the module exchange in memory, beside the public ones. Each
   struct is declared only here: web/scripts/generate.mjs reads this file and gives TypeScript the
   names and offsets. Each line has one field, of uint8_t, uint32_t, int32_t, uint64_t or double. */
#ifndef CAUSEWAY_LAYOUTS_H
#define CAUSEWAY_LAYOUTS_H

#include "causeway/token.h"

#include <stdint.h>

/* The numbers of an endpoint's config have the names of its fields; NaN stands for the default. */
struct cw_endpoint_numbers {
    double max_packet_size;
    double fragment_size;
    double max_send_size;
    double fragment_above;
    double sent_window;
    double received_window;
    double max_reassemblies;
    double rtt_smoothing;
    double min_loss_timeout_seconds;
};

/* The numbers of the connection's endpoint come first; those of its channels follow the struct. */
struct cw_connection_numbers {
    struct cw_endpoint_numbers endpoint;
    double max_messages;
    double max_received_messages;
    double max_packets_per_update;
    double idle_interval_seconds;
};

struct cw_channel_numbers {
    double kind; /* a value of enum cw_channel_kind */
    double max_messages_per_packet;
    double receive_queue_size;
    double blocks; /* 1 or 0 */
    double max_block_size;
    double block_fragment_size;
    double send_queue_size;
    double packet_budget;
    double weight;
    double redundancy;
    double redundancy_budget;
    double repair; /* 1 or 0 */
};

/* The options of a token, without its addresses. */
struct cw_token_options {
    uint64_t protocol_id;
    uint64_t client_id;
    uint64_t create_time;
    uint64_t fingerprint;
    uint32_t life_seconds;
    int32_t timeout_seconds;
    uint8_t user_data[CW_USER_DATA_SIZE];
    uint8_t private_key[CW_KEY_BYTES];
};

/* The numbers of a server's config have the names of its fields; NaN stands for the default. */
struct cw_server_numbers {
    double max_clients;
    double max_token_life_seconds;
    double max_pending;
    double token_history;
    double requests_per_second;
    double client_datagrams_per_second;
    double keep_alive_seconds;
    double disconnect_packets;
    double max_broadcasts;
    double takeover; /* 1 or 0 */
    double insecure; /* 1 or 0 */
};

struct cw_server_options {
    struct cw_server_numbers numbers;
    double unix_offset_seconds;
    uint64_t protocol_id;
    uint8_t private_key[CW_KEY_BYTES];
};

/* The structs from here on stand in the scratch area after a call. */
struct cw_created {
    uint32_t object;
    uint32_t connection;        /* the connection of a client; 0 without one */
    uint32_t max_datagram_size; /* the longest datagram that it sends, or a simulator takes */
    uint32_t max_packet_size;
};

struct cw_created_message {
    uint32_t message;
    uint32_t data;
};

struct cw_endpoint_news {
    uint32_t sequence;
    uint32_t payload;
    uint32_t size;
};

struct cw_connection_news {
    uint32_t message;
    uint32_t channel;
    uint32_t receipt;
    uint32_t type; /* the type of the message; the fields below are also its */
    uint32_t data;
    uint32_t block;
    uint32_t block_size;
};

/* The event of the client's connection comes first. */
struct cw_server_news {
    struct cw_connection_news connection;
    uint32_t client;
    uint32_t reason;
};

struct cw_server_destination {
    uint32_t host; /* the address of a text: the IP address */
    uint32_t port;
};

struct cw_server_about {
    uint64_t id;
    uint32_t address; /* the address of a text: IP address and port */
    uint32_t user_data;
    double datagrams_refused;
};

struct cw_client_slot {
    uint32_t index;
    uint32_t count;
};

struct cw_client_farewell {
    uint32_t code;
    uint32_t text;
};

struct cw_policy_facts {
    uint32_t server; /* the index of a server of the token */
    int32_t end;     /* a value of enum cw_client_state */
    uint32_t returns;
    double token_time;
    double absence;
};

struct cw_token_facts {
    uint64_t expire_time;
    uint64_t fingerprint;
};

#endif
