/* Everything that can go wrong, as values. Every function that can fail returns one of these.

   A NULL pointer that a function needs is a mistake everywhere, and so is a time that is not
   finite. Nothing happens then, and the function returns CW_ERROR_INVALID_ARGUMENT, or false, 0 or
   NULL if it does not return an error. The functions of bits.h and stream.h are the exception: they
   do not check their pointers. */
#ifndef CAUSEWAY_ERROR_H
#define CAUSEWAY_ERROR_H

#include "causeway/base.h"

#include <stdbool.h>

CW_BEGIN_DECLARATIONS

enum cw_error {
    CW_OK = 0,
    CW_ERROR_INVALID_ARGUMENT,
    CW_ERROR_NO_MEMORY,
    CW_ERROR_ADDRESS,
    CW_ERROR_MALFORMED,

    /* packets */
    CW_ERROR_PACKET_TOO_LARGE,
    CW_ERROR_TRANSMIT_PENDING,
    CW_ERROR_EVENTS_PENDING,
    CW_ERROR_BUFFER_TOO_SMALL,
    CW_ERROR_STALE,
    CW_ERROR_DUPLICATE,

    /* message types that cannot work */
    CW_ERROR_SCHEMA_TYPES,
    CW_ERROR_SCHEMA_FIELD,
    CW_ERROR_SCHEMA_SIZE,
    CW_ERROR_SCHEMA_BYTES,

    /* messages */
    CW_ERROR_MESSAGE_TYPE,
    CW_ERROR_MESSAGE_VALUE,
    CW_ERROR_POOL_EMPTY,
    CW_ERROR_CHANNEL,
    CW_ERROR_QUEUE_FULL,
    CW_ERROR_RECEIPTS_FULL,
    CW_ERROR_MESSAGE_TOO_LARGE,
    CW_ERROR_BLOCK_NOT_ALLOWED,
    CW_ERROR_BLOCK_MISSING,
    CW_ERROR_BLOCK_TOO_LARGE,
    CW_ERROR_NOT_CONNECTED,
    CW_ERROR_MESSAGE_NOT_OWNED,
    CW_ERROR_OTHER_CONNECTION,
    CW_ERROR_RECEIVER_FULL,

    /* connect tokens */
    CW_ERROR_NO_RANDOM,
    CW_ERROR_KEY,
    CW_ERROR_USER_DATA,
    CW_ERROR_TOKEN_SIZE,
    CW_ERROR_VERSION,
    CW_ERROR_TOKEN_TIMES,
    CW_ERROR_TOKEN_ADDRESSES,

    /* clients */
    CW_ERROR_TOKEN_EXPIRED,
    CW_ERROR_TOKEN_USED,
    CW_ERROR_SCHEMA,
    CW_ERROR_CONNECTED,

    /* packets of a secure connection that are not taken */
    CW_ERROR_PROTOCOL_ID,
    CW_ERROR_REQUEST_SIZE,
    CW_ERROR_PACKET_SHORT,
    CW_ERROR_PACKET_TYPE,
    CW_ERROR_PACKET_SEQUENCE,
    CW_ERROR_NOT_AUTHENTIC,
    CW_ERROR_BODY_SIZE,
    CW_ERROR_WRONG_SENDER,
    CW_ERROR_UNEXPECTED,

    /* servers */
    CW_ERROR_TOKEN_LIFE,
    CW_ERROR_TOKEN_SERVER,
    CW_ERROR_TOO_MANY_REQUESTS,
    CW_ERROR_TOO_MANY_DATAGRAMS,
    CW_ERROR_HISTORY_FULL,
    CW_ERROR_PENDING_FULL,
    CW_ERROR_SERVER_FULL,

    /* sockets and host names */
    CW_ERROR_HOST,
    CW_ERROR_PORT,
    CW_ERROR_SOCKET,
    CW_ERROR_ADDRESS_IN_USE,
    CW_ERROR_ADDRESS_NOT_HERE,
    CW_ERROR_NOT_PERMITTED,
    CW_ERROR_SOCKET_FULL,
    CW_ERROR_SEND,

    CW_ERROR_COUNT,

    /* From 0x800 on are errors that the headers of upper layers define, as input.h does. From
       CW_ERROR_CONFIG on each error stands for a field of a config that cannot work. */
    CW_ERROR_CONFIG = 0x1000,
    CW_ERROR_LAST = 0xffff
};

/* One sentence in plain English that says what is wrong and, where it helps, what to do. The string
   is static and never NULL. */
const char *cw_error_string(enum cw_error error);

#define CW_ERROR_FIELD_SIZE 32

/* Writes the name of the field for which a create function refused a config, such as "max_clients",
   also when it is a field of a config in that config. cw_error_string tells which values the field
   may have. Returns false for all other errors, and writes "" then. */
bool cw_error_field(enum cw_error error, char out[CW_ERROR_FIELD_SIZE]);

CW_END_DECLARATIONS

#endif
