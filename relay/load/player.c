#include "load/player.h"

#include <causeway/endpoint.h>
#include <causeway/netcode_client.h>
#include <causeway/token.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Connecting players are given up after this many seconds. */
#define CONNECT_SECONDS 15.0

/* Until the first echo, a bare datagram is sent this often, as netcode's requests are. */
#define REQUEST_SECONDS 0.1

/* The times are kept of this many packets, those of the endpoint's window. */
#define WINDOW 256

enum state { CONNECTING, CONNECTED, ENDED };

struct player {
    struct player_config config;
    struct link_target target;
    enum state state;
    void *link;
    bool link_is_open;
    double start;
    double due; /* the time of the next packet */
    double now;
    struct cw_netcode_client *client; /* NULL without a token, as the endpoint */
    struct cw_endpoint *endpoint;
    double sent[WINDOW];
};

static void end(struct player *player, const char *why)
{
    struct tally *tally = player->config.tally;
    if (player->state == ENDED)
        return;
    if (player->state == CONNECTED)
        tally->dropped++;
    else
        tally->refused++;
    player->state = ENDED;
    snprintf(tally->reason, sizeof tally->reason, "%s", why);
}

static void become_connected(struct player *player)
{
    if (player->state != CONNECTING)
        return;
    player->state = CONNECTED;
    player->config.tally->connected++;
    quantiles_add(&player->config.tally->connect, loop_now() - player->start);
    /* The players' packets are spread over the time between two. */
    player->due = loop_now() + drand48() / player->config.rate;
}

static void send_datagram(struct player *player, const uint8_t *data, size_t size)
{
    if (!player->config.kind->send(player->link, data, size))
        return;
    player->config.tally->datagrams_sent++;
    player->config.tally->bytes_sent += size;
}

static void count_return(struct player *player, double sent)
{
    player->config.tally->returned++;
    quantiles_add(&player->config.tally->rtt, loop_now() - sent);
}

static void flush(struct player *player)
{
    uint8_t data[CW_SECURE_MAX];
    size_t size;
    while (player->client && player->link_is_open &&
           (size = cw_netcode_client_transmit(player->client, data, sizeof data, loop_now(),
                                              NULL)) > 0)
        send_datagram(player, data, size);
}

static void take_packet(struct player *player, const uint8_t *payload, size_t size)
{
    struct cw_endpoint_event event;
    cw_endpoint_receive(player->endpoint, payload, size, loop_now());
    while (cw_endpoint_next(player->endpoint, &event)) {
        if (event.type == CW_ENDPOINT_EVENT_PACKET)
            cw_endpoint_accept(player->endpoint, event.sequence);
        else if (event.type == CW_ENDPOINT_EVENT_ACKED)
            count_return(player, player->sent[event.sequence % WINDOW]);
    }
}

static void take_events(struct player *player)
{
    struct cw_netcode_client_event event;
    while (cw_netcode_client_next(player->client, &event)) {
        if (event.type == CW_NETCODE_CLIENT_EVENT_PAYLOAD)
            take_packet(player, event.payload, event.size);
        else if (event.type == CW_NETCODE_CLIENT_EVENT_CONNECTED)
            become_connected(player);
        else
            end(player, cw_client_state_string(event.state));
    }
}

static void on_received(void *context, const uint8_t *data, size_t size)
{
    struct player *player = context;
    double sent;
    if (player->state == ENDED)
        return;
    player->config.tally->datagrams_received++;
    player->config.tally->bytes_received += size;
    if (player->client) {
        cw_netcode_client_receive(player->client, NULL, data, size, loop_now());
        take_events(player);
        flush(player);
    } else if (size == player->config.bytes) {
        become_connected(player);
        memcpy(&sent, data, sizeof sent);
        count_return(player, sent);
    }
}

static void on_opened(void *context)
{
    struct player *player = context;
    player->link_is_open = true;
    flush(player);
}

static void on_closed(void *context, const char *why)
{
    struct player *player = context;
    player->link_is_open = false;
    end(player, why);
}

void player_choose_server(struct link_target *target, const struct cw_address *address)
{
    char text[CW_ADDRESS_TEXT_SIZE];
    char *out = target->server_name;
    bool has_port;
    cw_address_format(address, text);
    socket_address_parse(text, &target->server, &has_port);
    *strrchr(text, ':') = '_';
    for (const char *c = text; *c; c++) {
        if (*c != '[' && *c != ']')
            *out++ = *c;
        if (*c == ':')
            out[-1] = '-';
    }
    *out = '\0';
}

static bool open_client(struct player *player, const uint8_t *token, double now)
{
    struct cw_token read;
    struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_endpoint_config endpoint = cw_endpoint_config_default();
    endpoint.fragment_above = PLAYER_BYTES_MAX; /* a packet is a datagram */
    endpoint.max_reassemblies = 1;
    if (cw_token_read(token, CW_TOKEN_SIZE, &read) != CW_OK)
        return false;
    player_choose_server(&player->target, &read.addresses[0]);
    config.fingerprint = read.fingerprint; /* players of any game */
    return cw_netcode_client_create(&config, &player->client) == CW_OK &&
           cw_endpoint_create(&endpoint, &player->endpoint) == CW_OK &&
           cw_netcode_client_connect(player->client, token, CW_TOKEN_SIZE, now) == CW_OK;
}

struct player *player_create(const struct player_config *config, const uint8_t *token, double now)
{
    struct player *player = calloc(1, sizeof *player);
    const struct link_owner owner = {on_opened, on_received, on_closed, player};
    if (!player)
        return NULL;
    player->config = *config;
    player->target = *config->target;
    player->start = now;
    config->tally->players++;
    if (token && !open_client(player, token, now)) {
        end(player, "the connect token is not good");
        return player;
    }
    player->link = config->kind->open(&player->target, &owner);
    if (!player->link)
        end(player, "the system allows no more links");
    return player;
}

static void send_packet(struct player *player, double now)
{
    uint8_t out[CW_PAYLOAD_MAX] = {0};
    uint8_t *payload;
    uint16_t sequence;
    const size_t bytes = player->config.bytes;
    player->config.tally->packets++;
    if (!player->client) {
        memcpy(out, &now, sizeof now);
        send_datagram(player, out, bytes);
        return;
    }
    /* Zeros are a packet without messages to a cw_server, and to yojimbo. */
    if (cw_endpoint_begin(player->endpoint, bytes, out, sizeof out, &payload) != CW_OK)
        return;
    memset(payload, 0, bytes);
    const size_t size = cw_endpoint_commit(player->endpoint, bytes, now, &sequence);
    player->sent[sequence % WINDOW] = now;
    cw_netcode_client_send(player->client, out, size);
    flush(player);
}

void player_tick(struct player *player, double until, double now)
{
    if (player->link && player->state == ENDED) {
        player->config.kind->close(player->link);
        player->link = NULL;
    }
    if (player->state == ENDED)
        return;
    if (player->config.kind->tick)
        player->config.kind->tick(player->link, now);
    if (player->state == CONNECTING && now - player->start > CONNECT_SECONDS)
        end(player, "no connection in time");
    for (; player->state == CONNECTED && player->due <= now && player->due < until;
         player->due += 1.0 / player->config.rate)
        send_packet(player, loop_now());
    if (!player->client && player->link_is_open && player->state == CONNECTING &&
        player->due <= now) {
        player->due = now + REQUEST_SECONDS;
        send_packet(player, now);
    }
    if (player->client && player->link_is_open) {
        cw_netcode_client_update(player->client, now);
        take_events(player);
        cw_endpoint_update(player->endpoint, now);
        flush(player);
    }
}

void player_destroy(struct player *player)
{
    if (!player)
        return;
    if (player->client && player->state == CONNECTED) {
        cw_netcode_client_disconnect(player->client);
        flush(player);
    }
    if (player->link)
        player->config.kind->close(player->link);
    cw_netcode_client_destroy(player->client);
    cw_endpoint_destroy(player->endpoint);
    free(player);
}
