/* The relays of the internet in virtual time: the relay's own modules, on a clock and sockets of
   this world. */
#include "internet.h"

#include "options/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The relay's loop, of which only the clock and the timers are needed. */

double loop_now(void)
{
    return internet.now;
}

static void timer_expired(const struct event *event)
{
    struct loop_timer *timer = event->object;
    if (!timer->loop || timer->due > internet.now)
        return;
    timer->loop = NULL;
    timer->expired(timer->context);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, double seconds)
{
    timer->loop = loop;
    timer->due = internet.now + fmax(seconds, 0);
    event_add(fmax(seconds, 0), (struct event){.run = timer_expired, .object = timer});
}

void loop_timer_stop(struct loop_timer *timer)
{
    timer->loop = NULL;
}

bool loop_add(struct loop *loop, struct loop_watch *watch, unsigned events)
{
    (void)loop, (void)watch, (void)events;
    return false;
}

void loop_remove(struct loop *loop, struct loop_watch *watch)
{
    (void)loop, (void)watch;
}

/* The sockets towards the game servers. A number is used once only: packets may come late. */

#define SOCKETS_FIRST 1000000 /* no descriptor of this process */
static struct upstream **sockets;
static size_t socket_count, socket_capacity;
static bool refreshes, refreshed;

struct upstream_common *upstream_common_create(struct loop *loop, struct stats *stats)
{
    (void)loop;
    return (struct upstream_common *)stats;
}

void upstream_common_destroy(struct upstream_common *common)
{
    (void)common;
}

const struct socket_address *upstream_common_down(const struct upstream_common *common,
                                                  unsigned index)
{
    (void)common, (void)index;
    return NULL;
}

void upstream_init(struct upstream *upstream, struct upstream_common *common,
                   const struct socket_address *game_server, upstream_receive *receive,
                   void *context, struct drops *drops)
{
    *upstream = (struct upstream){.common = common,
                                  .game_server = game_server,
                                  .receive = receive,
                                  .context = context,
                                  .drops = drops,
                                  .watch.fd = -1};
}

void upstream_tell_client(struct upstream *upstream, enum client_header_format format,
                          const struct socket_address *client)
{
    (void)upstream, (void)format, (void)client;
}

int upstream_socket(const struct upstream *upstream, struct client_header *header)
{
    (void)header;
    return upstream->watch.fd;
}

bool upstream_adopt(struct upstream *upstream, int fd, const struct client_header *header)
{
    (void)header;
    upstream->watch.fd = fd;
    sockets[fd - SOCKETS_FIRST] = upstream;
    return true;
}

bool upstream_local(const struct upstream *upstream, struct socket_address *out)
{
    (void)upstream, (void)out;
    return false;
}

void upstream_count_overflow(struct upstream *upstream)
{
    (void)upstream;
}

void upstream_close(struct upstream *upstream)
{
    const int number = upstream->watch.fd - SOCKETS_FIRST;
    if (number >= 0 && sockets[number] == upstream)
        sockets[number] = NULL;
    upstream->watch.fd = -1;
}

/* The process that goes on with a socket has adopted it before. */
void upstream_leave(struct upstream *upstream)
{
    upstream_close(upstream);
}

static struct page_link *link_of(struct session_link *link)
{
    return lws_container_of(link, struct page_link, link);
}

static void at_server(const struct event *event)
{
    server_receive(event->player, event->number, event->data, event->size);
}

/* Returns the bytes as an event may keep them. */
static const uint8_t *kept(const uint8_t *data, size_t size)
{
    return is_copy(data) ? data : memcpy(malloc(size), data, size);
}

bool upstream_send(struct upstream *upstream, const uint8_t *data, size_t size)
{
    const struct session *session = upstream->context;
    const struct page_link *link = link_of(session->newest);
    const struct player *player = &internet.players[link->player];
    if (upstream->watch.fd < 0) {
        if (socket_count == socket_capacity) {
            socket_capacity = socket_capacity ? 2 * socket_capacity : 1024;
            sockets = realloc(sockets, socket_capacity * sizeof *sockets);
        }
        upstream->watch.fd = SOCKETS_FIRST + (int)socket_count;
        sockets[socket_count++] = upstream;
    }
    if (refreshes) {
        refreshed = internet.players[link->player].seat.socket == (uint32_t)upstream->watch.fd;
        return true;
    }
    event_add(region_way(link->machine->region, player->server % REGIONS),
              (struct event){.run = at_server,
                             .player = link->player,
                             .number = (uint32_t)upstream->watch.fd,
                             .data = kept(data, size),
                             .size = size});
    return true;
}

static void at_socket(const struct event *event)
{
    struct upstream *upstream = sockets[event->number - SOCKETS_FIRST];
    const struct datagram datagram = {event->data, event->size};
    if (upstream)
        upstream->receive(upstream->context, &datagram, 1);
}

void socket_send(uint32_t socket, unsigned server, const uint8_t *data, size_t size)
{
    struct upstream *upstream = sockets[socket - SOCKETS_FIRST];
    const struct session *session = upstream ? upstream->context : NULL;
    if (!session || !session->newest || !link_of(session->newest)->machine)
        return;
    const unsigned region = link_of(session->newest)->machine->region;
    event_add(
        region_way(region, server % REGIONS),
        (struct event){.run = at_socket, .number = socket, .data = kept(data, size), .size = size});
}

/* The links, as a transport of the relay. */

static bool is_ready(const struct session_link *link)
{
    return !lws_container_of(link, struct page_link, link)->closing;
}

static void at_page(const struct event *event)
{
    const struct slot *slot = &internet.players[event->player].slots[event->slot];
    if (slot->link && slot->link->number == event->number && slot->link->machine &&
        slot->link->machine->state == MACHINE_UP)
        page_receive(event->player, event->slot, event->data, event->size);
}

static void send_batch(struct session_link *to, const struct datagram *datagrams, size_t count)
{
    const struct page_link *link = link_of(to);
    const double way = page_way(&internet.players[link->player], link->machine->region);
    for (size_t i = 0; i < count && !refreshes; i++)
        event_add(way, (struct event){.run = at_page,
                                      .player = link->player,
                                      .slot = link->slot,
                                      .number = link->number,
                                      .data = kept(datagrams[i].data, datagrams[i].size),
                                      .size = datagrams[i].size});
}

static void free_link(const struct event *event)
{
    free(event->object);
}

/* Frees a link with which both ends are done, when no event knows it any more. */
static void release(struct page_link *link)
{
    if (!link->page_done || link->machine || link->released)
        return;
    link->released = true;
    event_add(3 * atof(PING_SECONDS), (struct event){.run = free_link, .object = link});
}

/* The machine is done with a link. */
static void leave(struct page_link *link, enum session_parting parting)
{
    if (!link->machine)
        return;
    session_link_close(&link->link, parting);
    *link->place = link->next;
    if (link->next)
        link->next->place = link->place;
    link->machine = NULL;
}

static void has_ended(const struct event *event)
{
    struct page_link *link = event->object;
    leave(link, SESSION_LINK_LOST);
    release(link);
}

static void tell_page(const struct event *event)
{
    struct page_link *link = event->object;
    struct slot *slot = &internet.players[event->player].slots[event->slot];
    if (!link->page_done) {
        link->page_done = true;
        slot->link = NULL;
        page_link_lost(event->player, event->slot, event->number);
    }
    release(link);
}

/* Lets the page know that its link is over. */
static void say(struct page_link *link, unsigned code)
{
    const double way = page_way(&internet.players[link->player], link->machine->region);
    event_add(way, (struct event){.run = tell_page,
                                  .object = link,
                                  .player = link->player,
                                  .slot = link->slot,
                                  .number = code});
}

static void close_link(struct session_link *session_link, const struct session_farewell *farewell,
                       bool at_once)
{
    struct page_link *link = link_of(session_link);
    (void)at_once;
    if (link->closing)
        return;
    link->closing = true;
    if (link->machine->state == MACHINE_UP && !link->page_done)
        say(link, farewell->code);
    event_add(0, (struct event){.run = has_ended, .object = link});
}

static double rtt_of(const struct session_link *link)
{
    (void)link;
    return NAN;
}

static const struct transport transport = {"websocket", is_ready, send_batch, close_link, rtt_of};

static void page_has_closed(const struct event *event)
{
    struct page_link *link = event->object;
    leave(link, SESSION_LINK_CLOSED);
    release(link);
}

void page_link_close(struct page_link *link)
{
    /* A relay that hears nothing from a browser drops its link after two pings. */
    const bool arrives = link->machine && link->machine->state == MACHINE_UP;
    link->page_done = true;
    if (!link->machine)
        release(link);
    else
        event_add(arrives ? page_way(&internet.players[link->player], link->machine->region)
                          : 2 * atof(PING_SECONDS),
                  (struct event){.run = arrives ? page_has_closed : has_ended, .object = link});
}

/* Handshakes. */

static void opens(const struct event *event)
{
    struct machine *machine = event->object;
    struct slot *slot = &internet.players[event->player].slots[event->slot];
    struct link_request request = {.client = {.size = sizeof(struct sockaddr_in)}};
    struct sockaddr_in *client = &request.client.address.v4;
    struct sockaddr_in *server = &request.server.address.v4;
    char key[23];
    if (slot->attempt != event->number || machine->state != MACHINE_UP)
        return;
    /* Four players share an address. */
    *client = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(0x64000000 + event->player / 4)};
    *server = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_port = htons(7000),
                                   .sin_addr.s_addr =
                                       htonl(0x0a010000 + internet.players[event->player].server)};
    request.server.size = sizeof *server;
    snprintf(key, sizeof key, "%08x%08x%05xA", event->player, slot->key, event->slot);
    session_identify(machine->sessions, key, "", &request);
    struct page_link *link = calloc(1, sizeof *link);
    static uint32_t numbers;
    *link = (struct page_link){.player = event->player, .slot = event->slot, .number = ++numbers};
    link->machine = machine;
    const enum session_refusal why =
        session_link_open(machine->sessions, &link->link, &transport, &request);
    if (why != SESSION_REFUSED_NOT) {
        session_link_close(&link->link, SESSION_LINK_LOST);
        free(link);
        page_failed(event->player, event->slot);
        return;
    }
    link->next = machine->links;
    link->place = &machine->links;
    if (link->next)
        link->next->place = &link->next;
    machine->links = link;
    page_linked(event->player, event->slot, link);
}

static void serve_turns(const struct event *event);

static void plan_turn(struct machine *machine, struct worker *worker, double wait)
{
    worker->waits = true;
    event_add(wait, (struct event){.run = serve_turns,
                                   .object = machine,
                                   .number = (uint32_t)(worker - machine->workers)});
}

static void spend(struct machine *machine, struct worker *worker, double seconds)
{
    handshake_budget_spend(&worker->budget, seconds);
    machine->spent += seconds;
}

static void shake_hands(struct machine *machine, struct worker *worker, const struct turn *turn)
{
    struct player *player = &internet.players[turn->player];
    struct socket_address client = {.size = sizeof(struct sockaddr_in)};
    unsigned retry_after;
    if (player->slots[turn->slot].attempt != turn->attempt)
        return;
    client.address.v4 = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x64000000 + turn->player / 4)};
    spend(machine, worker, COST_TLS);
    if (offer_limit_pass(worker->offers, &client, internet.now, &retry_after))
        spend(machine, worker, COST_DTLS);
    /* The request follows the handshake, and its answer opens the link. */
    event_add(2 * page_way(player, machine->region), (struct event){.run = opens,
                                                                    .object = machine,
                                                                    .player = turn->player,
                                                                    .slot = turn->slot,
                                                                    .number = turn->attempt});
}

static void serve_turns(const struct event *event)
{
    struct machine *machine = event->object;
    struct worker *worker = &machine->workers[event->number];
    worker->waits = false;
    if (machine->state != MACHINE_UP)
        worker->count = 0;
    while (worker->count > 0) {
        const double wait = handshake_budget_wait(&worker->budget, HANDSHAKE_TLS, internet.now);
        if (wait > 0) {
            plan_turn(machine, worker, wait + 1e-6);
            return;
        }
        const struct turn turn = worker->turns[worker->first];
        worker->first = (worker->first + 1) % worker->capacity;
        worker->count--;
        shake_hands(machine, worker, &turn);
    }
}

void machine_accept(struct machine *machine, uint32_t player, unsigned slot, uint32_t attempt)
{
    struct worker *worker = &machine->workers[cw_prng_below(&internet.random, internet.workers)];
    machine->arrived++;
    if (worker->count == worker->capacity) {
        const size_t capacity = worker->capacity ? 2 * worker->capacity : 64;
        struct turn *turns = malloc(capacity * sizeof *turns);
        for (size_t i = 0; i < worker->count; i++)
            turns[i] = worker->turns[(worker->first + i) % worker->capacity];
        free(worker->turns);
        worker->turns = turns;
        worker->first = 0;
        worker->capacity = capacity;
    }
    worker->turns[(worker->first + worker->count++) % worker->capacity] =
        (struct turn){player, attempt, slot};
    if (!worker->waits)
        plan_turn(machine, worker, 0);
}

void machine_receive(struct page_link *link, const uint8_t *data, size_t size)
{
    if (link->machine && link->machine->state == MACHINE_UP && link->link.session)
        session_receive(link->link.session, data, size);
}

bool machine_refresh(struct page_link *link)
{
    const struct copy *packet = &copies[COPY_KEEP_ALIVE];
    struct session *session = link->link.session;
    refreshes = true;
    refreshed = false;
    if (link->machine && link->machine->state == MACHINE_UP && session)
        session_receive(session, packet->bytes, packet->size);
    if (refreshed)
        session->upstream.receive(session, &(struct datagram){packet->bytes, packet->size}, 1);
    refreshes = false;
    return refreshed;
}

/* Machines. */

static struct sessions *sessions_of(struct machine *machine, const uint8_t *secret)
{
    return sessions_create(
        &(struct sessions_config){.upstreams = machine->upstreams,
                                  .max_sessions = internet.places,
                                  .max_per_address = 100,
                                  .request_timeout_seconds = atof(REQUEST_SECONDS),
                                  .answer_timeout_seconds = atof(ANSWER_SECONDS),
                                  .idle_timeout_seconds = atof(IDLE_SECONDS),
                                  .resume_seconds = atof(RESUME_SECONDS),
                                  .secret = secret},
        (struct loop *)machine, &machine->stats);
}

void machine_start(struct machine *machine, unsigned region)
{
    struct upstream_list list = {0};
    const struct upstream_rule *unknown;
    const char *error;
    log_set_level(LOG_ERROR);
    machine->state = MACHINE_UP;
    machine->region = region;
    if (!machine->upstreams && upstream_list_add(&list, "10.1.0.0/16:7000"))
        machine->upstreams = upstreams_create(&list, (struct loop *)machine, &unknown, &error);
    machine->sessions = sessions_of(machine, NULL);
    for (unsigned i = 0; i < internet.workers; i++)
        if (!machine->workers[i].offers)
            machine->workers[i].offers =
                offer_limit_create(internet.places / internet.workers, 100);
}

static void is_drained(void *context)
{
    (void)context;
}

static void destroy(const struct event *event)
{
    sessions_destroy(event->object);
}

/* Ends the sessions, which free themselves when their links have been closed. The set of them stays
   until no timer of theirs is in the queue of events. */
static void end_sessions(struct sessions *sessions, enum session_end why)
{
    sessions_drain(sessions, why, is_drained, NULL);
    sessions_end_all(sessions);
    event_add(2 * atof(IDLE_SECONDS), (struct event){.run = destroy, .object = sessions});
}

void machine_stop(struct machine *machine, enum machine_state state)
{
    machine->state = state;
    for (struct page_link *link = machine->links; link; link = link->next)
        if (state == MACHINE_REFUSES && !link->closing && !link->page_done)
            say(link, CODE_BROKEN);
    if (state == MACHINE_REFUSES)
        end_sessions(machine->sessions, SESSION_END_DRAIN);
}

static bool hand_over(void *context, const struct session_state *state, int fd)
{
    return sessions_adopt(context, state, sizeof *state, fd) || true;
}

void machine_upgrade(struct machine *machine)
{
    struct sessions *old = machine->sessions;
    machine->sessions = sessions_of(machine, sessions_secret(old));
    sessions_export(old, hand_over, machine->sessions);
    end_sessions(old, SESSION_END_RESTART);
}

void machine_drain(struct machine *machine)
{
    sessions_drain(machine->sessions, SESSION_END_DRAIN, is_drained, NULL);
}

struct machine *relay_machine(const struct relay *relay, uint32_t player)
{
    /* Resolvers keep an answer for a minute. */
    const double age = internet.now - relay->moved;
    return relay->old && age < 60.0 * (player * 0.6180339887 - floor(player * 0.6180339887))
               ? relay->old
               : relay->machine;
}
