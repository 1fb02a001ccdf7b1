#include "webtransport/quic_internal.h"

#include <gnutls/crypto.h>
#include <stdlib.h>
#include <time.h>

/* The ciphers and groups that browsers have and that cost little. */
#define PRIORITY                                                                                   \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"      \
    "-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:%DISABLE_TLS13_COMPAT_MODE"

/* Bytes of the longest message of a handshake that is taken. Chromium's longest has 1,800. */
#define MESSAGE_MAX 8192

/* The streams that a client may open, and the bytes that it may send on them unread: Chromium and
   Firefox open four in one direction, and one for the session, on which some 300 bytes come. All
   bytes are read at once, so these are also the bytes that may wait for others that were lost. */
#define STREAMS_ONE_WAY 8
#define STREAMS_TWO_WAY 4
#define STREAM_WINDOW   (16 << 10)
#define WINDOW          (32 << 10)

/* The longest frame of a datagram that is taken. Browsers choose the size by the path. */
#define DATAGRAM_FRAME_MAX 65535

static void random_bytes(uint8_t *out, size_t size, const ngtcp2_rand_ctx *context)
{
    (void)context;
    (void)gnutls_rnd(GNUTLS_RND_NONCE, out, size);
}

static int new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t size, void *context)
{
    (void)conn;
    struct quic *quic = context;
    struct quic_server *server = quic->server;
    id->datalen = size;
    return gnutls_rnd(GNUTLS_RND_RANDOM, id->data, size) == 0 &&
                   ngtcp2_crypto_generate_stateless_reset_token(token, server->config.secret,
                                                                QUIC_SECRET_SIZE, id) == 0 &&
                   connection_ids_add(server->ids, id->data, size, quic->owner)
               ? 0
               : NGTCP2_ERR_CALLBACK_FAILURE;
}

static int drop_id(ngtcp2_conn *conn, const ngtcp2_cid *id, void *context)
{
    (void)conn;
    const struct quic *quic = context;
    connection_ids_remove(quic->server->ids, id->data, id->datalen);
    return 0;
}

static void fill_callbacks(ngtcp2_callbacks *callbacks)
{
    *callbacks = (ngtcp2_callbacks){
        .recv_client_initial = ngtcp2_crypto_recv_client_initial_cb,
        .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb,
        .encrypt = ngtcp2_crypto_encrypt_cb,
        .decrypt = ngtcp2_crypto_decrypt_cb,
        .hp_mask = ngtcp2_crypto_hp_mask_cb,
        .update_key = ngtcp2_crypto_update_key_cb,
        .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
        .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
        .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
        .version_negotiation = ngtcp2_crypto_version_negotiation_cb,
        .rand = random_bytes,
        .get_new_connection_id = new_id,
        .remove_connection_id = drop_id,
    };
    quic_set_receivers(callbacks);
}

struct quic_server *quic_server_create(const struct quic_server_config *config)
{
    struct quic_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    server->config = *config;
    server->ids = connection_ids_create(config->most);
    if (server->ids && gnutls_priority_init(&server->priority, PRIORITY, NULL) == 0)
        return server;
    connection_ids_destroy(server->ids);
    free(server);
    return NULL;
}

void quic_server_destroy(struct quic_server *server)
{
    if (!server)
        return;
    gnutls_priority_deinit(server->priority);
    connection_ids_destroy(server->ids);
    free(server);
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref)
{
    return ((struct quic *)ref->user_data)->conn;
}

static bool open_tls(struct quic *quic)
{
    static const gnutls_datum_t alpn = {(unsigned char *)"h3", 2};
    struct certificates *certificates = quic->server->config.certificates;
    const unsigned flags = GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET | GNUTLS_NO_END_OF_EARLY_DATA;
    if (gnutls_init(&quic->tls, flags) != 0) {
        quic->tls = NULL;
        return false;
    }
    quic->ref = (ngtcp2_crypto_conn_ref){.get_conn = conn_of, .user_data = quic};
    gnutls_session_set_ptr(quic->tls, &quic->ref);
    gnutls_handshake_set_max_packet_length(quic->tls, MESSAGE_MAX);
    return gnutls_priority_set(quic->tls, quic->server->priority) == 0 &&
           ngtcp2_crypto_gnutls_configure_server_session(quic->tls) == 0 &&
           gnutls_credentials_set(quic->tls, GNUTLS_CRD_CERTIFICATE,
                                  certificates_use(certificates, (int64_t)time(NULL))) == 0 &&
           gnutls_alpn_set_protocols(quic->tls, &alpn, 1,
                                     GNUTLS_ALPN_MANDATORY | GNUTLS_ALPN_SERVER_PRECEDENCE) == 0;
}

static void fill_settings(ngtcp2_settings *settings, double now)
{
    ngtcp2_settings_default(settings);
    settings->initial_ts = quic_time(now);
    settings->max_tx_udp_payload_size = QUIC_PACKET_MAX;
    /* Loss that is not of a full path leaves BBR's rate as it is. At 5 and 20 % of it, with 60
       datagrams of 1,000 bytes each second, CUBIC dropped 26 and 40 % of them, and BBR 0 and 1 %.
     */
    settings->cc_algo = NGTCP2_CC_ALGO_BBR;
    settings->no_pmtud = 1;
    settings->handshake_timeout = (ngtcp2_duration)QUIC_HANDSHAKE_SECONDS * NGTCP2_SECONDS;
}

static void fill_parameters(ngtcp2_transport_params *parameters)
{
    ngtcp2_transport_params_default(parameters);
    parameters->initial_max_stream_data_bidi_remote = STREAM_WINDOW;
    parameters->initial_max_stream_data_uni = STREAM_WINDOW;
    parameters->initial_max_data = WINDOW;
    parameters->initial_max_streams_bidi = STREAMS_TWO_WAY;
    parameters->initial_max_streams_uni = STREAMS_ONE_WAY;
    parameters->max_idle_timeout = (ngtcp2_duration)QUIC_IDLE_SECONDS * NGTCP2_SECONDS;
    parameters->max_datagram_frame_size = DATAGRAM_FRAME_MAX;
    parameters->original_dcid_present = 1;
}

/* Creates the connection of ngtcp2 for a first packet. */
static bool open_connection(struct quic *quic, const struct udp_path *path,
                            const ngtcp2_pkt_hd *head, double now)
{
    struct quic_server *server = quic->server;
    ngtcp2_callbacks callbacks;
    ngtcp2_settings settings;
    ngtcp2_transport_params parameters;
    struct quic_ends ends;
    ngtcp2_cid id = {0};
    fill_callbacks(&callbacks);
    fill_settings(&settings, now);
    fill_parameters(&parameters);
    quic_ends_set(&ends, path);
    parameters.original_dcid = head->dcid;
    if (quic_token_proves(server, path, head, now, &parameters.original_dcid)) {
        parameters.retry_scid = head->dcid;
        parameters.retry_scid_present = 1;
        settings.token = head->token;
        settings.tokenlen = head->tokenlen;
        settings.token_type = NGTCP2_TOKEN_TYPE_RETRY;
    }
    parameters.stateless_reset_token_present = 1;
    if (new_id(NULL, &id, parameters.stateless_reset_token, CONNECTION_ID_SIZE, quic) != 0)
        return false;
    if (ngtcp2_conn_server_new(&quic->conn, &head->scid, &id, &ends.path, head->version, &callbacks,
                               &settings, &parameters, NULL, quic) != 0) {
        connection_ids_remove(server->ids, id.data, id.datalen);
        return false;
    }
    ngtcp2_conn_set_tls_native_handle(quic->conn, quic->tls);
    ngtcp2_conn_set_keep_alive_timeout(quic->conn,
                                       (ngtcp2_duration)QUIC_KEEP_ALIVE_SECONDS * NGTCP2_SECONDS);
    quic->first_id = head->dcid;
    return connection_ids_add(server->ids, head->dcid.data, head->dcid.datalen, quic->owner);
}

struct quic *quic_create(struct quic_server *server, void *owner, const struct udp_path *path,
                         const uint8_t *data, size_t size, double now)
{
    ngtcp2_pkt_hd head;
    struct quic *quic = calloc(1, sizeof *quic);
    if (!quic)
        return NULL;
    quic->server = server;
    quic->owner = owner;
    quic->greeting = (struct quic_out){
        .stream = -1, .data = server->config.greeting, .size = server->config.greeting_size};
    quic->reply = (struct quic_out){.stream = -1, .data = quic->reply_bytes};
    if (ngtcp2_accept(&head, data, size) == 0 && open_tls(quic) &&
        open_connection(quic, path, &head, now))
        return quic;
    quic_destroy(quic);
    return NULL;
}

/* Takes back all ids that lead to a connection. */
static void drop_ids(struct quic *quic)
{
    struct connection_ids *ids = quic->server->ids;
    const size_t count = ngtcp2_conn_get_scid(quic->conn, NULL);
    ngtcp2_cid *given = calloc(count + 1, sizeof *given);
    const size_t listed = given ? ngtcp2_conn_get_scid(quic->conn, given) : 0;
    for (size_t i = 0; i < listed; i++)
        connection_ids_remove(ids, given[i].data, given[i].datalen);
    free(given);
    connection_ids_remove(ids, quic->first_id.data, quic->first_id.datalen);
}

void quic_destroy(struct quic *quic)
{
    if (!quic)
        return;
    if (quic->conn)
        drop_ids(quic);
    ngtcp2_conn_del(quic->conn);
    if (quic->tls)
        gnutls_deinit(quic->tls);
    free(quic);
}
