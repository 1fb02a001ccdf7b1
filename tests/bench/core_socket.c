/* Measures what it costs to send a block's datagrams to one address, and as many to as many
   addresses, in processor time over loopback. */
#include "causeway/native/socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DATAGRAMS 32
#define SIZE      1055 /* the size of an encrypted packet with a block's fragment */
#define ROUNDS    500

static struct cw_socket *sender, *receivers[DATAGRAMS];

static struct cw_socket *open_socket(void)
{
    struct cw_socket_config config = cw_socket_config_default();
    struct cw_socket *socket;
    if (cw_address_parse("127.0.0.1", &config.address) != CW_OK ||
        cw_socket_open(&config, &socket) != CW_OK) {
        fprintf(stderr, "no socket could be opened\n");
        exit(1);
    }
    return socket;
}

static void take_all(struct cw_socket *socket)
{
    static uint8_t data[SIZE];
    struct cw_address from;
    while (cw_socket_receive(socket, data, sizeof data, &from) > 0)
        continue;
}

/* Returns the processor time of one batch, in clock() units. */
static clock_t send_batch(const struct cw_address *addresses, size_t stride)
{
    static uint8_t data[SIZE];
    struct cw_socket_datagram datagrams[DATAGRAMS];
    for (size_t i = 0; i < DATAGRAMS; i++)
        datagrams[i] = (struct cw_socket_datagram){
            .address = addresses[i * stride], .data = data, .size = sizeof data};
    const clock_t begin = clock();
    cw_socket_send_batch(sender, datagrams, DATAGRAMS);
    const clock_t spent = clock() - begin;
    for (size_t i = 0; i < DATAGRAMS; i++)
        take_all(receivers[i]);
    return spent;
}

int main(void)
{
    struct cw_address addresses[DATAGRAMS];
    clock_t to_one = 0, to_many = 0;
    sender = open_socket();
    for (size_t i = 0; i < DATAGRAMS; i++) {
        receivers[i] = open_socket();
        cw_socket_address(receivers[i], &addresses[i]);
    }
    for (int i = 0; i < ROUNDS; i++) {
        to_one += send_batch(addresses, 0);
        to_many += send_batch(addresses, 1);
    }
    printf("send_to_one_ratio %.2f ratio\n", (double)to_one / (double)to_many);
    for (size_t i = 0; i < DATAGRAMS; i++)
        cw_socket_close(receivers[i]);
    cw_socket_close(sender);
    return 0;
}
