#include "base/client_error.h"

/* A table. */
/* NOLINTNEXTLINE(readability-function-size) */
const char *cw_client_error_string(enum cw_error error)
{
    switch (error) {
    case CW_OK:
        return "no error";
    case CW_ERROR_INVALID_ARGUMENT:
        return "an argument is out of range or NULL; see the function's documentation";
    case CW_ERROR_NO_MEMORY:
        return "the allocator returned no memory";
    case CW_ERROR_ADDRESS:
        return "this is not an address; write 1.2.3.4:5 or [::1]:5";
    case CW_ERROR_CONFIG_WINDOW:
        return "a window must be a power of two from 32 to 16384 packets";
    case CW_ERROR_CONFIG_PACKET_SIZE:
        return "max_packet_size must be at least 1, max_send_size from 1 to max_packet_size, and a"
               " datagram of a secure connection must fit into 1200 bytes";
    case CW_ERROR_CONFIG_FRAGMENT_SIZE:
        return "fragment_size and fragment_above must be from 1 to 65493 bytes";
    case CW_ERROR_CONFIG_MAX_FRAGMENTS:
        return "max_packet_size needs more than 256 fragments; raise fragment_size";
    case CW_ERROR_CONFIG_REASSEMBLIES:
        return "max_reassemblies must be from 1 to 64";
    case CW_ERROR_CONFIG_TIME:
        return "a time, a rate or a smoothing factor of the config is out of range; see its "
               "comment, and begin with the default config";
    case CW_ERROR_SCHEMA_TYPES:
        return "a schema has 1 to 65536 message types, each with a name and either fields or a "
               "function";
    case CW_ERROR_SCHEMA_FIELD:
        return "a field has no name, an unknown kind, limits that its kind does not allow, or a "
               "struct that has no fields or is more than 8 deep";
    case CW_ERROR_SCHEMA_SIZE:
        return "a message's struct is larger than CW_MESSAGE_MAX_SIZE, or its size does not match "
               "its fields";
    case CW_ERROR_SCHEMA_BYTES:
        return "the bytes are not an encoded schema";
    case CW_ERROR_MESSAGE_TYPE:
        return "the schema has no such message type";
    case CW_ERROR_MESSAGE_VALUE:
        return "a value in the message is out of range; cw_message_check tells which field";
    case CW_ERROR_POOL_EMPTY:
        return "all messages are in use: they are waiting, unacked or not released; raise "
               "max_messages or send less";
    case CW_ERROR_CHANNEL:
        return "the connection has no such channel; they are numbered from 0";
    case CW_ERROR_CONFIG_SIMULATOR:
        return "a simulated path needs chances from 0 to 1, amounts that are finite and not "
               "negative, max_datagram_size from 1 to 65535 and max_datagrams from 1 to 65536";
    case CW_ERROR_CONFIG_CONNECTION:
        return "channel_count must be from 1 to 64, max_messages from 1 to 32768, "
               "max_received_messages from 1 to 32768, max_receipts at most 32768 and "
               "max_packets_per_update from 1 to 64";
    case CW_ERROR_CONFIG_CHANNEL:
        return "a channel's kind must be one of the four, its max_messages_per_packet from 1 to "
               "256, "
               "its packet_budget at least 1, its weight from 1 to 1000, its redundancy from 0 to "
               "3, and only reliable channels have repair";
    case CW_ERROR_CONFIG_QUEUE:
        return "a channel's queue sizes must be powers of two from 2 to 16384";
    case CW_ERROR_CONFIG_BLOCK:
        return "max_block_size must be from 1 byte to 64 MB, in at most 65535 fragments, and "
               "block_fragment_size at least 16 bytes below the size of a packet: max_send_size or"
               " max_packet_size";
    case CW_ERROR_QUEUE_FULL:
        return "the channel's send queue is full; send less, or try again when messages have been "
               "delivered";
    case CW_ERROR_RECEIPTS_FULL:
        return "max_receipts receipts are still open; take their events, or use fewer receipts";
    case CW_ERROR_MESSAGE_TOO_LARGE:
        return "the message would never fit into a packet of its channel; split it or send it as a "
               "block";
    case CW_ERROR_BLOCK_NOT_ALLOWED:
        return "a block needs a channel with blocks and a message of a block type";
    case CW_ERROR_BLOCK_MISSING:
        return "a message of a block type needs a block; attach one first";
    case CW_ERROR_BLOCK_TOO_LARGE:
        return "the block is longer than max_block_size or, on an unreliable channel, than a "
               "packet";
    case CW_ERROR_PACKET_TOO_LARGE:
        return "the packet is longer than max_packet_size or max_send_size; send less, or raise "
               "max_packet_size on both ends";
    case CW_ERROR_TRANSMIT_PENDING:
        return "the previous packet has not been transmitted yet; call transmit until it returns 0";
    case CW_ERROR_EVENTS_PENDING:
        return "too many events are waiting; take them with next first";
    case CW_ERROR_MALFORMED:
        return "the datagram breaks the protocol";
    case CW_ERROR_NO_RANDOM:
        return "the machine has no source of random bytes";
    case CW_ERROR_KEY:
        return "a key is missing, all zero or another that everybody knows, or not 64 hexadecimal "
               "digits; causeway-token --new-key makes one";
    case CW_ERROR_USER_DATA:
        return "the last 16 bytes of the user data hold the schema's fingerprint; leave them zero";
    case CW_ERROR_TOKEN_SIZE:
        return "a connect token must be 2048 bytes long";
    case CW_ERROR_VERSION:
        return "the version of the token or packet is not NETCODE 1.02";
    case CW_ERROR_TOKEN_TIMES:
        return "the connect token expires before it is made, or has a life of 0; check the "
               "backend's clock and life_seconds";
    case CW_ERROR_TOKEN_ADDRESSES:
        return "a connect token must name from 1 to 32 server addresses, each IPv4 or IPv6";
    case CW_ERROR_TOKEN_EXPIRED:
        return "the connect token has expired; ask the backend for a new one";
    case CW_ERROR_TOKEN_USED:
        return "the connect token was used before; ask the backend for a new one";
    case CW_ERROR_SCHEMA:
        return "the other end has a different schema; build client and server from the same one";
    case CW_ERROR_NOT_CONNECTED:
        return "nobody is at the other end, either not yet or no longer";
    case CW_ERROR_CONNECTED:
        return "there is a connection already; disconnect first";
    default:
        return NULL;
    }
}
