/* A client of WebTransport that behaves like Safari: it wants the settings that Safari wants, and
   tells at most 1,024 bytes of a datagram. Lines on its input are what it does:
     datagram HEX   sends a datagram of the session
     echo N         sends a datagram N times, each when the last has come back, and prints "echoed"
     stream HEX     sends on the stream of the session
     end            sends no more on it
     reset          breaks it off
     certificate    prints the certificate that it was shown, "certificate HEX"
     frames HEX     sends these frames of QUIC, whatever they are
     quit           goes without a word
   It prints what comes: "settings N=V ..." in hexadecimal and decimal digits, "datagram HEX",
   "stream HEX", "end", and at last "closed CODE" when the other side has closed the connection, or
   "gone". With the path "initial" it prints the packet with which it would begin, "datagram HEX",
   and ends. */
#define _GNU_SOURCE
#include "load/wt_client.h"
#include "webtransport/varint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct wt_client client;
static int udp;
static bool over;
static bool only_initial;

/* The datagram that is sent again when it comes back, and how often it still is. */
static uint8_t echoed[1 + 1 + 64];
static unsigned long trips;
static bool again;

/* Frames that take the place of a datagram when it is encrypted. */
static uint8_t frames[WT_BYTES_MAX];
static size_t frames_size;

static void print_hex(const char *what, const uint8_t *data, size_t size)
{
    printf("%s ", what);
    for (size_t i = 0; i < size; i++)
        printf("%02x", data[i]);
    printf("\n");
}

static size_t read_hex(const char *text, uint8_t *out)
{
    size_t size = 0;
    unsigned byte;
    while (size < WT_BYTES_MAX && sscanf(text + 2 * size, "%2x", &byte) == 1)
        out[size++] = (uint8_t)byte;
    return size;
}

/* Reads the control stream of the server, which comes in one piece. */
static void take_settings(void *context, const uint8_t *data, size_t size)
{
    (void)context;
    uint64_t number = 0;
    uint64_t value = 0;
    size_t at = 2; /* the types of the stream and of the frame */
    at += varint_read(data + at, size - at, &number);
    printf("settings");
    while (at < size) {
        at += varint_read(data + at, size - at, &number);
        at += varint_read(data + at, size - at, &value);
        printf(" %llx=%llu", (unsigned long long)number, (unsigned long long)value);
    }
    printf("\n");
}

static void take_stream(void *context, const uint8_t *data, size_t size, bool end)
{
    (void)context;
    if (size > 0)
        print_hex("stream", data, size);
    if (end)
        printf("end\n");
}

static void take_datagram(void *context, const uint8_t *data, size_t size)
{
    (void)context;
    if (trips == 0)
        print_hex("datagram", data, size);
    else if (--trips == 0)
        printf("echoed\n");
    else
        again = true;
}

/* NOLINTNEXTLINE(readability-function-size): ngtcp2 gives so many parameters. */
static int replace(uint8_t *out, const ngtcp2_crypto_aead *aead, const ngtcp2_crypto_aead_ctx *keys,
                   const uint8_t *plain, size_t size, const uint8_t *nonce, size_t nonce_size,
                   const uint8_t *extra, size_t extra_size)
{
    uint8_t changed[WT_PACKET_MAX] = {0};
    if (frames_size > 0 && size >= frames_size && size <= sizeof changed) {
        memcpy(changed, frames, frames_size); /* zeros behind them are padding */
        frames_size = 0;
        plain = changed;
    }
    return ngtcp2_crypto_encrypt_cb(out, aead, keys, plain, size, nonce, nonce_size, extra,
                                    extra_size);
}

static void gone(const char *what)
{
    if (!over)
        printf("%s\n", what);
    over = true;
}

static void put(void *context, const uint8_t *packet, size_t size)
{
    (void)context;
    if (only_initial && !over) {
        print_hex("datagram", packet, size);
        over = true;
    } else if (!only_initial) {
        (void)send(udp, packet, size, 0);
    }
}

static void obey(char *line)
{
    uint8_t bytes[WT_BYTES_MAX];
    if (strncmp(line, "datagram ", 9) == 0) {
        bytes[0] = (uint8_t)(client.session / 4);
        wt_client_send(&client, bytes, 1 + read_hex(line + 9, bytes + 1));
    } else if (strncmp(line, "echo ", 5) == 0) {
        trips = strtoul(line + 5, NULL, 10);
        again = true;
    } else if (strncmp(line, "stream ", 7) == 0) {
        wt_out_add(&client.session_out, bytes, read_hex(line + 7, bytes));
    } else if (strncmp(line, "frames ", 7) == 0) {
        frames_size = read_hex(line + 7, frames);
        memset(bytes, 0, sizeof bytes);
        wt_client_send(&client, bytes, frames_size);
    } else if (strncmp(line, "end", 3) == 0) {
        client.session_out.end = true;
    } else if (strncmp(line, "certificate", 11) == 0) {
        const gnutls_datum_t *shown = gnutls_certificate_get_peers(client.tls, NULL);
        print_hex("certificate", shown->data, shown->size);
    } else if (strncmp(line, "reset", 5) == 0) {
        ngtcp2_conn_shutdown_stream(client.conn, 0, client.session, 0x10c);
    } else {
        over = true;
    }
}

static void receive(void)
{
    uint8_t packet[2048];
    for (ssize_t size; (size = recv(udp, packet, sizeof packet, MSG_DONTWAIT)) >= 0 && !over;) {
        const int error = wt_client_receive(&client, packet, (size_t)size);
        if (error == NGTCP2_ERR_DRAINING) {
            char text[64];
            snprintf(text, sizeof text, "closed %llx",
                     (unsigned long long)ngtcp2_conn_get_ccerr(client.conn)->error_code);
            gone(text);
        } else if (error != 0) {
            gone("gone");
        }
    }
}

int main(int count, char **arguments)
{
    static char line[2 * WT_BYTES_MAX + 32];
    if (count < 5) {
        fprintf(stderr, "webtransport_client IP PORT PATH ORIGIN\n");
        return 2;
    }
    only_initial = strcmp(arguments[3], "initial") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0);
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(arguments[2]))};
    inet_pton(AF_INET, arguments[1], &there.sin_addr);
    udp = socket(AF_INET, SOCK_DGRAM, 0);
    client = (struct wt_client){.authority = arguments[1],
                                .target = arguments[3],
                                .origin = arguments[4],
                                .send = put,
                                .settings = take_settings,
                                .stream = take_stream,
                                .datagram = take_datagram,
                                .encrypt = replace};
    if (udp < 0 || connect(udp, (struct sockaddr *)&there, sizeof there) != 0 ||
        !wt_client_open(&client, udp))
        return 1;
    while (!over) {
        if (again) {
            again = false;
            wt_client_send(&client, echoed, sizeof echoed);
        }
        if (wt_client_step(&client) != 0)
            gone("gone");
        const ngtcp2_tstamp expiry = ngtcp2_conn_get_expiry(client.conn);
        const ngtcp2_tstamp time = wt_client_now();
        struct pollfd wait[2] = {{.fd = udp, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
        poll(wait, 2,
             expiry > time + NGTCP2_SECONDS ? 1000
             : expiry > time                ? (int)((expiry - time) / 1000000) + 1
                                            : 0);
        if (wait[0].revents)
            receive();
        if (wait[1].revents) {
            if (!fgets(line, sizeof line, stdin))
                break;
            obey(line);
        }
    }
    wt_client_close(&client);
    return 0;
}
