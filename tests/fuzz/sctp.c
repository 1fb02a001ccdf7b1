/* SCTP behind DTLS gets packets of any contents with the right tag and checksum, before and after
   the handshake, with time passing and messages of ours in between. */
#include "relay/rtc/sctp.h"
#include "sctp_client.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double now;

static void drain(struct sctp *sctp, struct sctp_client *client)
{
    uint8_t out[SCTP_PACKET_MAX];
    size_t size;
    for (int i = 0; (size = sctp_transmit(sctp, out, sizeof out, now)) > 0; i++) {
        if (size > SCTP_PACKET_MAX || i > 8)
            abort();
        sctp_client_read(client, out, size);
    }
}

static void give(struct sctp *sctp, const struct sctp_packet *packet)
{
    struct sctp_event event;
    uint8_t *exact = malloc(packet->size);
    if (!exact)
        return;
    memcpy(exact, packet->data, packet->size);
    sctp_receive(sctp, exact, packet->size, now);
    unsigned sum = 0;
    while (sctp_next(sctp, &event, now)) {
        if (event.type == SCTP_MESSAGE) {
            if (event.size == 0 || event.size > SCTP_MESSAGE_MAX)
                abort();
            for (size_t i = 0; i < event.size; i++)
                sum += event.data[i];
        }
        if (event.type == SCTP_RESET)
            for (size_t i = 0; i < event.stream_count * 2; i++)
                sum += event.streams[i];
    }
    if (sum == ~0u)
        abort();
    free(exact);
}

/* The input is a row of steps: one byte that says what happens, and one that says how much. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t message[SCTP_MESSAGE_MAX];
    static uint8_t whole[SCTP_MESSAGE_MAX];
    const struct sctp_config config = {
        .local_port = 5000, .remote_port = 5000, .random = {7}, .message = whole};
    struct sctp *sctp = sctp_create(&config);
    struct sctp_client client;
    struct sctp_packet packet;
    if (!sctp)
        return 0;
    now = 1.0;
    sctp_client_init(&client, 1, 0xfffffff0);
    sctp_connect(sctp);
    drain(sctp, &client);

    if (size > 0 && (data[0] & 0x80)) {
        sctp_client_write_init(&client, &packet);
        give(sctp, &packet);
        drain(sctp, &client);
        sctp_client_write_cookie(&client, &packet);
        give(sctp, &packet);
        drain(sctp, &client);
    }
    if (size > 0 && (data[0] & 0x40)) {
        sctp_client_write_init_ack(&client, &packet, 20);
        give(sctp, &packet);
        drain(sctp, &client);
    }
    while (size >= 2) {
        const uint8_t step = data[0] & 0x7f;
        size_t length = data[1];
        data += 2;
        size -= 2;
        if (step < 96) {
            length = length * 4 < size ? length * 4 : size;
            sctp_packet_begin(&packet, step < 8 ? 0 : client.remote_tag);
            if (length > sizeof packet.data - packet.size)
                length = sizeof packet.data - packet.size;
            memcpy(packet.data + packet.size, data, length);
            packet.size += length;
            sctp_packet_end(&packet);
            give(sctp, &packet);
            data += length;
            size -= length;
        } else if (step < 112) {
            sctp_send(sctp, step % 4, 53, message, length * 6);
            sctp_send_reliable(sctp, step % 4, 50, message, length % 12);
        } else if (step < 120) {
            sctp_reset(sctp, step % 4);
        } else {
            now += (double)length * 0.01;
            sctp_update(sctp, now);
        }
        drain(sctp, &client);
        if (sctp_deadline(sctp) < now - 100.0)
            abort();
    }
    sctp_destroy(sctp);
    return 0;
}
