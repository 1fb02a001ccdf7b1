/* A connection is one end of a conversation: an endpoint with channels of messages on top. Packets
   are in yojimbo 1.0 format.

   A connection by itself is not encrypted, has no checksum and does not know who is at the other
   end: integrity and identity come only with the secure layer (client.h and server.h). */
#ifndef CAUSEWAY_CONNECTION_H
#define CAUSEWAY_CONNECTION_H

#include "causeway/base.h"
#include "causeway/endpoint.h"
#include "causeway/message.h"
#include "causeway/record.h"

CW_BEGIN_DECLARATIONS

#define CW_MAX_CHANNELS            64
#define CW_MAX_MESSAGES_PER_PACKET 256
#define CW_MAX_REQUESTS            64

/* Channels are streams of messages within a connection, each with its own delivery guarantee. */
enum cw_channel_kind {
    /* Every message arrives, once, in the order of sending. */
    CW_CHANNEL_RELIABLE_ORDERED,
    /* A message is sent once, if the next packets have room for it, and otherwise dropped. It may
       be lost, or arrive out of order. */
    CW_CHANNEL_UNRELIABLE,

    /* The next two kinds are ours; yojimbo does not have them. On the wire they look like the two
       above: only the receiver treats them differently. Both ends must agree, as on every kind.

       A message is unreliable, and dropped when it is older than one that has arrived. A receipt
       only tells that it has arrived. */
    CW_CHANNEL_UNRELIABLE_SEQUENCED,
    /* Every message arrives, once, as soon as its packet does: one that is lost holds up no other,
       unless it is receive_queue_size messages behind. A message with a block still waits for all
       messages before it, and later ones wait for the block; give blocks a channel of their own. */
    CW_CHANNEL_RELIABLE_UNORDERED
};

/* The ways in which a reliable channel acts before it knows that a message was lost. The less is
   lost, the shorter the round trip, and the fewer messages wait for a lost one, the less it does.
   Without losses it costs next to nothing.

   Where a round trip takes 100 ms and 5 % of packets are lost, 99 % of messages arrive within 75 ms
   with CW_RECOVERY_CODED, 142 ms with CW_RECOVERY_COPIES, and 175 ms with CW_RECOVERY_RESEND; the
   first two send nearly twice the bytes. */
enum cw_recovery_kind {
    /* Nothing: a message is sent again when its ack should have come. */
    CW_RECOVERY_RESEND,

    /* Messages are sent again in the following packets. Where losses come in bursts, that is twice
       in a round trip, until they are acked. The other end need not be ours. */
    CW_RECOVERY_COPIES,

    /* Messages are followed by combinations of all that are not acked, and a receiver that lacks
       some rebuilds them from as many combinations, without a round trip. This is an extension of
       the wire that other implementations do not have: both ends turn it on, and where tokens carry
       a fingerprint it is part of that. Combinations hold messages of up to 256 bytes with their
       type; longer ones are copied. It takes about 40 KB of memory. */
    CW_RECOVERY_CODED
};

/* Large messages are an extension of the wire that other implementations do not have, and part of
   the fingerprint. A message that does not fit into a packet, or has a block, goes in fragments
   among the other messages of its channel, so that several are on their way at once, and those that
   fit do not wait for it. Congestion control counts fragments, as it does those of blocks. A
   reliable channel sends each until it is acked; on an unreliable one a message arrives if all of
   its fragments do. `blocks` may be false: it is for messages whose blocks are longer than
   max_message_size, which go one at a time.

   Both ends turn it on by max_message_size. CW_AUTO is what the longest message of the schema
   needs, as far as its fields tell, and 0 when every one fits into a packet. Where it is 0, a
   message that does not fit into a packet goes in a longer one, of up to the endpoint's
   max_packet_size, that is sent in fragments; any of them that is lost takes all with it.

   The receiver has memory for receive_queue_size fragments, and for the rest of one message. The
   block of a received message stays there until the message is released; meanwhile no fragment
   takes its place, and the other end is held back when that is the next one. */
struct cw_channel_config {
    enum cw_channel_kind kind; /* default: the kind given to cw_channel_config_default */

    /* Both ends must agree on these; packets do not say. */
    uint32_t max_messages_per_packet; /* 1 to 256; default 256 */
    uint32_t receive_queue_size; /* messages that the receiver can hold until the application takes
                                    them, a power of two from 2 to 16384; default 256. On a reliable
                                    channel a further one waits at the sender; on an unreliable one
                                    it replaces the oldest */
    bool blocks; /* messages may carry a block; default false. A reliable receiver holds one block
                    until its message is released; until then it takes the first 64 fragments of the
                    next block, but never all. An unreliable receiver holds the latest 8 blocks */
    enum cw_recovery_kind recovery; /* reliable: see above; default CW_RECOVERY_RESEND. The ends
                                       need not agree on the first two */
    uint32_t max_block_size;      /* bytes, 1 to 64 MB and at most 65,535 fragments; default 256 KB.
                                     A reliable channel with blocks has a receive buffer of this
                                     size, and one of 64 fragments */
    uint32_t block_fragment_size; /* bytes of a block in one packet of a reliable channel, and of a
                                     large message on every channel, 1 or more, and at least 16 less
                                     than the longest packet sent; default 1024 */
    uint32_t max_message_size;    /* bytes of the longest message, with its block: see above. 0: as
                                     other implementations; at most receive_queue_size times
                                     block_fragment_size; default CW_AUTO */

    /* These concern only the sender; the two ends may differ. */
    uint32_t send_queue_size; /* messages that may be waiting or unacked, a power of two from 2 to
                                 16384; default 256. It holds no more than the max_messages of
                                 the connection leave to it: 240 of two channels by default */
    uint32_t packet_budget;   /* bytes of one packet that this channel may use, 1 or more; default
                                 CW_AUTO: all */
    uint32_t weight;      /* this channel's share when a packet cannot hold everything, 1 to 1000;
                             default 1 */
    uint32_t extra_bytes; /* the most that recovery adds to the bytes of messages, in percent, 1 to
                             400; default 100 */
};

struct cw_channel_config cw_channel_config_default(enum cw_channel_kind kind);

/* Returns CW_OK, or the error of the field that cannot work; see cw_error_field. packet_size is the
   longest payload that is sent in one packet, in bytes. */
enum cw_error cw_channel_config_check(const struct cw_channel_config *config, uint32_t packet_size);

struct cw_channel_stats {
    uint64_t sent;      /* messages that send has accepted */
    uint64_t resent;    /* messages and block fragments that were sent once more */
    uint64_t delivered; /* reliable: messages known to have arrived */
    uint64_t received;  /* messages that arrived and were kept, each counted once */
    uint64_t dropped;   /* unreliable: messages that found no room in a packet when sent, or that
                           arrived and then made room for later ones or, sequenced, were older, or
                           of which not all fragments came. Reliable: large ones that nobody of ours
                           has sent, as they are malformed */
    uint32_t queued;    /* messages waiting for their first packet */
    uint32_t in_flight; /* reliable: messages sent and not yet known to have arrived */
    uint32_t room;      /* messages that could be sent now: queue or pool has no more */
    uint32_t capacity;  /* the room of a channel that has sent nothing */
    double delivery_latency_seconds; /* reliable: seconds from send to the ack, smoothed by 1/16; 0
                                before the first */
};

/* A connection is not thread-safe; any number may exist. now is always the time in seconds from one
   clock of the caller's. The clock may start anywhere and must not go back. */
struct cw_connection;

/* The longest datagram that is sent by default has this many bytes, encryption included. Every path
   carries that much in one packet. */
#define CW_DEFAULT_DATAGRAM_SIZE 1100

struct cw_connection_config {
    struct cw_allocator allocator; /* zero: malloc */

    /* Both ends must agree on these; see cw_connection_fingerprint. */
    const struct cw_schema *schema; /* the message types; must outlive the connection */
    uint32_t channel_count;         /* 1 to CW_MAX_CHANNELS; default 2 */
    struct cw_channel_config channels[CW_MAX_CHANNELS]; /* default: 0 reliable, all others not */

    /* Packets are filled up to fragment_above, so that none is sent in fragments. The default of
       1064 bytes keeps every datagram below 1,100 bytes, encryption included. The other end's
       packets may have up to max_packet_size bytes, whole or in fragments. All other defaults are
       those of an endpoint, except max_packet_size, 8192, max_reassemblies, 3, and sent_window,
       CW_AUTO: 1024 packets with blocks or large messages, 256 without. 20 Mbit/s over a round trip
       of 300 ms take 768 of them. */
    struct cw_endpoint_config endpoint; /* its allocator is not used */

    uint32_t max_messages; /* the most messages that may be made and not yet acked or released, 1 to
                              32768; default 256. No channel can take them all: of n channels each
                              is sure of max_messages / 8n, at least one if there are as many, and
                              the queues of the others are full before these are used up */
    uint32_t max_received_messages; /* the most messages that may have arrived and not been released
                                       yet, 1 to 32768; default CW_AUTO: half of max_messages.
                                       Beyond that the other end is held back, whatever it sends.
                                       The oldest unreliable messages that the application has not
                                       taken make room for new ones. Messages out of order leave an
                                       eighth to others, and each reliable channel always has room
                                       for one more message that is next in order */
    uint32_t max_receipts; /* messages sent with a receipt whose event has not been taken yet, 0 (no
                              receipts) to 32768; default 256 */
    uint32_t max_requests; /* the most questions of ours that may be open, and the most of the other
                              end that may be unanswered, 1 to CW_MAX_REQUESTS; see request.h. Each
                              takes the memory of two messages. Default CW_AUTO: 32 where the schema
                              has a request, otherwise none */
    uint32_t max_packets_per_update; /* datagrams of one round, 1 to 256; default 128 */
    double idle_interval_seconds; /* the longest silence when there is nothing to say, 0 (none) to
                                     10; default 0.5. It should be alike on both ends */
    struct cw_congestion_config congestion; /* heeded by transmit; default CW_CONGESTION_DELAY */
};

struct cw_connection_config cw_connection_config_default(const struct cw_schema *schema);

/* Returns yojimbo's defaults, for talking to a program built with yojimbo. There are two reliable
   channels, 0 and 1, both with blocks of up to 256 KB in fragments of 1024 bytes. Queues hold 1024
   messages. Packets have up to 8192 bytes, and those above 1024 go in fragments of 1024. */
struct cw_connection_config cw_connection_config_yojimbo(const struct cw_schema *schema);

/* Returns CW_OK, or the error of the field that create would refuse; see cw_error_field. */
enum cw_error cw_connection_config_check(const struct cw_connection_config *config);

/* Returns the bytes of the one allocation that create makes, or 0 for a config that create
   refuses. */
size_t cw_connection_memory(const struct cw_connection_config *config);

/* *connection is set only on CW_OK. Errors: that of a field, CW_ERROR_NO_MEMORY. */
enum cw_error cw_connection_create(const struct cw_connection_config *config,
                                   struct cw_connection **connection);

/* First release all messages that the application still holds. NULL is allowed. */
void cw_connection_destroy(struct cw_connection *connection);

/* Goes back to the state after create. Releases messages in transit; those that the application
   holds stay valid. */
void cw_connection_reset(struct cw_connection *connection);

/* Returns a number that is equal on two ends that agree on everything they must agree on, and
   practically never otherwise. */
uint64_t cw_connection_fingerprint(const struct cw_connection_config *config);

/* Makes a message of the type, with all fields zero. The caller fills in data, then sends or
   releases the message. Errors: CW_ERROR_MESSAGE_TYPE, CW_ERROR_POOL_EMPTY. */
enum cw_error cw_connection_create_message(struct cw_connection *connection, uint32_t type,
                                           struct cw_message **message);

/* Sends a message that this connection made or received. On CW_OK the connection takes over the
   caller's reference. On an error the message stays with the caller and nothing has changed.

   CW_ERROR_CHANNEL: there is no such channel.

   CW_ERROR_OTHER_CONNECTION: another connection has made or received the message. To pass it on,
   send a copy: cw_connection_send_value takes its type and data.

   CW_ERROR_MESSAGE_NOT_OWNED: the message was sent or released before.

   CW_ERROR_NOT_CONNECTED: this is the connection of a client or a server, and nobody is at the
   other end, either not yet or no longer.

   CW_ERROR_MESSAGE_VALUE: a field is out of range; see cw_message_check.

   CW_ERROR_MESSAGE_TOO_LARGE: the message is longer than the channel's max_message_size, or than
   its queues have places for fragments; without such messages, it would never fit into the longest
   packet. For a message with a block, its body and the first fragment together would not.

   CW_ERROR_QUEUE_FULL: the channel's send queue is full of messages that are waiting or unacked, or
   it has all of max_messages but what is kept for the other channels.

   CW_ERROR_RECEIPTS_FULL: the message has a receipt, but the events of max_receipts earlier ones
   have not been taken yet. Each fragment of a large unreliable message counts as one.

   CW_ERROR_BLOCK_NOT_ALLOWED: the message has a block, but the channel has neither blocks nor a
   max_message_size, or the type is not a block type.

   CW_ERROR_BLOCK_MISSING: the type is a block type, but the message has no block or an empty one.

   CW_ERROR_BLOCK_TOO_LARGE: the block is longer than max_block_size or, where a channel has no
   blocks, than max_message_size or, on an unreliable channel, than a packet. */
enum cw_error cw_connection_send(struct cw_connection *connection, uint32_t channel,
                                 struct cw_message *message, double now);

/* Sends a message of the type with a copy of value, the type's struct. A message with a receipt or
   a block is made with cw_connection_create_message instead. Errors: those of
   cw_connection_create_message and cw_connection_send; then nothing has been sent. */
enum cw_error cw_connection_send_value(struct cw_connection *connection, uint32_t channel,
                                       uint32_t type, const void *value, double now);

/* Takes a datagram that arrived. Errors: those of cw_endpoint_receive, and:

   CW_ERROR_MALFORMED: no connection sends such a packet. None of its messages is accepted.

   CW_ERROR_RECEIVER_FULL: a message in the packet cannot be kept, because the application does not
   take its messages or holds too many. Reliable messages that are next in order are still accepted
   if there is room. The packet is not acked, so the other end sends it again and is held back. */
enum cw_error cw_connection_receive(struct cw_connection *connection, const uint8_t *data,
                                    size_t size, double now);

enum cw_connection_event_type {
    CW_CONNECTION_EVENT_MESSAGE = 1, /* a message from the other end has arrived */
    CW_CONNECTION_EVENT_ACKED,       /* a message sent with a receipt arrived, with its block */
    CW_CONNECTION_EVENT_LOST, /* an unreliable message found no room in a packet, or its packet, or
                                 that of a fragment, has most likely not arrived */
    CW_CONNECTION_EVENT_REQUEST,   /* the other end asks a question; see request.h */
    CW_CONNECTION_EVENT_ANSWER,    /* a question of ours has been answered */
    CW_CONNECTION_EVENT_UNANSWERED /* a question of ours will not be answered */
};

/* The reasons for which a question is not answered. */
enum cw_unanswered {
    CW_UNANSWERED_TIMED_OUT = 1,
    CW_UNANSWERED_REFUSED, /* the other end refused, for the reason that the event's code tells */
    CW_UNANSWERED_CLOSED   /* the connection has ended */
};

struct cw_connection_event {
    enum cw_connection_event_type type;
    struct cw_message *message; /* MESSAGE, REQUEST, ANSWER: the caller's to release, but an ANSWER
                                   cannot be sent on. Otherwise NULL */
    uint32_t channel; /* the channel it came on, or the question went on. ACKED, LOST: 0 */
    uint32_t receipt; /* ACKED, LOST: the receipt that the message was sent with. Otherwise 0 */
    uint32_t request; /* REQUEST: the number to answer with; ANSWER, UNANSWERED: the number that
                         cw_connection_request gave. Otherwise 0 */
    enum cw_unanswered unanswered; /* UNANSWERED: the reason. Otherwise 0 */
    uint32_t code;                 /* UNANSWERED: the code of a refusal. Otherwise 0 */
};

/* Takes the next event. Returns false when there is none. Receipts and answers come before messages
   and requests, so that an application that leaves messages waiting still gets them. Every message
   sent with a receipt gets exactly one event: ACKED if it is reliable, ACKED or LOST if it is not.
   Only a reset discards events that are still to come. Channels with messages waiting take turns.
 */
bool cw_connection_next(struct cw_connection *connection, struct cw_connection_event *event);

/* Returns whether the next event is ACKED, LOST, ANSWER or UNANSWERED, for applications that leave
   messages waiting. */
bool cw_connection_receipt_waits(const struct cw_connection *connection);

/* Lets time pass and opens a round of packets. Call it once per tick, then transmit. */
void cw_connection_update(struct cw_connection *connection, double now);

/* Writes the next datagram of this round to out and returns its size; 0 when the round is over.
   capacity must be at least cw_connection_max_datagram_size().

   The first datagram of a round is sent even without messages, because it carries the acks. More
   follow while messages are due, up to max_packets_per_update. Beyond that, more follow while
   received packets are not acked yet; one datagram acks 32.

   While the connection is idle, rounds are empty, except for one datagram each
   idle_interval_seconds. It is idle when no message is due, what has arrived is answered, at most
   four packets with messages wait for an answer, and the other end does not wait to hear of a
   packet that is missing. Each packet with reliable messages or a fragment that arrives is answered
   in the next round, and once more in a later one that would be empty, within the time after which
   the endpoint reports packets lost. One that only has unreliable messages is answered once: by our
   next packet with messages, if our latest one is no older than 60 ms and an RTT, and in the next
   round otherwise.

   Congestion control may end a round sooner. In the mode CW_CONGESTION_DELAY, it holds back
   blocks and large messages, and messages that do not fit into the first four packets of a round.
   Four fragments may always be in flight, so that a block goes on even when messages fill the
   window. Ten fragments of large messages go at once while the window has room. In
   CW_CONGESTION_BINARY, it holds back whole rounds, the first datagram too.

   When three quarters of the endpoint's sent_window are in flight, most rounds are empty, so that
   no packet leaves the window before its ack can arrive. Unreliable messages that find no room are
   dropped then. */
size_t cw_connection_transmit(struct cw_connection *connection, uint8_t *out, size_t capacity,
                              double now);

size_t cw_connection_max_datagram_size(const struct cw_connection *connection);

struct cw_connection_stats {
    struct cw_endpoint_stats endpoint;
    /* These count blocks, and messages beyond the first packets of a round, in the mode
       CW_CONGESTION_DELAY; they are 0 in the others. */
    double congestion_window_bytes;   /* bytes that may be in flight */
    double bytes_in_flight;           /* bytes neither acked nor reported lost */
    enum cw_congestion_limit limited; /* the limit that held the latest round back */
    uint64_t packets_refused;         /* packets received with a message that could not be kept */
    uint64_t packets_invalid;         /* packets received with malformed contents */
    uint32_t messages_in_use;         /* messages made or received, and not yet acked or released */
    /* These tell the state of the mode CW_CONGESTION_BINARY; they are 0 in the others. */
    enum cw_congestion_state congestion_state;
    enum cw_congestion_reason congestion_reason; /* the reason for being in this state */
    double packets_per_second;                   /* the rate that is allowed now */
    double judged_rtt;            /* the RTT less the usual wait at an end that sends rarely */
    double rtt_threshold_seconds; /* a longer judged_rtt is bad */
    double penalty_seconds;       /* the time for which the RTT must be good to end the bad state */
    double good_seconds; /* the time for which the good state has lasted, or the good RTT in the bad
                            one */
};

void cw_connection_get_stats(const struct cw_connection *connection,
                             struct cw_connection_stats *stats);

/* Records the connection's endpoint and its congestion control: see cw_endpoint_set_record. A
   client and each slot of a server keep their connection, and with it the record, across players.
 */
void cw_connection_set_record(struct cw_connection *connection, struct cw_record *record);

/* Returns CW_ERROR_CHANNEL when there is no such channel. */
enum cw_error cw_connection_get_channel_stats(const struct cw_connection *connection,
                                              uint32_t channel, struct cw_channel_stats *stats);

CW_END_DECLARATIONS

#endif
