#include "http/fetch.h"
#include "load/link.h"
#include "load/wt_client.h"
#include "webtransport/http3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The answer to the request has the status 200. */
static const uint8_t accepted[] = {0x01, 0x03, 0x00, 0x00, 0xd9};

struct link {
    const struct link_target *target;
    struct link_owner owner;
    struct fetch *fetch; /* the request for the address, while it is under way */
    struct wt_client client;
    struct loop_watch watch; /* its fd is -1 before there is an answer */
    char path[FETCH_URL_MAX];
    char server[80];
    /* the datagram of the packet that is being read, of which the relay puts one into each: ngtcp2
       sends nothing while it reads, and the player may answer */
    uint8_t datagram[LINK_DATAGRAM_MAX];
    size_t size;
    bool accepted;
    bool opened;       /* and the player knows it */
    const char *ended; /* why, or NULL */
};

static void on_send(void *context, const uint8_t *data, size_t size)
{
    const struct link *link = context;
    (void)!send(link->watch.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_stream(void *context, const uint8_t *data, size_t size, bool end)
{
    struct link *link = context;
    if (link->accepted || end) {
        link->ended = "the relay ended the session";
    } else if (size < sizeof accepted || memcmp(data, accepted, sizeof accepted) != 0) {
        link->ended = "the relay refused the session";
    } else {
        link->accepted = true;
        if (size > sizeof accepted)
            link->ended = "the relay ended the session";
    }
}

static void on_datagram(void *context, const uint8_t *data, size_t size)
{
    struct link *link = context;
    if (size < 2 || size > 1 + sizeof link->datagram)
        return;
    link->size = size - 1;
    memcpy(link->datagram, data + 1, link->size);
}

/* Tells the player what a packet has brought. */
static void tell(struct link *link)
{
    const size_t size = link->size;
    link->size = 0;
    if (link->accepted && !link->opened) {
        link->opened = true;
        link->owner.opened(link->owner.context);
    }
    if (link->opened && size > 0)
        link->owner.received(link->owner.context, link->datagram, size);
}

static void tick(void *context, double now)
{
    struct link *link = context;
    (void)now;
    if (link->watch.fd >= 0 && !link->ended && wt_client_step(&link->client) != 0)
        link->ended = "the connection was lost";
    if (link->ended)
        link->owner.closed(link->owner.context, link->ended);
}

static void on_packets(void *context, unsigned events)
{
    struct link *link = context;
    uint8_t data[2048];
    ssize_t size;
    (void)events;
    while (!link->ended && (size = recv(link->watch.fd, data, sizeof data, MSG_DONTWAIT)) > 0) {
        if (wt_client_receive(&link->client, data, (size_t)size) != 0)
            link->ended = "the relay ended the connection";
        tell(link);
    }
    if (!link->ended && wt_client_step(&link->client) != 0)
        link->ended = "the connection was lost";
}

/* Copies a text of the relay's answer. */
static bool copy_text(const char *answer, const char *name, char *out, size_t capacity)
{
    const char *at = strstr(answer, name);
    if (!at)
        return false;
    at += strlen(name);
    const size_t size = strcspn(at, "\"");
    snprintf(out, capacity, "%.*s", (int)size, at);
    return size < capacity;
}

/* Reads the address, which is a port of the host that we know, or whole; and the path. */
static bool read_answer(struct link *link, const char *answer, struct socket_address *out)
{
    char text[SOCKET_ADDRESS_TEXT];
    bool has_port;
    if (!copy_text(answer, "\"address\":\"", text, sizeof text) ||
        !copy_text(answer, "\"path\":\"", link->path,
                   sizeof link->path - sizeof link->server - 8) ||
        !socket_address_parse(text[0] == ':' ? link->target->address : text, out, &has_port))
        return false;
    if (text[0] == ':')
        socket_address_set_port(out, (unsigned)strtoul(text + 1, NULL, 10));
    if (link->server[0]) {
        const size_t size = strlen(link->path);
        snprintf(link->path + size, sizeof link->path - size, "&server=%s", link->server);
    }
    return true;
}

static void on_answer(void *context, const struct fetch_answer *answer)
{
    struct link *link = context;
    struct socket_address relay;
    link->fetch = NULL;
    if (answer->error || !read_answer(link, answer->body, &relay)) {
        link->ended = answer->error ? answer->error : "its answer is no address of WebTransport";
        link->owner.closed(link->owner.context, link->ended);
        return;
    }
    link->watch.fd = socket(relay.address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (link->watch.fd < 0 || connect(link->watch.fd, &relay.address.any, relay.size) != 0 ||
        !loop_add(link->target->loop, &link->watch, LOOP_READABLE) ||
        !wt_client_open(&link->client, link->watch.fd))
        link->ended = "the system allows no more links";
}

static void close_link(void *context)
{
    struct link *link = context;
    uint8_t capsule[HTTP3_CLOSE_MAX];
    fetch_cancel(link->fetch);
    if (link->opened && !link->ended) {
        wt_out_add(&link->client.session_out, capsule, http3_write_close(capsule, 1000, ""));
        link->client.session_out.end = true;
        (void)wt_client_step(&link->client);
    }
    wt_client_close(&link->client);
    if (link->watch.fd >= 0) {
        loop_remove(link->target->loop, &link->watch);
        close(link->watch.fd);
    }
    free(link);
}

static void *open_link(const struct link_target *target, const struct link_owner *owner)
{
    char url[FETCH_URL_MAX];
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->target = target;
    link->owner = *owner;
    link->watch = (struct loop_watch){.fd = -1, .ready = on_packets, .context = link};
    link->client = (struct wt_client){.authority = target->authority,
                                      .target = link->path,
                                      .origin = "",
                                      .send = on_send,
                                      .stream = on_stream,
                                      .datagram = on_datagram,
                                      .context = link};
    snprintf(link->server, sizeof link->server, "%s", target->server_name);
    snprintf(url, sizeof url, "%s://%s/webtransport", target->secure ? "https" : "http",
             target->authority);
    link->fetch = fetch_begin(
        target->loop, target->fetch,
        &(struct fetch_request){
            .url = url, .type = "text/plain", .body = "", .answered = on_answer, .context = link});
    if (link->fetch)
        return link;
    free(link);
    return NULL;
}

static bool send_datagram(void *context, const uint8_t *data, size_t size)
{
    struct link *link = context;
    uint8_t whole[2 + LINK_DATAGRAM_MAX] = {0}; /* the number of the session, and "not in parts" */
    if (!link->opened || link->ended || size > LINK_DATAGRAM_MAX)
        return false;
    memcpy(whole + 2, data, size);
    wt_client_send(&link->client, whole, 2 + size);
    return true;
}

const struct link_kind link_webtransport = {"webtransport", open_link, send_datagram, tick,
                                            close_link};
