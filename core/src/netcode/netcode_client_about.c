#include "netcode/netcode_client_internal.h"

bool cw_netcode_client_moving(const struct cw_netcode_client *client)
{
    return client && client->state == CW_CLIENT_CONNECTED && client->move.step != CW_MOVE_NONE;
}

enum cw_client_state cw_netcode_client_state(const struct cw_netcode_client *client)
{
    return client ? client->state : CW_CLIENT_DISCONNECTED;
}

const char *cw_client_state_string(enum cw_client_state state)
{
    switch (state) {
    case CW_CLIENT_NOT_YET:
        return "the connect token may be older than the server; a new one helps";
    case CW_CLIENT_ID_CONNECTED:
        return "another client with this id is connected already, or connecting with a newer "
               "token; "
               "disconnect it first, or give each player an id of their own";
    case CW_CLIENT_STOPPING:
        return "the server is stopping";
    case CW_CLIENT_REPLACED:
        return "the same player has connected from elsewhere";
    case CW_CLIENT_KICKED:
        return "the server has disconnected this client";
    case CW_CLIENT_SCHEMA:
        return "the server has another schema; build client and server from the same one";
    case CW_CLIENT_TOKEN_EXPIRED:
        return "the connect token expired before a server answered; ask the backend for a new one";
    case CW_CLIENT_INVALID_TOKEN:
        return "the connect token is not valid; see the error of connect";
    case CW_CLIENT_TIMED_OUT:
        return "the connection timed out: nothing came through any more";
    case CW_CLIENT_RESPONSE_TIMED_OUT:
        return "the server takes no answer to its challenge; is the token in use by another "
               "client?";
    case CW_CLIENT_REQUEST_TIMED_OUT:
        return "no server answered in time; it is down, or does not take this token (another key, "
               "protocol id or address, used before, lives too long), as its statistics tell";
    case CW_CLIENT_DENIED:
        return "the server is full";
    case CW_CLIENT_DISCONNECTED:
        return "disconnected";
    case CW_CLIENT_SENDING_REQUEST:
        return "asking the server for a connection";
    case CW_CLIENT_SENDING_RESPONSE:
        return "answering the server's challenge";
    case CW_CLIENT_CONNECTED:
        return "connected";
    }
    return "unknown state";
}

const struct cw_farewell *cw_netcode_client_farewell(const struct cw_netcode_client *client)
{
    return client ? &client->farewell : NULL;
}

const struct cw_address *cw_netcode_client_server_address(const struct cw_netcode_client *client)
{
    return client ? &client->token.addresses[client->address] : NULL;
}

uint64_t cw_netcode_client_token_id(const struct cw_netcode_client *client)
{
    return client && client->used_any ? cw_token_id(client->used_mac) : 0;
}

uint32_t cw_netcode_client_server_index(const struct cw_netcode_client *client)
{
    return client ? client->address : 0;
}

uint32_t cw_netcode_client_index(const struct cw_netcode_client *client)
{
    return client ? client->index : 0;
}

uint32_t cw_netcode_client_max_clients(const struct cw_netcode_client *client)
{
    return client ? client->max_clients : 0;
}

void cw_netcode_client_get_stats(const struct cw_netcode_client *client,
                                 struct cw_netcode_client_stats *stats)
{
    if (client && stats)
        *stats = client->stats;
}

uint64_t cw_netcode_client_dropped(const struct cw_netcode_client *client, enum cw_error error)
{
    return client && (unsigned)error < CW_ERROR_COUNT ? client->dropped[error] : 0;
}
