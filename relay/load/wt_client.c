#include "load/wt_client.h"

#include "webtransport/varint.h"

#include <gnutls/crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <string.h>
#include <time.h>

/* The most packets that one call sends. */
#define BURST 100

ngtcp2_tstamp wt_client_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (ngtcp2_tstamp)time.tv_sec * NGTCP2_SECONDS + (ngtcp2_tstamp)time.tv_nsec;
}

void wt_out_add(struct wt_out *out, const uint8_t *data, size_t size)
{
    memcpy(out->bytes + out->size, data, size);
    out->size += size;
}

/* Adds a field with a literal name and value, as QPACK writes them without its tables. */
static void add_field(struct wt_out *head, const char *name, const char *value)
{
    const size_t sizes[2] = {strlen(name), strlen(value)};
    const uint8_t most[2] = {7, 127};
    const char *texts[2] = {name, value};
    for (int i = 0; i < 2; i++) {
        const bool is_long = sizes[i] >= most[i];
        const uint8_t first =
            (uint8_t)((i == 0 ? 0x20 : 0) | (is_long ? most[i] : (uint8_t)sizes[i]));
        wt_out_add(head, &first, 1);
        for (size_t left = sizes[i] - most[i]; is_long;) {
            const uint8_t byte = (uint8_t)(left < 128 ? left : (left & 127) | 128);
            wt_out_add(head, &byte, 1);
            if (left < 128)
                break;
            left >>= 7;
        }
        wt_out_add(head, (const uint8_t *)texts[i], sizes[i]);
    }
}

/* Asks for the session, and sends a capsule that nobody knows, as Chromium does. */
static void ask(struct wt_client *client)
{
    static const uint8_t grease[] = {0x00, 0x05, 0x17, 0x03, 0x01, 0x02, 0x03};
    struct wt_out head = {.size = 2};
    uint8_t start[2 * VARINT_MAX];
    add_field(&head, ":method", "CONNECT");
    add_field(&head, ":protocol", "webtransport");
    add_field(&head, ":scheme", "https");
    add_field(&head, ":authority", client->authority);
    add_field(&head, ":path", client->target);
    if (client->origin[0])
        add_field(&head, "origin", client->origin);
    start[0] = 0x01;
    wt_out_add(&client->session_out, start, 1 + varint_write(start + 1, head.size));
    wt_out_add(&client->session_out, head.bytes, head.size);
    wt_out_add(&client->session_out, grease, sizeof grease);
}

/* NOLINTNEXTLINE(readability-function-size): ngtcp2 gives so many parameters. */
static int take_stream(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset,
                       const uint8_t *data, size_t size, void *context, void *stream_context)
{
    (void)offset;
    (void)stream_context;
    struct wt_client *client = context;
    ngtcp2_conn_extend_max_stream_offset(conn, stream, size);
    ngtcp2_conn_extend_max_offset(conn, size);
    if (stream == client->session) {
        client->stream(client->context, data, size, flags & NGTCP2_STREAM_DATA_FLAG_FIN);
    } else if (size > 0) {
        client->ready = true;
        if (client->settings)
            client->settings(client->context, data, size);
    }
    return 0;
}

static int take_datagram(ngtcp2_conn *conn, uint32_t flags, const uint8_t *data, size_t size,
                         void *context)
{
    (void)conn;
    (void)flags;
    const struct wt_client *client = context;
    client->datagram(client->context, data, size);
    return 0;
}

static void fill_random(uint8_t *out, size_t size, const ngtcp2_rand_ctx *context)
{
    (void)context;
    gnutls_rnd(GNUTLS_RND_NONCE, out, size);
}

static int new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t size, void *context)
{
    (void)conn;
    (void)context;
    id->datalen = size;
    fill_random(id->data, size, NULL);
    fill_random(token, NGTCP2_STATELESS_RESET_TOKENLEN, NULL);
    return 0;
}

static ngtcp2_conn *get_conn(ngtcp2_crypto_conn_ref *ref)
{
    return ((struct wt_client *)ref->user_data)->conn;
}

static bool open_tls(struct wt_client *client)
{
    static const gnutls_datum_t alpn = {(unsigned char *)"h3", 2};
    static const char priority[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:%DISABLE_TLS13_COMPAT_MODE";
    client->ref = (ngtcp2_crypto_conn_ref){.get_conn = get_conn, .user_data = client};
    if (gnutls_certificate_allocate_credentials(&client->credentials) != 0 ||
        gnutls_init(&client->tls, GNUTLS_CLIENT) != 0)
        return false;
    gnutls_session_set_ptr(client->tls, &client->ref);
    return gnutls_priority_set_direct(client->tls, priority, NULL) == 0 &&
           ngtcp2_crypto_gnutls_configure_client_session(client->tls) == 0 &&
           gnutls_credentials_set(client->tls, GNUTLS_CRD_CERTIFICATE, client->credentials) == 0 &&
           gnutls_alpn_set_protocols(client->tls, &alpn, 1, GNUTLS_ALPN_MANDATORY) == 0;
}

static bool open_connection(struct wt_client *client)
{
    const ngtcp2_callbacks callbacks = {
        .client_initial = ngtcp2_crypto_client_initial_cb,
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = client->encrypt ? client->encrypt : ngtcp2_crypto_encrypt_cb,
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
    ngtcp2_cid id = {.datalen = 8};
    ngtcp2_settings_default(&settings);
    ngtcp2_transport_params_default(&parameters);
    settings.initial_ts = wt_client_now();
    settings.max_tx_udp_payload_size = WT_PACKET_MAX;
    settings.no_pmtud = 1;
    parameters.initial_max_streams_uni = 3;
    parameters.initial_max_data = 1 << 20;
    parameters.initial_max_stream_data_bidi_local = 1 << 16;
    parameters.initial_max_stream_data_uni = 1 << 16;
    parameters.max_datagram_frame_size = 65535;
    fill_random(server.data, server.datalen, NULL);
    fill_random(id.data, id.datalen, NULL);
    if (ngtcp2_conn_client_new(&client->conn, &server, &id, &client->path, NGTCP2_PROTO_VER_V1,
                               &callbacks, &settings, &parameters, NULL, client) != 0)
        return false;
    ngtcp2_conn_set_tls_native_handle(client->conn, client->tls);
    return true;
}

bool wt_client_open(struct wt_client *client, int fd)
{
    socklen_t here = sizeof client->here;
    socklen_t there = sizeof client->there;
    getsockname(fd, (struct sockaddr *)&client->here, &here);
    getpeername(fd, (struct sockaddr *)&client->there, &there);
    client->path.local = (ngtcp2_addr){(ngtcp2_sockaddr *)&client->here, here};
    client->path.remote = (ngtcp2_addr){(ngtcp2_sockaddr *)&client->there, there};
    client->control = client->session = -1;
    return open_tls(client) && open_connection(client);
}

void wt_client_close(struct wt_client *client)
{
    ngtcp2_conn_del(client->conn);
    if (client->tls)
        gnutls_deinit(client->tls);
    if (client->credentials)
        gnutls_certificate_free_credentials(client->credentials);
}

static ngtcp2_ssize write_packet(struct wt_client *client, uint8_t *packet)
{
    struct wt_out *out = NULL;
    int64_t stream = -1;
    if (client->control >= 0 && client->control_out.sent < client->control_out.size) {
        out = &client->control_out;
        stream = client->control;
    } else if (client->session >= 0 &&
               (client->session_out.sent < client->session_out.size ||
                (client->session_out.end && !client->session_out.end_sent))) {
        out = &client->session_out;
        stream = client->session;
    }
    ngtcp2_vec data = {out ? out->bytes + out->sent : NULL, out ? out->size - out->sent : 0};
    ngtcp2_ssize taken = -1;
    const ngtcp2_ssize size =
        ngtcp2_conn_writev_stream(client->conn, NULL, NULL, packet, WT_PACKET_MAX, &taken,
                                  out && out->end ? NGTCP2_WRITE_STREAM_FLAG_FIN : 0, stream, &data,
                                  data.len > 0, wt_client_now());
    if (out && taken >= 0) {
        out->sent += (size_t)taken;
        out->end_sent = out->end && out->sent == out->size;
    }
    return size;
}

void wt_client_send(struct wt_client *client, const uint8_t *data, size_t size)
{
    uint8_t packet[WT_PACKET_MAX];
    int accepted = 0;
    const ngtcp2_vec whole = {(uint8_t *)data, size};
    for (int i = 0; i < BURST && !accepted; i++) {
        const ngtcp2_ssize written =
            ngtcp2_conn_writev_datagram(client->conn, NULL, NULL, packet, sizeof packet, &accepted,
                                        0, 0, &whole, 1, wt_client_now());
        if (written <= 0)
            break;
        client->send(client->context, packet, (size_t)written);
    }
}

int wt_client_receive(struct wt_client *client, const uint8_t *packet, size_t size)
{
    return ngtcp2_conn_read_pkt(client->conn, &client->path, NULL, packet, size, wt_client_now());
}

int wt_client_step(struct wt_client *client)
{
    static const uint8_t settings[] = {0x00, 0x04, 0x09, 0x33, 0x01, 0x08,
                                       0x01, 0x94, 0xe9, 0xcd, 0x29, 0x01};
    uint8_t packet[WT_PACKET_MAX];
    if (ngtcp2_conn_get_expiry(client->conn) <= wt_client_now()) {
        const int error = ngtcp2_conn_handle_expiry(client->conn, wt_client_now());
        if (error != 0)
            return error;
    }
    if (client->control < 0 && ngtcp2_conn_get_handshake_completed(client->conn) &&
        ngtcp2_conn_open_uni_stream(client->conn, &client->control, NULL) == 0)
        wt_out_add(&client->control_out, settings, sizeof settings);
    if (client->ready && client->session < 0 &&
        ngtcp2_conn_open_bidi_stream(client->conn, &client->session, NULL) == 0)
        ask(client);
    for (int i = 0; i < BURST; i++) {
        const ngtcp2_ssize size = write_packet(client, packet);
        if (size <= 0)
            return (int)size;
        client->send(client->context, packet, (size_t)size);
    }
    return 0;
}
