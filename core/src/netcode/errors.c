#include "base/error_texts.h"

#define TOKEN_ERRORS(ERROR)                                                                        \
    ERROR(NO_RANDOM, "the machine has no source of random bytes")                                  \
    ERROR(KEY, "a key is missing, all zero or another that everybody knows, or not 64 "            \
               "hexadecimal digits; causeway-token --new-key makes one")                           \
    ERROR(USER_DATA,                                                                               \
          "the last 16 bytes of the user data hold the schema's fingerprint; leave them zero")     \
    ERROR(TOKEN_SIZE, "a connect token must be 2048 bytes long")                                   \
    ERROR(VERSION, "the version of the token or packet is not NETCODE 1.02")                       \
    ERROR(TOKEN_TIMES, "the connect token expires before it is made, or has a life of 0; check "   \
                       "the backend's clock and life_seconds")                                     \
    ERROR(TOKEN_ADDRESSES, "a connect token must name from 1 to 32 server addresses")
CW_ERROR_LIST(cw_token_errors, CW_ERROR_NO_RANDOM, TOKEN_ERRORS)

#define SECURE_PACKET_ERRORS(ERROR)                                                                \
    ERROR(PROTOCOL_ID, "the protocol id belongs to another application")                           \
    ERROR(REQUEST_SIZE, "a connection request must be 1078 bytes long")                            \
    ERROR(PACKET_SHORT, "the datagram is too short for a packet of its type")                      \
    ERROR(PACKET_TYPE, "this side does not accept packets of this type")                           \
    ERROR(PACKET_SEQUENCE, "the packet's sequence number must have from 1 to 8 bytes")             \
    ERROR(NOT_AUTHENTIC, "the token or packet was altered, or sealed with another key")            \
    ERROR(BODY_SIZE, "the packet's body has the wrong size for its type")                          \
    ERROR(WRONG_SENDER, "the datagram is not from the server's address")                           \
    ERROR(UNEXPECTED, "the packet does not belong in this state of the connection")
CW_ERROR_LIST(cw_secure_packet_errors, CW_ERROR_PROTOCOL_ID, SECURE_PACKET_ERRORS)
