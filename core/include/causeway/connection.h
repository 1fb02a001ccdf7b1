/* One peer of a conversation: an endpoint and channels of messages over it. The wire format of a
   packet is yojimbo 1.0. */
#ifndef CAUSEWAY_CONNECTION_H
#define CAUSEWAY_CONNECTION_H

#include "causeway/channel.h"
#include "causeway/congestion.h"
#include "causeway/endpoint.h"
#include "causeway/linkage.h"
#include "causeway/message.h"

CW_BEGIN_DECLARATIONS

/* Not thread-safe; any number may exist. now is always the time in seconds, by one clock of the
   caller's that may begin anywhere and does not go back. */
struct cw_connection;

/* Bytes of the longest datagram that is sent by default, encryption included: one packet of every
   path carries it. */
#define CW_DEFAULT_DATAGRAM_SIZE 1100

struct cw_connection_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these; see cw_connection_fingerprint. */
    const struct cw_schema *schema; /* the message types; must outlive the connection */
    uint32_t channel_count;         /* 1 to CW_MAX_CHANNELS; default 2 */
    struct cw_channel_config channels[CW_MAX_CHANNELS]; /* default: 0 reliable, all others not */

    /* Packets are filled up to fragment_above, so that none is sent in fragments: the default of
       1064 bytes keeps every datagram below 1,100 bytes, encryption included. Those of the other
       end are received up to max_packet_size, whole or in fragments. Its defaults are those of an
       endpoint but for max_packet_size, 8192, and max_reassemblies, 3. */
    struct cw_endpoint_config endpoint; /* its allocator is not used */

    uint32_t max_messages; /* made and not acked or released, above which none can be made; 1 to
                              32768; default 256 */
    uint32_t max_received_messages; /* arrived and not released, likewise, above which the other end
                                       is held back, whatever was sent; 1 to 32768; default CW_AUTO:
                                       half of max_messages. The oldest unreliable ones that nobody
                                       has taken make room for others, and there is always room for
                                       one that is next in order */
    uint32_t max_receipts; /* messages sent with a receipt whose news was not taken yet, 0 (none can
                              be sent) to 32768; default 256 */
    uint32_t max_packets_per_update; /* in one round, 1 to 64; default 4 */
    struct cw_congestion_config congestion;
};

struct cw_connection_config cw_connection_config_default(const struct cw_schema *schema);

/* What yojimbo has by default, for the other end of a program that is made with it: reliable
   channels only, 0 and 1, both with blocks of up to 256 KB in fragments of 1024 bytes; queues of
   1024 messages; packets of up to 8192 bytes, in fragments of 1024 above 1024. */
struct cw_connection_config cw_connection_config_yojimbo(const struct cw_schema *schema);

/* CW_OK, or what create would say: CW_ERROR_INVALID_ARGUMENT without a schema, CW_ERROR_CONFIG_*.
 */
enum cw_error cw_connection_config_check(const struct cw_connection_config *config);

/* Bytes of the one allocation that create makes; 0 for a config that create refuses. */
size_t cw_connection_memory(const struct cw_connection_config *config);

/* *connection is set only on CW_OK. Errors: CW_ERROR_INVALID_ARGUMENT without a schema,
   CW_ERROR_CONFIG_* that says which part cannot work, CW_ERROR_NO_MEMORY. */
enum cw_error cw_connection_create(const struct cw_connection_config *config,
                                   struct cw_connection **connection);

/* Messages that the application still holds must be released before. NULL is allowed. */
void cw_connection_destroy(struct cw_connection *connection);

/* Back to the state after create. Messages on their way are released; those that the application
   holds stay valid. */
void cw_connection_reset(struct cw_connection *connection);

/* Equal on two ends that agree on all they must agree on, and practically never else. */
uint64_t cw_connection_fingerprint(const struct cw_connection_config *config);

/* A new message of the type, all zero. The caller fills in data and
   sends or releases it. CW_ERROR_MESSAGE_TYPE, CW_ERROR_POOL_EMPTY. */
enum cw_error cw_connection_create_message(struct cw_connection *connection, uint32_t type,
                                           struct cw_message **message);

/* Sends a message that this connection made, or received. On CW_OK the connection takes over the
   caller's reference; on an error the message stays with the caller and nothing has changed.

   CW_ERROR_INVALID_ARGUMENT: no such channel, or a message of another connection.

   CW_ERROR_MESSAGE_NOT_OWNED: it was sent or released before.

   CW_ERROR_NOT_CONNECTED: the connection is that of a client or a server, and there is nobody at
   the other end: not yet, or not any more.

   CW_ERROR_MESSAGE_VALUE: a field is out of range, see cw_message_check.

   CW_ERROR_MESSAGE_TOO_LARGE: it would never fit into a packet of the channel; with a block, its
   body together with the first fragment would not.

   CW_ERROR_QUEUE_FULL: as many messages of the channel wait or are unacked as it has room for.

   CW_ERROR_RECEIPTS_FULL: a receipt, but max_receipts earlier ones were not taken yet.

   CW_ERROR_BLOCK_NOT_ALLOWED: a block, but the channel has no blocks or the type is no block type.

   CW_ERROR_BLOCK_MISSING: a block type without a block, or with an empty one.

   CW_ERROR_BLOCK_TOO_LARGE: longer than max_block_size, or than a packet of an unreliable
   channel. */
enum cw_error cw_connection_send(struct cw_connection *connection, uint32_t channel,
                                 struct cw_message *message, double now);

/* Takes a datagram that arrived. Beside the errors of cw_endpoint_receive: CW_ERROR_MALFORMED when
   the packet in it is not as a connection sends it; no message of it is taken then. And
   CW_ERROR_RECEIVER_FULL when a message in it cannot be kept, because the application does not take
   messages or holds too many: of reliable messages those that are next in order are taken if there
   is room for them, and the packet is not acked, so that the other end sends it again and is held
   back. */
enum cw_error cw_connection_receive(struct cw_connection *connection, const uint8_t *data,
                                    size_t size, double now);

enum cw_connection_event_type {
    CW_CONNECTION_EVENT_MESSAGE = 1, /* of the other end */
    CW_CONNECTION_EVENT_ACKED,       /* a message sent with a receipt arrived, with its block */
    CW_CONNECTION_EVENT_LOST         /* or, when unreliable, found no room in a packet, or its
                                        packet has most likely not arrived */
};

struct cw_connection_event {
    enum cw_connection_event_type type;
    struct cw_message *message; /* MESSAGE: the reference is the caller's: release it. Else NULL */
    uint32_t channel;           /* MESSAGE: that it came on. Else 0 */
    uint32_t receipt;           /* ACKED, LOST: as it was in the message. Else 0 */
};

/* Takes the next event; false when there is none. Receipts come before messages, so that those who
   leave messages waiting still hear of their own. Every message sent with a receipt gets one event,
   ACKED when it is reliable, ACKED or LOST when it is not; only a reset forgets those that are
   still to come. Of the channels that have messages each comes in turn. */
bool cw_connection_next(struct cw_connection *connection, struct cw_connection_event *event);

/* Whether the next event is ACKED or LOST, for those who leave messages waiting. */
bool cw_connection_receipt_waits(const struct cw_connection *connection);

/* Lets time pass and opens a round of packets. Call it once per tick, then transmit. */
void cw_connection_update(struct cw_connection *connection, double now);

/* Writes the next datagram of this round to out and returns its size; 0 when the round is over. The
   first of a round is always sent, as it carries acks; more follow while messages are due, up to
   max_packets_per_update, and, beyond that, while packets that arrived are not acked: one acks 32.
   But when three quarters of the endpoint's sent_window are under way, most rounds are empty: no
   packet is to leave it before its ack can come. Then unreliable messages that found no room are
   dropped. capacity must be at least cw_connection_max_datagram_size(). */
size_t cw_connection_transmit(struct cw_connection *connection, uint8_t *out, size_t capacity,
                              double now);

size_t cw_connection_max_datagram_size(const struct cw_connection *connection);

/* How many packets congestion avoidance allows now. It is an offer: who heeds it calls update once
   per tick and transmit no more than so many times, and who sends at a fixed rate does not ask. */
uint32_t cw_connection_send_allowance(struct cw_connection *connection, double now);

/* The mode, the allowed rate and the reason; valid as long as the connection. */
const struct cw_congestion *cw_connection_congestion(const struct cw_connection *connection);

struct cw_connection_stats {
    struct cw_endpoint_stats endpoint;
    uint64_t packets_refused; /* received, but with messages that could not be kept */
    uint64_t packets_invalid; /* received, but malformed inside */
    uint32_t messages_in_use; /* made or received, and not acked or released */
};

void cw_connection_stats(const struct cw_connection *connection, struct cw_connection_stats *stats);

/* CW_ERROR_INVALID_ARGUMENT when there is no such channel. */
enum cw_error cw_connection_channel_stats(const struct cw_connection *connection, uint32_t channel,
                                          struct cw_channel_stats *stats);

CW_END_DECLARATIONS

#endif
