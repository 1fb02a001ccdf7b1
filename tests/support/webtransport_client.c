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
#include "webtransport/varint.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX 1200
#define BYTES_MAX  4096

static ngtcp2_conn *conn;
static ngtcp2_crypto_conn_ref ref;
static gnutls_session_t tls;
static struct sockaddr_in here;
static struct sockaddr_in there;
static ngtcp2_path path;
static int udp;
static int64_t control = -1;
static int64_t session = -1;
static bool ready; /* the settings of the server have come */
static bool over;
static bool only_initial;

/* The bytes that are to be sent on a stream. ngtcp2 reads them again when they are lost. */
static struct out {
    uint8_t bytes[BYTES_MAX];
    size_t size;
    size_t sent;
    bool end;
    bool end_sent;
} control_out, session_out;

/* The datagram that is sent again when it comes back, and how often it still is. */
static uint8_t echoed[1 + 1 + 64];
static unsigned long trips;
static bool again;

/* Frames that take the place of a datagram when it is encrypted. */
static uint8_t frames[BYTES_MAX];
static size_t frames_size;

static ngtcp2_tstamp now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (ngtcp2_tstamp)time.tv_sec * NGTCP2_SECONDS + (ngtcp2_tstamp)time.tv_nsec;
}

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
    while (size < BYTES_MAX && sscanf(text + 2 * size, "%2x", &byte) == 1)
        out[size++] = (uint8_t)byte;
    return size;
}

static void add(struct out *out, const uint8_t *data, size_t size)
{
    memcpy(out->bytes + out->size, data, size);
    out->size += size;
}

/* Adds a field with a literal name and value, as QPACK writes them without its tables. */
static void add_field(struct out *head, const char *name, const char *value)
{
    const size_t sizes[2] = {strlen(name), strlen(value)};
    const uint8_t most[2] = {7, 127};
    const char *texts[2] = {name, value};
    for (int i = 0; i < 2; i++) {
        const bool is_long = sizes[i] >= most[i];
        const uint8_t first =
            (uint8_t)((i == 0 ? 0x20 : 0) | (is_long ? most[i] : (uint8_t)sizes[i]));
        add(head, &first, 1);
        for (size_t left = sizes[i] - most[i]; is_long;) {
            const uint8_t byte = (uint8_t)(left < 128 ? left : (left & 127) | 128);
            add(head, &byte, 1);
            if (left < 128)
                break;
            left >>= 7;
        }
        add(head, (const uint8_t *)texts[i], sizes[i]);
    }
}

/* Asks for the session, and sends a capsule that nobody knows, as Chromium does. */
static void ask(const char *authority, const char *target, const char *origin)
{
    static const uint8_t grease[] = {0x00, 0x05, 0x17, 0x03, 0x01, 0x02, 0x03};
    static struct out head = {.size = 2};
    uint8_t start[2 * VARINT_MAX];
    add_field(&head, ":method", "CONNECT");
    add_field(&head, ":protocol", "webtransport");
    add_field(&head, ":scheme", "https");
    add_field(&head, ":authority", authority);
    add_field(&head, ":path", target);
    if (origin[0])
        add_field(&head, "origin", origin);
    start[0] = 0x01;
    add(&session_out, start, 1 + varint_write(start + 1, head.size));
    add(&session_out, head.bytes, head.size);
    add(&session_out, grease, sizeof grease);
}

/* Reads the control stream of the server, which comes in one piece. */
static void take_settings(const uint8_t *data, size_t size)
{
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
    ready = true;
}

/* NOLINTNEXTLINE(readability-function-size): ngtcp2 gives so many parameters. */
static int take_stream(ngtcp2_conn *c, uint32_t flags, int64_t stream, uint64_t offset,
                       const uint8_t *data, size_t size, void *user, void *stream_user)
{
    (void)offset;
    (void)user;
    (void)stream_user;
    ngtcp2_conn_extend_max_stream_offset(c, stream, size);
    ngtcp2_conn_extend_max_offset(c, size);
    if (stream != session && size > 0)
        take_settings(data, size);
    else if (size > 0)
        print_hex("stream", data, size);
    if (stream == session && (flags & NGTCP2_STREAM_DATA_FLAG_FIN))
        printf("end\n");
    return 0;
}

static int take_datagram(ngtcp2_conn *c, uint32_t flags, const uint8_t *data, size_t size,
                         void *user)
{
    (void)c;
    (void)flags;
    (void)user;
    if (trips == 0)
        print_hex("datagram", data, size);
    else if (--trips == 0)
        printf("echoed\n");
    else
        again = true;
    return 0;
}

/* NOLINTNEXTLINE(readability-function-size): ngtcp2 gives so many parameters. */
static int replace(uint8_t *out, const ngtcp2_crypto_aead *aead, const ngtcp2_crypto_aead_ctx *keys,
                   const uint8_t *plain, size_t size, const uint8_t *nonce, size_t nonce_size,
                   const uint8_t *extra, size_t extra_size)
{
    uint8_t changed[PACKET_MAX] = {0};
    if (frames_size > 0 && size >= frames_size && size <= sizeof changed) {
        memcpy(changed, frames, frames_size); /* zeros behind them are padding */
        frames_size = 0;
        plain = changed;
    }
    return ngtcp2_crypto_encrypt_cb(out, aead, keys, plain, size, nonce, nonce_size, extra,
                                    extra_size);
}

static void fill_random(uint8_t *out, size_t size, const ngtcp2_rand_ctx *context)
{
    (void)context;
    gnutls_rnd(GNUTLS_RND_NONCE, out, size);
}

static int new_id(ngtcp2_conn *c, ngtcp2_cid *id, uint8_t *token, size_t size, void *user)
{
    (void)c;
    (void)user;
    id->datalen = size;
    fill_random(id->data, size, NULL);
    fill_random(token, NGTCP2_STATELESS_RESET_TOKENLEN, NULL);
    return 0;
}

static ngtcp2_conn *get_conn(ngtcp2_crypto_conn_ref *r)
{
    (void)r;
    return conn;
}

static void open_tls(void)
{
    static const gnutls_datum_t alpn = {(unsigned char *)"h3", 2};
    gnutls_certificate_credentials_t credentials;
    gnutls_certificate_allocate_credentials(&credentials);
    gnutls_init(&tls, GNUTLS_CLIENT);
    gnutls_priority_set_direct(tls, "NORMAL:-VERS-ALL:+VERS-TLS1.3:%DISABLE_TLS13_COMPAT_MODE",
                               NULL);
    ngtcp2_crypto_gnutls_configure_client_session(tls);
    gnutls_credentials_set(tls, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_alpn_set_protocols(tls, &alpn, 1, GNUTLS_ALPN_MANDATORY);
    ref.get_conn = get_conn;
    gnutls_session_set_ptr(tls, &ref);
}

static void open_connection(void)
{
    const ngtcp2_callbacks callbacks = {
        .client_initial = ngtcp2_crypto_client_initial_cb,
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = replace,
        .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb,
        .recv_retry = ngtcp2_crypto_recv_retry_cb,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
        .rand = fill_random,
        .get_new_connection_id = new_id,
        .recv_stream_data = take_stream,
        .recv_datagram = take_datagram,
    };
    ngtcp2_settings settings;
    ngtcp2_transport_params parameters;
    ngtcp2_cid server = {.datalen = 18};
    ngtcp2_cid client = {.datalen = 8};
    ngtcp2_settings_default(&settings);
    ngtcp2_transport_params_default(&parameters);
    settings.initial_ts = now();
    settings.max_tx_udp_payload_size = PACKET_MAX;
    settings.no_pmtud = 1;
    parameters.initial_max_streams_uni = 3;
    parameters.initial_max_data = 1 << 20;
    parameters.initial_max_stream_data_bidi_local = 1 << 16;
    parameters.initial_max_stream_data_uni = 1 << 16;
    parameters.max_datagram_frame_size = 65535;
    fill_random(server.data, server.datalen, NULL);
    fill_random(client.data, client.datalen, NULL);
    ngtcp2_conn_client_new(&conn, &server, &client, &path, NGTCP2_PROTO_VER_V1, &callbacks,
                           &settings, &parameters, NULL, NULL);
    ngtcp2_conn_set_tls_native_handle(conn, tls);
}

static void gone(const char *what)
{
    if (!over)
        printf("%s\n", what);
    over = true;
}

static void put(const uint8_t *packet, ngtcp2_ssize size)
{
    if (size > 0 && only_initial) {
        print_hex("datagram", packet, (size_t)size);
        over = true;
    } else if (size > 0)
        (void)send(udp, packet, (size_t)size, 0);
}

static ngtcp2_ssize write_packet(uint8_t *packet)
{
    struct out *out = NULL;
    int64_t stream = -1;
    if (control >= 0 && control_out.sent < control_out.size) {
        out = &control_out;
        stream = control;
    } else if (session >= 0 && (session_out.sent < session_out.size ||
                                (session_out.end && !session_out.end_sent))) {
        out = &session_out;
        stream = session;
    }
    ngtcp2_vec data = {out ? out->bytes + out->sent : NULL, out ? out->size - out->sent : 0};
    ngtcp2_ssize taken = -1;
    const ngtcp2_ssize size = ngtcp2_conn_writev_stream(
        conn, NULL, NULL, packet, PACKET_MAX, &taken,
        out && out->end ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0, stream, &data, data.len > 0, now());
    if (out && taken >= 0) {
        out->sent += (size_t)taken;
        out->end_sent = out->end && out->sent == out->size;
    }
    return size;
}

static void flush(void)
{
    uint8_t packet[PACKET_MAX];
    for (int i = 0; i < 100 && !over; i++) {
        const ngtcp2_ssize size = write_packet(packet);
        if (size < 0)
            gone("gone");
        if (size <= 0)
            return;
        put(packet, size);
    }
}

static void send_datagram(uint8_t *data, size_t size)
{
    uint8_t packet[PACKET_MAX];
    int accepted = 0;
    for (int i = 0; i < 100 && !accepted; i++) {
        ngtcp2_vec whole = {data, size};
        const ngtcp2_ssize written = ngtcp2_conn_writev_datagram(
            conn, NULL, NULL, packet, sizeof packet, &accepted, 0, 0, &whole, 1, now());
        if (written <= 0)
            break;
        put(packet, written);
    }
}

static void obey(char *line)
{
    uint8_t bytes[BYTES_MAX];
    if (strncmp(line, "datagram ", 9) == 0) {
        bytes[0] = (uint8_t)(session / 4);
        send_datagram(bytes, 1 + read_hex(line + 9, bytes + 1));
    } else if (strncmp(line, "echo ", 5) == 0) {
        trips = strtoul(line + 5, NULL, 10);
        again = true;
    } else if (strncmp(line, "stream ", 7) == 0) {
        add(&session_out, bytes, read_hex(line + 7, bytes));
    } else if (strncmp(line, "frames ", 7) == 0) {
        frames_size = read_hex(line + 7, frames);
        memset(bytes, 0, sizeof bytes);
        send_datagram(bytes, frames_size);
    } else if (strncmp(line, "end", 3) == 0) {
        session_out.end = true;
    } else if (strncmp(line, "certificate", 11) == 0) {
        const gnutls_datum_t *shown = gnutls_certificate_get_peers(tls, NULL);
        print_hex("certificate", shown->data, shown->size);
    } else if (strncmp(line, "reset", 5) == 0) {
        ngtcp2_conn_shutdown_stream(conn, 0, session, 0x10c);
    } else {
        over = true;
    }
}

static void receive(void)
{
    uint8_t packet[2048];
    for (ssize_t size; (size = recv(udp, packet, sizeof packet, MSG_DONTWAIT)) >= 0 && !over;) {
        const int error = ngtcp2_conn_read_pkt(conn, &path, NULL, packet, (size_t)size, now());
        if (error == NGTCP2_ERR_DRAINING) {
            char text[64];
            snprintf(text, sizeof text, "closed %llx",
                     (unsigned long long)ngtcp2_conn_get_ccerr(conn)->error_code);
            gone(text);
        } else if (error != 0) {
            gone("gone");
        }
    }
}

/* Opens the streams when the handshake is done, and asks when the settings have come. */
static void step(char **arguments)
{
    static const uint8_t settings[] = {0x00, 0x04, 0x09, 0x33, 0x01, 0x08,
                                       0x01, 0x94, 0xe9, 0xcd, 0x29, 0x01};
    if (control < 0 && ngtcp2_conn_get_handshake_completed(conn) &&
        ngtcp2_conn_open_uni_stream(conn, &control, NULL) == 0)
        add(&control_out, settings, sizeof settings);
    if (ready && session < 0 && ngtcp2_conn_open_bidi_stream(conn, &session, NULL) == 0)
        ask(arguments[1], arguments[3], arguments[4]);
}

int main(int count, char **arguments)
{
    static char line[2 * BYTES_MAX + 32];
    socklen_t size = sizeof here;
    if (count < 5) {
        fprintf(stderr, "webtransport_client IP PORT PATH ORIGIN\n");
        return 2;
    }
    only_initial = strcmp(arguments[3], "initial") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0);
    there = (struct sockaddr_in){.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)atoi(arguments[2]))};
    inet_pton(AF_INET, arguments[1], &there.sin_addr);
    udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (udp < 0 || connect(udp, (struct sockaddr *)&there, sizeof there) != 0)
        return 1;
    getsockname(udp, (struct sockaddr *)&here, &size);
    path.local = (ngtcp2_addr){(ngtcp2_sockaddr *)&here, sizeof here};
    path.remote = (ngtcp2_addr){(ngtcp2_sockaddr *)&there, sizeof there};
    open_tls();
    open_connection();
    while (!over) {
        step(arguments);
        if (again) {
            again = false;
            send_datagram(echoed, sizeof echoed);
        }
        flush();
        const ngtcp2_tstamp expiry = ngtcp2_conn_get_expiry(conn);
        const ngtcp2_tstamp time = now();
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
        if (!over && ngtcp2_conn_get_expiry(conn) <= now() &&
            ngtcp2_conn_handle_expiry(conn, now()) != 0)
            gone("gone");
    }
    return 0;
}
