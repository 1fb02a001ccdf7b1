#include "base/error_texts.h"

#define CLIENT_ERRORS(ERROR)                                                                       \
    ERROR(TOKEN_EXPIRED, "the connect token has expired; ask the backend for a new one")           \
    ERROR(TOKEN_USED, "the connect token was used before; ask the backend for a new one")          \
    ERROR(SCHEMA,                                                                                  \
          "the other end has a different schema; build client and server from the same one")       \
    ERROR(CONNECTED, "there is a connection already; disconnect first")
CW_ERROR_LIST(cw_client_errors, CW_ERROR_TOKEN_EXPIRED, CLIENT_ERRORS)

#define SERVER_ERRORS(ERROR)                                                                       \
    ERROR(TOKEN_LIFE, "the connect token lives longer than the server allows, or may have been "   \
                      "made before the server started")                                            \
    ERROR(TOKEN_SERVER, "the connect token is for other servers")                                  \
    ERROR(TOO_MANY_REQUESTS, "there are more connection requests than requests_per_second")        \
    ERROR(TOO_MANY_DATAGRAMS, "the client sends more than client_datagrams_per_second")            \
    ERROR(HISTORY_FULL, "too many used tokens have not expired yet; raise token_history")          \
    ERROR(PENDING_FULL, "too many clients are still connecting; raise max_pending")                \
    ERROR(SERVER_FULL, "the server has no free slot")                                              \
    ERROR(CARRIES_MESSAGES, "the config has a connection, so messages are sent here and no "       \
                            "payloads; use cw_connection_send")                                    \
    ERROR(CARRIES_PAYLOADS,                                                                        \
          "the config has no connection, so payloads are sent here and no messages; set its "      \
          "connection, or use cw_server_send or cw_client_send")
CW_ERROR_LIST(cw_server_errors, CW_ERROR_TOKEN_LIFE, SERVER_ERRORS)
