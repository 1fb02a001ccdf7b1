/* All tables of sentences, by who can meet their errors. */
#ifndef CAUSEWAY_ERROR_TABLES_H
#define CAUSEWAY_ERROR_TABLES_H

#include "base/error_texts.h"

/* A page's module knows the errors of these tables; see wasm/module.c. */
#define CW_CLIENT_ERROR_TABLES(TABLE)                                                              \
    TABLE(cw_base_errors)                                                                          \
    TABLE(cw_packet_errors)                                                                        \
    TABLE(cw_endpoint_config_errors)                                                               \
    TABLE(cw_congestion_config_errors)                                                             \
    TABLE(cw_schema_errors)                                                                        \
    TABLE(cw_message_errors)                                                                       \
    TABLE(cw_request_errors)                                                                       \
    TABLE(cw_channel_config_errors)                                                                \
    TABLE(cw_connection_config_errors)                                                             \
    TABLE(cw_token_errors)                                                                         \
    TABLE(cw_client_errors)                                                                        \
    TABLE(cw_netcode_client_config_errors)                                                         \
    TABLE(cw_payload_errors)

/* Servers and simulators give the errors of these tables, or a page leaves them to the package, or
   they say why a datagram was dropped. */
#define CW_SERVER_ERROR_TABLES(TABLE)                                                              \
    TABLE(cw_packet_drop_errors)                                                                   \
    TABLE(cw_record_config_errors)                                                                 \
    TABLE(cw_simulator_config_errors)                                                              \
    TABLE(cw_message_owner_errors)                                                                 \
    TABLE(cw_message_pool_config_errors)                                                           \
    TABLE(cw_secure_packet_errors)                                                                 \
    TABLE(cw_server_errors)                                                                        \
    TABLE(cw_netcode_server_config_errors)                                                         \
    TABLE(cw_server_config_errors)

#define CW_GAME_ERROR_TABLES(TABLE)                                                                \
    TABLE(cw_game_errors)                                                                          \
    TABLE(cw_clock_sync_config_errors)                                                             \
    TABLE(cw_game_config_errors)                                                                   \
    TABLE(cw_history_config_errors)                                                                \
    TABLE(cw_input_config_errors)                                                                  \
    TABLE(cw_interest_config_errors)                                                               \
    TABLE(cw_interpolation_config_errors)                                                          \
    TABLE(cw_prediction_config_errors)                                                             \
    TABLE(cw_snapshot_config_errors)

/* A module of the game kit knows the errors of these tables. */
#define CW_GAME_MODULE_ERROR_TABLES(TABLE)                                                         \
    TABLE(cw_base_errors)                                                                          \
    TABLE(cw_packet_drop_errors)                                                                   \
    TABLE(cw_schema_errors)                                                                        \
    CW_GAME_ERROR_TABLES(TABLE)

/* A standalone module of WebAssembly has no native/, so it does not have these. */
#ifdef CW_WITHOUT_NATIVE
#define CW_NATIVE_ERROR_TABLES(TABLE)
#else
#define CW_NATIVE_ERROR_TABLES(TABLE)                                                              \
    TABLE(cw_socket_errors)                                                                        \
    TABLE(cw_host_config_errors)                                                                   \
    TABLE(cw_client_host_config_errors)                                                            \
    TABLE(cw_proxied_config_errors)
#endif

#define CW_ERROR_TABLES(TABLE)                                                                     \
    CW_CLIENT_ERROR_TABLES(TABLE)                                                                  \
    CW_SERVER_ERROR_TABLES(TABLE)                                                                  \
    CW_GAME_ERROR_TABLES(TABLE)                                                                    \
    CW_NATIVE_ERROR_TABLES(TABLE)

#define CW_ERROR_TABLE_DECLARATION(name) extern const struct cw_error_texts name;
#define CW_ERROR_TABLE_ADDRESS(name)     &name,

CW_ERROR_TABLES(CW_ERROR_TABLE_DECLARATION)

#endif
