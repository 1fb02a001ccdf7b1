#include "base/client_error.h"

#include <stddef.h>

/* Why datagrams are dropped. A page counts them by the names of these. */
static const char *dropped_string(enum cw_error error)
{
    switch (error) {
    case CW_ERROR_STALE:
        return "the packet is older than the window";
    case CW_ERROR_RECEIVER_FULL:
        return "a message in the packet cannot be kept until the application takes and releases "
               "others; the sender will send it again";
    case CW_ERROR_DUPLICATE:
        return "this was received or added before";
    case CW_ERROR_PROTOCOL_ID:
        return "the protocol id belongs to another application";
    case CW_ERROR_REQUEST_SIZE:
        return "a connection request must be 1078 bytes long";
    case CW_ERROR_PACKET_SHORT:
        return "the datagram is too short for a packet of its type";
    case CW_ERROR_PACKET_TYPE:
        return "this side does not accept packets of this type";
    case CW_ERROR_PACKET_SEQUENCE:
        return "the packet's sequence number must have from 1 to 8 bytes";
    case CW_ERROR_NOT_AUTHENTIC:
        return "the token or packet was altered, or sealed with another key";
    case CW_ERROR_BODY_SIZE:
        return "the packet's body has the wrong size for its type";
    case CW_ERROR_WRONG_SENDER:
        return "the datagram is not from the server's address";
    case CW_ERROR_UNEXPECTED:
        return "the packet does not belong in this state of the connection";
    default:
        return NULL;
    }
}

/* No page meets these: they are about configs that no page has, and about messages and buffers,
 * which a page leaves to the package. */
static const char *native_string(enum cw_error error)
{
    switch (error) {
    case CW_ERROR_CONFIG_RATE:
        return "bad_packets_per_second must be above 0, and good_packets_per_second from that to "
               "1,000,000";
    case CW_ERROR_CONFIG_POOL:
        return "a message pool needs a schema and a capacity from 1 to 65536 messages, and "
               "max_broadcasts must be from 1 to 32768";
    case CW_ERROR_CONFIG_DISCONNECT_PACKETS:
        return "disconnect_packets must be from 1 to 100";
    case CW_ERROR_BUFFER_TOO_SMALL:
        return "the buffer is too small for what must go into it";
    case CW_ERROR_MESSAGE_NOT_OWNED:
        return "the message was sent or released before, so it is no longer yours; acquire it "
               "before sending to keep using it";
    case CW_ERROR_OTHER_CONNECTION:
        return "the message was made or received by another connection; send a copy of it with "
               "cw_connection_send_value, or make a message here and fill it with cw_message_copy";
    case CW_ERROR_CONFIG_CLIENTS:
        return "max_clients must be from 1 to 1024, max_pending from 1 to 65536 and "
               "token_history from 1 to 2^24";
    case CW_ERROR_CONFIG_ADDRESSES:
        return "a server must have 1 to 32 addresses, each IPv4 or IPv6; list the ones that tokens"
               " name, not one that stands for all of a machine's; a trusted proxy is an address "
               "without a port, or a prefix such as 10.0.0.0/16";
    case CW_ERROR_CONFIG_UNIX_OFFSET:
        return "unix_offset_seconds is missing; set it to Unix time minus the time that calls are "
               "given: cw_clock_unix() - cw_clock_now(), or 0 when calls are given Unix time";
    case CW_ERROR_CONFIG_PAYLOADS:
        return "a host needs a connection in the config of its server or client, for messages, or "
               "payloads = true, for payloads of your own, and not both";
    default:
        return NULL;
    }
}

/* Servers, hosts and the operating system give these. */
static const char *server_string(enum cw_error error)
{
    switch (error) {
    case CW_ERROR_HOST:
        return "the host name has no address";
    case CW_ERROR_SOCKET:
        return "the operating system did not provide a socket";
    case CW_ERROR_ADDRESS_IN_USE:
        return "another program is using this address and port; stop it or choose another port";
    case CW_ERROR_ADDRESS_NOT_HERE:
        return "the address does not belong to this machine";
    case CW_ERROR_NOT_PERMITTED:
        return "the operating system does not permit this address or port";
    case CW_ERROR_SOCKET_FULL:
        return "the socket cannot take more just now; send later or drop the datagram";
    case CW_ERROR_SEND:
        return "the operating system refused to send this datagram: no route, or too long";
    case CW_ERROR_TOKEN_LIFE:
        return "the connect token lives longer than the server allows, or may have been made "
               "before the server started";
    case CW_ERROR_TOKEN_SERVER:
        return "the connect token is for other servers";
    case CW_ERROR_TOO_MANY_REQUESTS:
        return "there are more connection requests than requests_per_second";
    case CW_ERROR_TOO_MANY_DATAGRAMS:
        return "the client sends more than client_datagrams_per_second";
    case CW_ERROR_HISTORY_FULL:
        return "too many used tokens have not expired yet; raise token_history";
    case CW_ERROR_PENDING_FULL:
        return "too many clients are still connecting; raise max_pending";
    case CW_ERROR_SERVER_FULL:
        return "the server has no free slot";
    case CW_ERROR_PORT:
        return "the address has no port; write it as in 1.2.3.4:5, [::1]:5 or example.com:5; a "
               "server listens at a free port of the system's choice when the port is 0";
    case CW_ERROR_CARRIES_MESSAGES:
        return "the config has a connection, so messages are sent here and no payloads; use "
               "cw_connection_send";
    case CW_ERROR_CARRIES_PAYLOADS:
        return "the config has no connection, so payloads are sent here and no messages; set its "
               "connection, or use cw_server_send or cw_client_send";
    default:
        return NULL;
    }
}

/* The game kit gives these. */
static const char *game_string(enum cw_error error)
{
    switch (error) {
    case CW_ERROR_CONFIG_SNAPSHOT:
        return "snapshots need max_entities from 1 to 65536, a window that is a power of two from "
               "2 to 128, a coding that there is, max_clients from 1 to 1024 and max_bytes from 64 "
               "to "
               "65535";
    case CW_ERROR_SNAPSHOT_BASELINE:
        return "the snapshot's baseline is not here; tell the server, so that it starts over with "
               "cw_snapshot_server_restart";
    case CW_ERROR_ENTITIES_FULL:
        return "there are max_entities entities already; raise max_entities";
    case CW_ERROR_CONFIG_CLOCK_SYNC:
        return "ticks_per_second must be from 1 to 1000, slew above 0 and at most 0.5, "
               "jump_seconds above 0, and max_lead_seconds and max_catch_up_seconds finite and not"
               " negative";
    case CW_ERROR_CONFIG_INPUT:
        return "an input's struct must have at most 4096 bytes, copies must be from 1 to 32 and "
               "max_early_ticks from 1 to 4096";
    case CW_ERROR_TOO_EARLY:
        return "the input is for a tick further ahead than max_early_ticks; the client must pass "
               "the server's reports to cw_clock_sync_adjust";
    case CW_ERROR_CONFIG_INTERPOLATION:
        return "an interpolation needs ticks_per_second above 0 to 1000, entry_size up to 2^20 "
               "bytes, max_entries from 2 to 1024, and seconds from 0 to 60 with min_delay_seconds"
               " at most max_delay_seconds";
    case CW_ERROR_CONFIG_HISTORY:
        return "a history needs state_size and max_entities from 1 to 65536, max_ticks from 2 to "
               "4096, and at most 2^30 bytes for all states together";
    case CW_ERROR_CONFIG_PREDICTION:
        return "a prediction needs two types of the schema, the state's with a table of fields, "
               "max_ticks from 2 to 4096 with at most 2^30 bytes together, finite tolerances and "
               "limits that are not negative, and smooth_seconds above 0 to 60";
    default:
        return NULL;
    }
}

const char *cw_error_string(enum cw_error error)
{
    const char *text = cw_client_error_string(error);
    if (!text)
        text = dropped_string(error);
    if (!text)
        text = native_string(error);
    if (!text)
        text = server_string(error);
    if (!text)
        text = game_string(error);
    return text ? text : "unknown error";
}
