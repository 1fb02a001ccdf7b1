/* The server of the lab: it sends each item of a line back, through the protocol of that line, and
   shows a world of cubes. Behind a relay with --raw, the clients are columns of the page, and views
   of the page with the cubes.

   lab_server [ADDRESS:PORT]    The default is 127.0.0.1:0, any free port, which it prints.

   Nothing is encrypted, and nothing proves who has sent a datagram. */
#include "lab/column.h"
#include "lab/cubes_server.h"
#include "lab/cubes_wire.h"
#include "lab/echo.h"

#include "causeway/native/clock.h"
#include "causeway/native/socket.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Places for lines. A line gives its place back when it has been silent for so long. */
#define LINES           32
#define SILENCE_SECONDS 3

/* This many lines may begin in a tick, enough for the columns of a page. There is a limit because
   each line takes megabytes, which are cleared. */
#define BEGIN_PER_TICK 4

/* An address that has begun a line begins another one in its place only after so long, so that it
   cannot have all that begin in each tick. */
#define AGAIN_SECONDS 1

struct place {
    struct cw_lab_echo *echo; /* NULL: nobody is here */
    struct cw_address address;
    double begun, heard;
};

struct server {
    struct cw_socket *socket;
    struct place places[LINES];
    struct cw_lab_cubes_server *cubes;
    uint32_t begun; /* lines that began in this tick */
    uint8_t data[CW_LAB_LINE_MAX_DATAGRAM];
};

static volatile sig_atomic_t stopping;

static void stop(int signal)
{
    (void)signal;
    stopping = 1;
}

/* Cookies are worth as much as the machine's random bytes, and without those there is no server. */
static void fill_random(void *context, uint8_t *out, size_t size)
{
    (void)context;
    FILE *const source = fopen("/dev/urandom", "rb");
    if (!source || fread(out, 1, size, source) != size) {
        fprintf(stderr, "lab_server: /dev/urandom has no random bytes\n");
        exit(1);
    }
    fclose(source);
}

static void leave(struct place *place)
{
    cw_lab_echo_destroy(place->echo);
    *place = (struct place){0};
}

static void transmit(struct server *server, struct place *place, double now)
{
    size_t size;
    while ((size = cw_lab_echo_transmit(place->echo, server->data, sizeof server->data, now)) > 0)
        cw_socket_send(server->socket, &place->address, server->data, size);
}

/* Returns the place of an address, or else one that is free; NULL when there is none. */
static struct place *place_of(struct server *server, const struct cw_address *address)
{
    struct place *empty = NULL;
    for (int i = 0; i < LINES; i++) {
        struct place *place = &server->places[i];
        if (!place->echo)
            empty = place;
        else if (cw_address_equal(&place->address, address))
            return place;
    }
    return empty;
}

/* A refusal is not longer than what it answers, or strangers could have others flooded. */
static void refuse(struct server *server, const struct cw_address *to, uint32_t key,
                   enum cw_lab_answer answer, size_t size)
{
    const size_t refusal = cw_lab_echo_refuse(key, answer, server->data, sizeof server->data);
    if (refusal <= size)
        cw_socket_send(server->socket, to, server->data, refusal);
}

/* Begins a line at this place, also where the same address had another. */
static bool begin(struct server *server, struct place *place, const struct cw_address *from,
                  uint32_t protocol, uint32_t key, double now)
{
    const struct cw_allocator allocator = {0};
    leave(place);
    server->begun++;
    if (cw_lab_echo_create(protocol, key, &allocator, &place->echo) != CW_OK)
        return false;
    place->address = *from;
    place->begun = now;
    return true;
}

static void take_view(struct server *server, const struct cw_address *from, size_t size, double now)
{
    uint8_t answer[CW_LAB_CUBES_VIEW_SIZE];
    const size_t left =
        cw_lab_cubes_server_receive(server->cubes, from, server->data, size, now, answer);
    if (left > 0)
        cw_socket_send(server->socket, from, answer, left);
}

static void take(struct server *server, const struct cw_address *from, size_t size, double now)
{
    uint32_t protocol, key;
    if (cw_lab_cubes_server_wants(server->data, size)) {
        take_view(server, from, size, now);
        return;
    }
    if (!cw_lab_echo_read(server->data, size, &protocol, &key))
        return;
    struct place *place = place_of(server, from);
    if (!place) {
        refuse(server, from, key, CW_LAB_ANSWER_FULL, size);
        return;
    }
    if (!place->echo || !cw_lab_echo_receive(place->echo, server->data, size, now)) {
        if (server->begun == BEGIN_PER_TICK || now < place->begun + AGAIN_SECONDS)
            return;
        if (!begin(server, place, from, protocol, key, now)) {
            refuse(server, from, key, CW_LAB_ANSWER_FOREIGN, size);
            return;
        }
        cw_lab_echo_receive(place->echo, server->data, size, now);
    }
    place->heard = now;
    transmit(server, place, now);
}

/* Takes what arrives until then. */
static void receive(struct server *server, double until)
{
    struct cw_address from;
    double now;
    while ((now = cw_clock_now()) < until) {
        const size_t size =
            cw_socket_receive(server->socket, server->data, sizeof server->data, &from);
        if (size > 0)
            take(server, &from, size, now);
        else
            cw_socket_wait(server->socket, until - now);
    }
}

static void show_cubes(struct server *server, double now)
{
    struct cw_address to;
    size_t size;
    cw_lab_cubes_server_step(server->cubes, now);
    while ((size = cw_lab_cubes_server_transmit(server->cubes, server->data, &to)) > 0)
        cw_socket_send(server->socket, &to, server->data, size);
}

static void tick(struct server *server, double now)
{
    show_cubes(server, now);
    server->begun = 0;
    for (int i = 0; i < LINES; i++) {
        struct place *place = &server->places[i];
        if (!place->echo)
            continue;
        if (now - place->heard > SILENCE_SECONDS) {
            leave(place);
            continue;
        }
        cw_lab_echo_step(place->echo, now);
        transmit(server, place, now);
    }
}

int main(int argc, char **argv)
{
    static struct server server;
    const struct cw_random random = {.fill = fill_random};
    const struct cw_allocator allocator = {0};
    struct cw_socket_config at = cw_socket_config_default();
    char text[CW_ADDRESS_TEXT_SIZE];
    if (cw_address_parse(argc > 1 ? argv[1] : "127.0.0.1:0", &at.address) != CW_OK ||
        cw_socket_open(&at, &server.socket) != CW_OK) {
        fprintf(stderr, "usage: lab_server [ADDRESS:PORT], with an address of this machine\n");
        return 1;
    }
    if (cw_lab_cubes_server_create(1, &random, &allocator, &server.cubes) != CW_OK) {
        fprintf(stderr, "lab_server: there is not enough memory for the cubes\n");
        return 1;
    }
    cw_socket_address(server.socket, &at.address);
    printf("lab server, without encryption, on %s\n", cw_address_format(&at.address, text));
    fflush(stdout);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    const double interval = 1.0 / CW_LAB_TICKS_PER_SECOND;
    for (double due = cw_clock_now(); !stopping; due = cw_clock_next_tick(due, interval)) {
        receive(&server, due);
        tick(&server, cw_clock_now());
    }
    for (int i = 0; i < LINES; i++)
        leave(&server.places[i]);
    cw_lab_cubes_server_destroy(server.cubes);
    cw_socket_close(server.socket);
    return 0;
}
