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

#define CLIENT_ERRORS(ERROR)                                                                       \
    ERROR(TOKEN_EXPIRED, "the connect token has expired; ask the backend for a new one")           \
    ERROR(TOKEN_USED, "the connect token was used before; ask the backend for a new one")          \
    ERROR(SCHEMA,                                                                                  \
          "the other end has a different schema; build client and server from the same one")       \
    ERROR(CONNECTED, "there is a connection already; disconnect first")
CW_ERROR_LIST(cw_client_errors, CW_ERROR_TOKEN_EXPIRED, CLIENT_ERRORS)

#define SERVER_ERRORS(ERROR)                                                                       \
    ERROR(TOKEN_LIFE,                                                                              \
          "the connect token lives too long, may be older than the server, or is from "            \
          "the future; check the clocks")                                                          \
    ERROR(TOKEN_SERVER, "the connect token is for other servers")                                  \
    ERROR(TOO_MANY_REQUESTS, "there are more connection requests than requests_per_second")        \
    ERROR(TOO_MANY_DATAGRAMS, "the client sends more than client_datagrams_per_second")            \
    ERROR(HISTORY_FULL, "too many used tokens have not expired yet; raise token_history")          \
    ERROR(PENDING_FULL, "too many clients are still connecting; raise max_pending")                \
    ERROR(SERVER_FULL, "the server has no free slot")
CW_ERROR_LIST(cw_server_errors, CW_ERROR_TOKEN_LIFE, SERVER_ERRORS)
