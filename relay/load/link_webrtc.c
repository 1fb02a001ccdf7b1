#include "http/fetch.h"
#include "load/link.h"
#include "load/rtc_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The steps of the handshake are repeated this often, and an open path is checked this often. */
#define REPEAT_SECONDS 0.5
#define CHECK_SECONDS  5.0

struct link {
    const struct link_target *target;
    struct link_owner owner;
    struct fetch *fetch; /* the request with the offer, while it is under way */
    struct rtc_client client;
    struct loop_watch watch; /* its fd is -1 before there is an answer */
    bool opened;
    double due; /* the time of the next repetition or check */
};

static void on_send(void *context, const uint8_t *data, size_t size)
{
    const struct link *link = context;
    (void)!send(link->watch.fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_message(void *context, const uint8_t *data, size_t size)
{
    const struct link *link = context;
    link->owner.received(link->owner.context, data, size);
}

static void on_packets(void *context, unsigned events)
{
    struct link *link = context;
    uint8_t data[2048];
    ssize_t size;
    (void)events;
    while ((size = recv(link->watch.fd, data, sizeof data, MSG_DONTWAIT)) > 0)
        rtc_client_receive(&link->client, data, (size_t)size);
    if (link->client.open && !link->opened) {
        link->opened = true;
        link->due += CHECK_SECONDS;
        link->owner.opened(link->owner.context);
    }
    if (link->opened)
        rtc_client_acknowledge(&link->client);
}

static void tick(void *context, double now)
{
    struct link *link = context;
    if (link->client.ended)
        link->owner.closed(link->owner.context, "the relay ended the connection");
    if (link->watch.fd < 0 || link->client.ended || now < link->due)
        return;
    link->due = now + (link->opened ? CHECK_SECONDS : REPEAT_SECONDS);
    if (link->opened)
        rtc_client_check(&link->client);
    else
        rtc_client_repeat(&link->client);
}

/* Copies the rest of the line of an answer that begins with `name`. */
static bool copy_line(const char *answer, const char *name, char *out, size_t capacity)
{
    const char *at = strstr(answer, name);
    if (!at)
        return false;
    at += strlen(name);
    snprintf(out, capacity, "%.*s", (int)strcspn(at, "\r\n"), at);
    return true;
}

/* Reads an answer's credentials, and the first of its addresses. */
static bool read_answer(struct link *link, const char *answer, struct socket_address *out)
{
    char ufrag[64];
    char candidate[160];
    char ip[64];
    unsigned port;
    bool has_port;
    if (!copy_line(answer, "a=ice-ufrag:", ufrag, sizeof ufrag) ||
        !copy_line(answer, "a=ice-pwd:", link->client.password, sizeof link->client.password) ||
        !copy_line(answer, "a=candidate:", candidate, sizeof candidate) ||
        sscanf(candidate, "%*s %*s udp %*s %63s %u", ip, &port) != 2 ||
        !socket_address_parse(ip, out, &has_port))
        return false;
    socket_address_set_port(out, port);
    snprintf(link->client.username, sizeof link->client.username, "%s:load", ufrag);
    return true;
}

static void on_answer(void *context, const struct fetch_answer *answer)
{
    struct link *link = context;
    struct socket_address relay;
    link->fetch = NULL;
    if (answer->error || !read_answer(link, answer->body, &relay)) {
        link->owner.closed(link->owner.context,
                           answer->error ? answer->error : "its answer is no WebRTC answer");
        return;
    }
    link->watch.fd = socket(relay.address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (link->watch.fd < 0 || connect(link->watch.fd, &relay.address.any, relay.size) != 0 ||
        !loop_add(link->target->loop, &link->watch, LOOP_READABLE)) {
        link->owner.closed(link->owner.context, strerror(errno));
        return;
    }
    link->due = loop_now() + REPEAT_SECONDS;
    rtc_client_open(&link->client);
    rtc_client_check(&link->client);
}

static void close_link(void *context)
{
    struct link *link = context;
    fetch_cancel(link->fetch);
    if (link->opened)
        rtc_client_abort(&link->client);
    rtc_client_destroy(&link->client);
    if (link->watch.fd >= 0) {
        loop_remove(link->target->loop, &link->watch);
        close(link->watch.fd);
    }
    free(link);
}

static void *open_link(const struct link_target *target, const struct link_owner *owner)
{
    char offer[1200];
    char url[FETCH_URL_MAX];
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->target = target;
    link->owner = *owner;
    link->watch = (struct loop_watch){.fd = -1, .ready = on_packets, .context = link};
    link->client = (struct rtc_client){.identity = target->identity,
                                       .kind = 0x81,
                                       .send = on_send,
                                       .message = on_message,
                                       .context = link};
    size_t size = rtc_client_offer(&link->client, "load", offer, sizeof offer);
    if (target->server_name[0])
        snprintf(offer + size, sizeof offer - size, "a=x-causeway-server:%s\r\n",
                 target->server_name);
    snprintf(url, sizeof url, "%s://%s/rtc", target->secure ? "https" : "http", target->authority);
    link->fetch = fetch_begin(target->loop, target->fetch,
                              &(struct fetch_request){.url = url,
                                                      .type = "application/sdp",
                                                      .body = offer,
                                                      .answered = on_answer,
                                                      .context = link});
    if (link->fetch)
        return link;
    free(link);
    return NULL;
}

static bool send_datagram(void *context, const uint8_t *data, size_t size)
{
    struct link *link = context;
    if (!link->opened || link->client.ended)
        return false;
    rtc_client_send(&link->client, data, size);
    return true;
}

const struct link_kind link_webrtc = {"webrtc", open_link, send_datagram, tick, close_link};
