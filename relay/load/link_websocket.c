#include "load/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTOCOL "(player)"

/* A link holds this many datagrams for a relay that takes none; it drops the others, as UDP would.
 */
#define QUEUE 8

struct link {
    struct lws *wsi; /* NULL after the end */
    bool opened;
    struct link_owner owner;
    size_t size; /* the bytes received of a message */
    uint8_t message[LINK_DATAGRAM_MAX];
    unsigned first;
    unsigned count;
    struct {
        size_t size;
        uint8_t bytes[LWS_PRE + LINK_DATAGRAM_MAX];
    } queue[QUEUE];
};

static void take(struct link *link, struct lws *wsi, const void *bytes, size_t size)
{
    const size_t room = sizeof link->message - link->size;
    memcpy(link->message + link->size, bytes, size < room ? size : room);
    link->size += size < room ? size : room;
    if (!lws_is_final_fragment(wsi) || lws_remaining_packet_payload(wsi) > 0)
        return;
    const size_t whole = link->size;
    link->size = 0;
    link->owner.received(link->owner.context, link->message, whole);
}

static int write_one(struct link *link, struct lws *wsi)
{
    if (link->count == 0)
        return 0;
    const unsigned at = link->first++ % QUEUE;
    const size_t size = link->queue[at].size;
    if (lws_write(wsi, link->queue[at].bytes + LWS_PRE, size, LWS_WRITE_BINARY) < (int)size)
        return -1;
    if (--link->count > 0)
        lws_callback_on_writable(wsi);
    return 0;
}

static void end(struct link *link, struct lws *wsi, const char *why)
{
    lws_set_opaque_user_data(wsi, NULL);
    link->wsi = NULL;
    link->owner.closed(link->owner.context, why);
}

/* Tells the owner the text with which the relay has closed the link. libwebsockets makes 1002 of
   codes that it does not know, so the code in front of it says nothing. */
static void end_with_reason(struct link *link, struct lws *wsi, const uint8_t *bytes, size_t size)
{
    char why[126] = "the relay closed it";
    if (size > 2)
        snprintf(why, sizeof why, "%.*s", (int)size - 2, (const char *)bytes + 2);
    end(link, wsi, why);
}

static int on_websocket(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t size)
{
    struct link *link = lws_get_opaque_user_data(wsi);
    (void)user;
    if (!link || (link->wsi && link->wsi != wsi))
        return 0;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        link->opened = true;
        link->owner.opened(link->owner.context);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        take(link, wsi, in, size);
        return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return write_one(link, wsi);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        end_with_reason(link, wsi, in, size);
        return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        end(link, wsi, in ? in : "the relay cannot be reached");
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_WSI_DESTROY: /* some ends have no other event, such as a timeout */
        end(link, wsi, "the relay closed it");
        return 0;
    default:
        return 0;
    }
}

const struct lws_protocols link_websocket_protocol = {
    .name = PROTOCOL, .callback = on_websocket, .rx_buffer_size = 4096};

static void close_link(void *context)
{
    struct link *link = context;
    if (link->wsi) {
        lws_set_opaque_user_data(link->wsi, NULL);
        if (link->opened)
            lws_close_reason(link->wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
        lws_set_timeout(link->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
    }
    free(link);
}

static void *open_link(const struct link_target *target, const struct link_owner *owner)
{
    char protocols[128] = "causeway.v1";
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return NULL;
    link->owner = *owner;
    if (target->server_name[0])
        snprintf(protocols, sizeof protocols, "causeway.v1,causeway.server.%s",
                 target->server_name);
    const struct lws_client_connect_info info = {
        .context = loop_context(target->loop),
        .vhost = loop_vhost(target->loop),
        .address = target->address,
        .port = target->port,
        .path = target->path,
        .host = target->authority,
        .protocol = protocols,
        .local_protocol_name = PROTOCOL,
        .ssl_connection = target->secure ? LCCSCF_USE_SSL : 0,
        .alpn = "http/1.1",
        .opaque_user_data = link,
        .pwsi = &link->wsi,
    };
    lws_client_connect_via_info(&info); /* when it fails, the owner has been told */
    return link;
}

static bool send_datagram(void *context, const uint8_t *data, size_t size)
{
    struct link *link = context;
    if (!link->wsi || link->count == QUEUE)
        return false;
    const unsigned at = (link->first + link->count++) % QUEUE;
    link->queue[at].size = size;
    memcpy(link->queue[at].bytes + LWS_PRE, data, size);
    lws_callback_on_writable(link->wsi);
    return true;
}

const struct link_kind link_websocket = {"websocket", open_link, send_datagram, NULL, close_link};
