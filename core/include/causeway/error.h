/* What can go wrong, as values. Every function that can fail returns one of these.

   A NULL pointer that a function needs is a mistake everywhere, and so is a time that is not
   finite. Nothing happens then, and the function returns CW_ERROR_INVALID_ARGUMENT, or false, 0 or
   NULL if it does not return an error. The functions of bits.h and stream.h are the exception: they
   do not check their pointers. */
#ifndef CAUSEWAY_ERROR_H
#define CAUSEWAY_ERROR_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

enum cw_error {
    CW_OK = 0,
    CW_ERROR_INVALID_ARGUMENT,
    CW_ERROR_NO_MEMORY,
    CW_ERROR_ADDRESS,

    /* a config that cannot work */
    CW_ERROR_CONFIG_WINDOW,
    CW_ERROR_CONFIG_PACKET_SIZE,
    CW_ERROR_CONFIG_FRAGMENT_SIZE,
    CW_ERROR_CONFIG_MAX_FRAGMENTS,
    CW_ERROR_CONFIG_REASSEMBLIES,
    CW_ERROR_CONFIG_TIME,
    CW_ERROR_CONFIG_RATE,
    CW_ERROR_CONFIG_POOL,
    CW_ERROR_CONFIG_SIMULATOR,
    CW_ERROR_CONFIG_CLIENTS,
    CW_ERROR_CONFIG_ADDRESSES,
    CW_ERROR_CONFIG_DISCONNECT_PACKETS,
    CW_ERROR_CONFIG_UNIX_OFFSET,
    CW_ERROR_CONFIG_SNAPSHOT,
    CW_ERROR_CONFIG_CLOCK_SYNC,
    CW_ERROR_CONFIG_INPUT,
    CW_ERROR_CONFIG_INTERPOLATION,
    CW_ERROR_CONFIG_HISTORY,
    CW_ERROR_CONFIG_PREDICTION,
    CW_ERROR_CONFIG_NOTIFY,

    /* message types that cannot work, messages that cannot be made */
    CW_ERROR_SCHEMA_TYPES,
    CW_ERROR_SCHEMA_FIELD,
    CW_ERROR_SCHEMA_SIZE,
    CW_ERROR_SCHEMA_BYTES,
    CW_ERROR_MESSAGE_TYPE,
    CW_ERROR_MESSAGE_VALUE,
    CW_ERROR_POOL_EMPTY,
    CW_ERROR_MESSAGE_NOT_OWNED,

    CW_ERROR_CONFIG_CONNECTION,
    CW_ERROR_CONFIG_CHANNEL,
    CW_ERROR_CONFIG_QUEUE,
    CW_ERROR_CONFIG_BLOCK,

    /* calls that cannot be carried out now */
    CW_ERROR_QUEUE_FULL,
    CW_ERROR_RECEIPTS_FULL,
    CW_ERROR_MESSAGE_TOO_LARGE,
    CW_ERROR_BLOCK_NOT_ALLOWED,
    CW_ERROR_BLOCK_MISSING,
    CW_ERROR_BLOCK_TOO_LARGE,
    CW_ERROR_PACKET_TOO_LARGE,
    CW_ERROR_TRANSMIT_PENDING,
    CW_ERROR_EVENTS_PENDING,
    CW_ERROR_NOT_CONNECTED,
    CW_ERROR_CONNECTED,
    CW_ERROR_BUFFER_TOO_SMALL,
    CW_ERROR_ENTITIES_FULL,

    /* datagrams that are not delivered */
    CW_ERROR_MALFORMED,
    CW_ERROR_STALE,
    CW_ERROR_DUPLICATE,
    CW_ERROR_RECEIVER_FULL,
    CW_ERROR_TOO_EARLY,
    CW_ERROR_SNAPSHOT_BASELINE,

    /* sockets and host names */
    CW_ERROR_HOST,
    CW_ERROR_SOCKET,
    CW_ERROR_ADDRESS_IN_USE,
    CW_ERROR_ADDRESS_NOT_HERE,
    CW_ERROR_NOT_PERMITTED,
    CW_ERROR_SOCKET_FULL,
    CW_ERROR_SEND,

    /* secure connections: tokens, then packets */
    CW_ERROR_NO_RANDOM,
    CW_ERROR_KEY,
    CW_ERROR_USER_DATA,

    CW_ERROR_TOKEN_SIZE,
    CW_ERROR_VERSION,
    CW_ERROR_PROTOCOL_ID,
    CW_ERROR_TOKEN_TIMES,
    CW_ERROR_TOKEN_ADDRESSES,
    CW_ERROR_TOKEN_EXPIRED,
    CW_ERROR_TOKEN_LIFE,
    CW_ERROR_TOKEN_SERVER,
    CW_ERROR_TOKEN_USED,
    CW_ERROR_SCHEMA,
    CW_ERROR_TOO_MANY_REQUESTS,
    CW_ERROR_HISTORY_FULL,
    CW_ERROR_PENDING_FULL,
    CW_ERROR_SERVER_FULL,

    CW_ERROR_REQUEST_SIZE,
    CW_ERROR_PACKET_SHORT,
    CW_ERROR_PACKET_TYPE,
    CW_ERROR_PACKET_SEQUENCE,
    CW_ERROR_NOT_AUTHENTIC,
    CW_ERROR_BODY_SIZE,
    CW_ERROR_WRONG_SENDER,
    CW_ERROR_UNEXPECTED,

    CW_ERROR_COUNT
};

/* One sentence in plain English that says what is wrong and, where it helps, what to do.
   Never NULL; the string is static. */
const char *cw_error_string(enum cw_error error);

CW_END_DECLARATIONS

#endif
