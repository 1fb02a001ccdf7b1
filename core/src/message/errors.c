#include "base/error_texts.h"

#define SCHEMA_ERRORS(ERROR)                                                                       \
    ERROR(                                                                                         \
        SCHEMA_TYPES,                                                                              \
        "a schema has 1 to 65536 message types, each with a name and either fields or a function") \
    ERROR(SCHEMA_FIELD, "a field has no name, an unknown kind, limits or an expression that are "  \
                        "not allowed, or a struct that has no fields or is more than 8 deep")      \
    ERROR(SCHEMA_SIZE, "a message's struct is larger than CW_MESSAGE_MAX_SIZE, or its size does "  \
                       "not match its fields")                                                     \
    ERROR(SCHEMA_BYTES, "the bytes are not an encoded schema")                                     \
    ERROR(MESSAGE_TYPE, "the schema has no such message type")                                     \
    ERROR(MESSAGE_VALUE,                                                                           \
          "a value in the message is out of range; cw_message_check tells which field")
CW_ERROR_LIST(cw_schema_errors, CW_ERROR_SCHEMA_TYPES, SCHEMA_ERRORS)

#define MESSAGE_ERRORS(ERROR)                                                                      \
    ERROR(POOL_EMPTY, "all messages are in use: they are waiting, unacked or not released; raise " \
                      "max_messages or send less")                                                 \
    ERROR(CHANNEL, "the connection has no such channel; they are numbered from 0")                 \
    ERROR(QUEUE_FULL, "the channel's send queue is full; send less or later")                      \
    ERROR(RECEIPTS_FULL, "max_receipts receipts are still open; take their events")                \
    ERROR(MESSAGE_TOO_LARGE, "the message would never fit into a packet of its channel; split it " \
                             "or send it as a block")                                              \
    ERROR(BLOCK_NOT_ALLOWED, "a block needs a channel with blocks and a message of a block type")  \
    ERROR(BLOCK_MISSING, "a message of a block type needs a block; attach one first")              \
    ERROR(BLOCK_TOO_LARGE,                                                                         \
          "the block is longer than max_block_size or, on an unreliable channel, than a packet")   \
    ERROR(NOT_CONNECTED, "nobody is at the other end yet, or no longer")
CW_ERROR_LIST(cw_message_errors, CW_ERROR_POOL_EMPTY, MESSAGE_ERRORS)

#define MESSAGE_OWNER_ERRORS(ERROR)                                                                \
    ERROR(MESSAGE_NOT_OWNED, "the message was sent or released before, so it is no longer yours; " \
                             "acquire it before sending to keep using it")                         \
    ERROR(OTHER_CONNECTION,                                                                        \
          "the message was made or received by another connection; send a copy of it with "        \
          "cw_connection_send_value, or make a message here and fill it with cw_message_copy")     \
    ERROR(RECEIVER_FULL, "a message in the packet cannot be kept until the application takes and " \
                         "releases others; the sender will send it again")
CW_ERROR_LIST(cw_message_owner_errors, CW_ERROR_MESSAGE_NOT_OWNED, MESSAGE_OWNER_ERRORS)

#define REQUEST_ERRORS(ERROR)                                                                      \
    ERROR(NOT_A_REQUEST, "the message is not the question of a request")                           \
    ERROR(REQUESTS_FULL, "max_requests requests are still open; take their events")                \
    ERROR(NOT_ASKED, "nobody waits for this answer, or no longer")
CW_ERROR_LIST(cw_request_errors, CW_ERROR_NOT_A_REQUEST, REQUEST_ERRORS)
