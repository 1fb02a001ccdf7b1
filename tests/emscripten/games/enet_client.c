/* A client over ENet's public API.
     enet_client HOST PORT */
#include "echo.h"

#include <enet/enet.h>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

static ENetHost *host;
static ENetPeer *peer;
static bool connected;
static struct echo echo;

static void tick(void)
{
    static char text[BULK_SIZE];
    ENetEvent event;
    while (enet_host_service(host, &event, 0) > 0) {
        if (event.type == ENET_EVENT_TYPE_CONNECT) {
            connected = true;
        } else if (event.type == ENET_EVENT_TYPE_DISCONNECT) {
            connected = false;
            puts("disconnected");
            peer = enet_host_connect(host, &event.peer->address, 2, 0);
        } else if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            echo_take(&echo, (const char *)event.packet->data, event.packet->dataLength);
            enet_packet_destroy(event.packet);
        }
    }
    const size_t size = connected ? echo_next(&echo, text) : 0;
    if (size > 0) {
        const bool reliable = size == BULK_SIZE;
        enet_peer_send(peer, reliable ? 0 : 1,
                       enet_packet_create(text, size, reliable ? ENET_PACKET_FLAG_RELIABLE : 0));
        enet_host_flush(host);
    }
}

int main(int argc, char **argv)
{
    ENetAddress address;
    if (argc < 3 || enet_initialize() != 0)
        return 1;
    host = enet_host_create(NULL, 1, 2, 0, 0);
    enet_address_set_host(&address, argv[1]);
    address.port = (enet_uint16)atoi(argv[2]);
    peer = enet_host_connect(host, &address, 2, 0);
    if (!peer)
        return 1;
#ifdef __EMSCRIPTEN__
    emscripten_set_main_loop(tick, 240, true);
#else
    while (!echo_done(&echo))
        tick();
#endif
    return 0;
}
