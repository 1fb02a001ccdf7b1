/* Sends every packet of ENet back as it came.
     enet_server */
#include <enet/enet.h>
#include <stdio.h>

int main(void)
{
    ENetAddress address = {.port = 0};
    ENetEvent event;
    if (enet_initialize() != 0)
        return 1;
    enet_address_set_host(&address, "127.0.0.1");
    ENetHost *host = enet_host_create(&address, 32, 2, 0, 0);
    if (!host || enet_socket_get_address(host->socket, &address) != 0)
        return 1;
    printf("listening on 127.0.0.1:%d\n", address.port);
    fflush(stdout);
    while (enet_host_service(host, &event, 1000) >= 0)
        if (event.type == ENET_EVENT_TYPE_RECEIVE) {
            const enet_uint32 flags = event.packet->flags & ENET_PACKET_FLAG_RELIABLE;
            enet_peer_send(event.peer, event.channelID,
                           enet_packet_create(event.packet->data, event.packet->dataLength, flags));
            enet_packet_destroy(event.packet);
            enet_host_flush(host);
        }
    return 1;
}
