/* A browser has the keys, and lies: checks, SCTP packets of any contents with the right tag and
   checksum, data channel messages and any datagrams come from four ports, with time passing and
   messages of ours in between. The browser is at two of the ports; from the others it only seems to
   write, and it sees nothing of what goes there, which is never more than three times what came
   from there.

   An input is a list of steps, each of which is a byte for the kind and the port, a byte for the
   size, and the bytes. */
#include "plain_dtls.h"
#include "relay/rtc/big_endian.h"
#include "relay/rtc/peer.h"
#include "sctp_client.h"
#include "stun_request.h"
#include "target.h"

#define UFRAG       "relayufrag"
#define PASSWORD    "relaypassword/0123456789"
#define PORTS       4
#define OWN_PORTS   2
#define FIRST_PORT  4000
#define LONGEST_OUT (SCTP_PACKET_MAX + DTLS_OVERHEAD)

enum { CHUNKS, MESSAGE, CHECK, ANY, SEND, WAIT, RETURN, OPEN, END, STEPS };

struct world {
    struct peer_common common;
    struct peer *peer;
    struct sctp_client client;
    double now;
    uint16_t number; /* the number of the browser's next record */
    size_t came[PORTS], went[PORTS];
};

static uint8_t random_byte;

/* Replaces the function of OpenSSL, so that a run can be repeated. */
int RAND_bytes(unsigned char *out, int size)
{
    memset(out, ++random_byte, (size_t)size);
    return 1;
}

/* Reads a packet with any tag: the browser may have named another in an INIT that it made by hand.
 */
static bool read_packet(struct sctp_client *client, const uint8_t *data, size_t size)
{
    const uint32_t tag = size < 8 ? 0 : load32(data + 4);
    if (tag != 0)
        client->tag = tag;
    return sctp_client_read(client, data, size);
}

static void on_send(void *context, const struct udp_path *path, const uint8_t *data, size_t size)
{
    struct world *world = context;
    const unsigned port = path->remote.port - FIRST_PORT;
    expect(port < PORTS && size > 0 && size <= LONGEST_OUT);
    world->went[port] += size;
    if (port >= OWN_PORTS)
        expect(world->went[port] <= 3 * world->came[port]);
    else if (data[0] == PLAIN_DTLS_RECORD)
        expect(read_packet(&world->client, data + PLAIN_DTLS_HEADER, size - DTLS_OVERHEAD));
}

static void take_datagrams(struct world *world)
{
    struct peer_datagram datagram;
    while (peer_next(world->peer, &datagram, world->now)) {
        volatile uint8_t sum = 0;
        expect(peer_state(world->peer) == PEER_OPEN && datagram.size <= SCTP_MESSAGE_MAX);
        for (size_t i = 0; i < datagram.size; i++)
            sum = (uint8_t)(sum + datagram.data[i]);
    }
}

/* Lets a datagram arrive in a block of exactly its size. */
static void arrive(struct world *world, unsigned port, const uint8_t *data, size_t size)
{
    const struct udp_path path = {.remote = {{0x20, 1}, (uint16_t)(FIRST_PORT + port)}};
    struct stun_request request;
    uint8_t *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, data, size);
    world->came[port] += size;
    if (stun_is(exact, size)) {
        if (stun_parse(&request, exact, size))
            peer_check(world->peer, &request, exact, size, &path, world->now);
    } else if (dtls_is(exact, size)) {
        peer_receive(world->peer, &path, exact, size, world->now);
    }
    take_datagrams(world);
    free(exact);
}

static void arrive_record(struct world *world, unsigned port, const struct sctp_packet *packet)
{
    uint8_t datagram[PLAIN_DTLS_HEADER + SCTP_CLIENT_PACKET_MAX] = {
        PLAIN_DTLS_RECORD, (uint8_t)(world->number >> 8), (uint8_t)world->number};
    world->number++;
    memcpy(datagram + PLAIN_DTLS_HEADER, packet->data, packet->size);
    arrive(world, port, datagram, PLAIN_DTLS_HEADER + packet->size);
}

static void arrive_check(struct world *world, unsigned port, const uint8_t *dtls, size_t size)
{
    uint8_t check[STUN_REQUEST_SIZE];
    arrive(world, port, check,
           size > 0 && size <= 1200 ? stun_request_embed(check, UFRAG ":brow", PASSWORD, dtls, size)
                                    : stun_request(check, UFRAG ":brow", PASSWORD, 0, 0));
}

static void arrive_return(struct world *world, unsigned port)
{
    struct sctp_packet packet;
    sctp_client_write_heartbeat_ack(&world->client, &packet);
    arrive_record(world, port, &packet);
}

/* Does what an honest browser does until it may open its channel. */
static void set_up(struct world *world, unsigned port)
{
    static const uint8_t handshake[400] = {PLAIN_DTLS_HANDSHAKE};
    struct sctp_packet packet;
    arrive_check(world, port, NULL, 0);
    arrive(world, port, handshake, sizeof handshake);
    arrive(world, port, handshake, sizeof handshake);
    sctp_client_write_init(&world->client, &packet);
    arrive_record(world, port, &packet);
    sctp_client_write_cookie(&world->client, &packet);
    arrive_record(world, port, &packet);
    arrive_return(world, port);
}

static void arrive_chunks(struct world *world, unsigned port, const uint8_t *data, size_t size)
{
    struct sctp_packet packet;
    sctp_packet_begin(&packet, world->client.remote_tag);
    memcpy(packet.data + packet.size, data, size);
    packet.size += size;
    sctp_packet_end(&packet);
    arrive_record(world, port, &packet);
}

/* Lets the next message or the next part of one arrive: its stream, flags and order come in a byte,
   its kind in another. */
static void arrive_message(struct world *world, unsigned port, const uint8_t *data, size_t size)
{
    struct sctp_packet packet;
    if (size < 2)
        return;
    sctp_packet_begin(&packet, world->client.remote_tag);
    sctp_packet_data(&packet,
                     (struct sctp_part){.tsn = world->client.tsn++,
                                        .flags = data[0] >> 2 & 7,
                                        .ppid = data[1],
                                        .stream = data[0] & 3,
                                        .order = data[0] >> 5},
                     data + 2, size - 2);
    sctp_packet_end(&packet);
    arrive_record(world, port, &packet);
}

static void step(struct world *world, uint8_t what, const uint8_t *data, size_t size)
{
    static const uint8_t message[SCTP_MESSAGE_MAX];
    const unsigned port = what % PORTS;
    switch (what / PORTS % STEPS) {
    case CHUNKS:
        arrive_chunks(world, port, data, size);
        break;
    case MESSAGE:
        arrive_message(world, port, data, size);
        break;
    case CHECK:
        arrive_check(world, port, data, size);
        break;
    case ANY:
        arrive(world, port, data, size);
        break;
    case SEND:
        peer_send(world->peer, message, size > 0 ? 1 + data[0] * 6u : 1, world->now);
        break;
    case WAIT:
        world->now += size > 0 ? data[0] * data[0] / 2000.0 : 0;
        break;
    case RETURN:
        arrive_return(world, port);
        break;
    case OPEN:
        set_up(world, port);
        break;
    case END:
        if (size > 0)
            peer_dismiss(world->peer, data[0], "done", world->now);
        else
            peer_end(world->peer, "done", world->now);
        break;
    }
    peer_update(world->peer, world->now);
    /* A deadline that has passed would keep the relay busy with nothing else. */
    expect(peer_state(world->peer) == PEER_ENDED || peer_deadline(world->peer) > world->now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    const struct sdp_offer offer = {.ufrag = "brow", .mid = "0", .sctp_port = 5000};
    random_byte = 0;
    world = (struct world){
        .common = {.bytes_per_second = 20000, .send = on_send, .context = &world}, .now = 1.0};
    world.peer = peer_create(&world.common, &offer, UFRAG, PASSWORD, world.now);
    sctp_client_init(&world.client, 1, 0xfffffff0);
    expect(world.peer != NULL);
    while (size >= 2) {
        const size_t length = data[1] < size - 2 ? data[1] : size - 2;
        step(&world, data[0], data + 2, length);
        data += 2 + length;
        size -= 2 + length;
    }
    peer_destroy(world.peer);
    return 0;
}
