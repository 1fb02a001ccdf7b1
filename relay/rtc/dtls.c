#include "rtc/dtls.h"

#include "rtc/big_endian.h"
#include "rtc/dtls_memory.h"
#include "rtc/dtls_order.h"

#include <math.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Records that wait for their turn may have this many bytes altogether. A flight whose records
   arrive in the reverse order has fewer. */
#define EARLY_MAX 3072
/* Bytes of the longest record. A record of ours holds one SCTP packet, so it is never longer; a
   lower limit saves 14 KB per peer. */
#define RECORD_MAX 2048

/* The bits that a client's RSA key may have. */
#define RSA_BITS_LEAST 2048
#define RSA_BITS_MOST  4096

struct dtls_identity {
    SSL_CTX *context;
    BIO_METHOD *method;
    uint8_t fingerprint[32];
    uint8_t secret[32];
};

struct dtls {
    struct dtls_identity *identity;
    SSL *ssl; /* NULL before a ClientHello has come */
    enum dtls_state state;
    uint8_t fingerprint[32];
    struct dtls_order order;
    struct dtls_memory memory;
    const uint8_t *datagram; /* the unread rest of the datagram that is being read */
    size_t datagram_size;
    const uint8_t *record; /* the record that OpenSSL gets next; NULL when none has been found */
    size_t record_size;
    uint8_t *early; /* records that wait for their turn, until the handshake is done */
    size_t early_size;
    void (*send)(void *context, const uint8_t *data, size_t size);
    void *context;
};

/* Sends what OpenSSL writes. One BIO serves both directions: OpenSSL's memory BIO would lose where
   datagrams begin and end. */
static int bio_write(BIO *bio, const char *data, int size)
{
    struct dtls *dtls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    dtls->send(dtls->context, (const uint8_t *)data, (size_t)size);
    return size;
}

static void keep(struct dtls *dtls, const uint8_t *record, size_t size)
{
    if (!dtls->early)
        dtls->early = malloc(EARLY_MAX);
    if (!dtls->early || size > EARLY_MAX - dtls->early_size)
        return; /* the browser will send it again */
    memcpy(dtls->early + dtls->early_size, record, size);
    dtls->early_size += size;
}

/* Looks whether it is the turn of a record that came early. */
static bool next_early(struct dtls *dtls)
{
    bool waits = false;
    for (size_t at = 0, size; at < dtls->early_size; at += size) {
        uint8_t *record = dtls->early + at;
        size = dtls_record_size(record, dtls->early_size - at);
        const enum dtls_turn turn = dtls_order_turn(&dtls->order, record, size);
        if (turn == DTLS_DUE) {
            dtls->record = record;
            dtls->record_size = size;
            return true;
        }
        waits = waits || turn == DTLS_EARLY;
    }
    if (!waits)
        dtls->early_size = 0;
    return false;
}

/* Finds the record that OpenSSL gets next. */
static bool next_record(struct dtls *dtls)
{
    size_t size;
    while (!dtls->record && (size = dtls_record_size(dtls->datagram, dtls->datagram_size)) > 0) {
        const uint8_t *record = dtls->datagram;
        dtls->datagram += size;
        dtls->datagram_size -= size;
        switch (dtls_order_turn(&dtls->order, record, size)) {
        case DTLS_DUE:
            dtls->record = record;
            dtls->record_size = size;
            break;
        case DTLS_EARLY:
            keep(dtls, record, size);
            break;
        case DTLS_NEVER:
            break;
        }
    }
    return dtls->record || next_early(dtls);
}

static int bio_read(BIO *bio, char *out, int capacity)
{
    struct dtls *dtls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!next_record(dtls)) {
        BIO_set_retry_read(bio);
        return -1;
    }
    const size_t size = dtls->record_size < (size_t)capacity ? dtls->record_size : (size_t)capacity;
    memcpy(out, dtls->record, size);
    dtls->record = NULL;
    return (int)size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)number, (void)pointer;
    const struct dtls *dtls = BIO_get_data(bio);
    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case BIO_CTRL_PENDING:
        return dtls->record ? (long)dtls->record_size : 0;
    case BIO_CTRL_DGRAM_QUERY_MTU:
        return DTLS_HANDSHAKE_MTU;
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD:
        return 28;
    default:
        return 0;
    }
}

static bool is_rsa_taken(const EVP_PKEY *key)
{
    BIGNUM *exponent = NULL;
    const int bits = EVP_PKEY_get_bits(key);
    const bool taken = bits >= RSA_BITS_LEAST && bits <= RSA_BITS_MOST &&
                       EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
                       BN_is_word(exponent, RSA_F4);
    BN_free(exponent);
    return taken;
}

/* Returns whether a signature by the key of a certificate costs about as much to verify as one with
   P-256. Browsers make P-256, or RSA for pages that ask for it. P-384 costs five times as much, and
   the largest keys of DSA a hundred times. */
static bool is_key_taken(const X509 *certificate)
{
    X509_ALGOR *algorithm;
    const ASN1_OBJECT *type;
    const void *curve;
    int curve_kind;
    X509_PUBKEY_get0_param(NULL, NULL, NULL, &algorithm, X509_get_X509_PUBKEY(certificate));
    X509_ALGOR_get0(&type, &curve_kind, &curve, algorithm);
    switch (OBJ_obj2nid(type)) {
    case NID_X9_62_id_ecPublicKey:
        /* A curve is known by its name: explicit parameters could be anything. */
        return curve_kind == V_ASN1_OBJECT && OBJ_obj2nid(curve) == NID_X9_62_prime256v1;
    case NID_rsaEncryption: {
        const EVP_PKEY *key = X509_get0_pubkey(certificate);
        return key && is_rsa_taken(key);
    }
    default:
        return false;
    }
}

/* Accepts a certificate by its hash alone, which came with the offer: it is its own root of trust.
 */
static int verify(X509_STORE_CTX *store, void *unused)
{
    (void)unused;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct dtls *dtls = SSL_get_app_data(ssl);
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    const X509 *certificate = X509_STORE_CTX_get0_cert(store);
    const bool taken = X509_digest(certificate, EVP_sha256(), digest, &size) == 1 &&
                       size == sizeof dtls->fingerprint &&
                       CRYPTO_memcmp(digest, dtls->fingerprint, sizeof dtls->fingerprint) == 0 &&
                       is_key_taken(certificate);
    X509_STORE_CTX_set_error(store, taken ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return taken;
}

static SSL_CTX *make_context(void)
{
    SSL_CTX *context = SSL_CTX_new(DTLS_server_method());
    if (!context)
        return NULL;
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify, NULL);
    SSL_CTX_set_max_send_fragment(context, RECORD_MAX);
    if (SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) != 1 ||
        SSL_CTX_set1_groups_list(context, "X25519:P-256") != 1 ||
        /* These are the ciphers that every WebRTC client has (RFC 8827); dtls_order.c knows the
           size of their records. */
        SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM") != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

static bool make_secret(struct dtls_identity *identity)
{
    static const char use[] = "causeway tickets";
    unsigned char *key = NULL;
    const int size = i2d_PrivateKey(SSL_CTX_get0_privatekey(identity->context), &key);
    const bool made = size > 0 && HMAC(EVP_sha256(), use, sizeof use - 1, key, (size_t)size,
                                       identity->secret, NULL) != NULL;
    OPENSSL_clear_free(key, size > 0 ? (size_t)size : 0);
    return made;
}

static bool finish_identity(struct dtls_identity *identity)
{
    const X509 *certificate = SSL_CTX_get0_certificate(identity->context);
    unsigned size = 0;
    identity->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
    return identity->method && BIO_meth_set_write(identity->method, bio_write) == 1 &&
           BIO_meth_set_read(identity->method, bio_read) == 1 &&
           BIO_meth_set_ctrl(identity->method, bio_control) == 1 &&
           X509_digest(certificate, EVP_sha256(), identity->fingerprint, &size) == 1 &&
           make_secret(identity);
}

static bool use_new_certificate(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    uint64_t serial = 0;
    bool done = key && certificate;
    if (done) {
        X509_NAME *name = X509_get_subject_name(certificate);
        done = RAND_bytes((unsigned char *)&serial, sizeof serial) == 1 &&
               X509_set_version(certificate, X509_VERSION_3) == 1 &&
               ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1 &&
               X509_gmtime_adj(X509_getm_notBefore(certificate), -86400) &&
               X509_gmtime_adj(X509_getm_notAfter(certificate), 3650L * 86400) &&
               X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                          (const unsigned char *)"causeway", -1, -1, 0) == 1 &&
               X509_set_issuer_name(certificate, name) == 1 &&
               X509_set_pubkey(certificate, key) == 1 &&
               X509_sign(certificate, key, EVP_sha256()) > 0 &&
               SSL_CTX_use_certificate(context, certificate) == 1 &&
               SSL_CTX_use_PrivateKey(context, key) == 1;
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
    return done;
}

struct dtls_identity *dtls_identity_create(void)
{
    struct dtls_identity *identity = calloc(1, sizeof *identity);
    if (!identity)
        return NULL;
    identity->context = make_context();
    if (!identity->context || !use_new_certificate(identity->context) ||
        !finish_identity(identity)) {
        dtls_identity_destroy(identity);
        return NULL;
    }
    return identity;
}

static void write_reason(const char *file, char error[256])
{
    const unsigned long code = ERR_peek_error();
    const char *reason = ERR_GET_LIB(code) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(code))
                                                          : ERR_reason_error_string(code);
    snprintf(error, 256, "cannot use %.180s: %s", file, reason ? reason : "it is malformed");
}

struct dtls_identity *dtls_identity_load(const char *certificate, const char *key, char error[256])
{
    struct dtls_identity *identity = calloc(1, sizeof *identity);
    ERR_clear_error();
    if (identity)
        identity->context = make_context();
    const bool certified =
        identity && identity->context &&
        SSL_CTX_use_certificate_file(identity->context, certificate, SSL_FILETYPE_PEM) == 1;
    if (!certified || SSL_CTX_use_PrivateKey_file(identity->context, key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(identity->context) != 1 || !finish_identity(identity)) {
        write_reason(certified ? key : certificate, error);
        dtls_identity_destroy(identity);
        return NULL;
    }
    return identity;
}

void dtls_identity_destroy(struct dtls_identity *identity)
{
    if (!identity)
        return;
    SSL_CTX_free(identity->context);
    BIO_meth_free(identity->method);
    free(identity);
}

const uint8_t *dtls_identity_fingerprint(const struct dtls_identity *identity)
{
    return identity->fingerprint;
}

const uint8_t *dtls_identity_secret(const struct dtls_identity *identity)
{
    return identity->secret;
}

bool dtls_number(const uint8_t *data, size_t size, uint64_t *number)
{
    if (dtls_record_size(data, size) == 0 || load16(data + 3) != 1)
        return false;
    *number = (uint64_t)load16(data + 5) << 32 | load32(data + 7);
    return true;
}

struct dtls *dtls_create(struct dtls_identity *identity, const uint8_t fingerprint[32],
                         void (*send)(void *context, const uint8_t *data, size_t size),
                         void *context)
{
    struct dtls *dtls = calloc(1, sizeof *dtls);
    if (!dtls)
        return NULL;
    dtls->identity = identity;
    memcpy(dtls->fingerprint, fingerprint, sizeof dtls->fingerprint);
    dtls->send = send;
    dtls->context = context;
    return dtls;
}

/* Begins the handshake. OpenSSL needs some 60 KB for a connection, so it is created only now. */
static bool begin(struct dtls *dtls)
{
    dtls->ssl = SSL_new(dtls->identity->context);
    BIO *bio = BIO_new(dtls->identity->method);
    if (!dtls->ssl || !bio) {
        BIO_free(bio);
        return false;
    }
    BIO_set_data(bio, dtls);
    BIO_set_init(bio, 1);
    SSL_set_bio(dtls->ssl, bio, bio);
    SSL_set_app_data(dtls->ssl, dtls);
    SSL_set_mtu(dtls->ssl, DTLS_HANDSHAKE_MTU);
    SSL_set_accept_state(dtls->ssl);
    return true;
}

void dtls_destroy(struct dtls *dtls)
{
    if (!dtls)
        return;
    SSL_free(dtls->ssl);
    free(dtls->early);
    free(dtls);
}

bool dtls_has_begun(const struct dtls *dtls)
{
    return dtls->ssl != NULL;
}

enum dtls_state dtls_state(const struct dtls *dtls)
{
    return dtls->state;
}

/* Empties OpenSSL's list of errors. Errors left there would spoil the meaning of the next result.
   The list is nearly always empty, and emptying it costs more than looking. */
static void forget_errors(void)
{
    if (ERR_peek_error() != 0)
        ERR_clear_error();
}

/* Sets the state that follows from a result of OpenSSL below 1. */
static void settle(struct dtls *dtls, int result)
{
    switch (SSL_get_error(dtls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        break;
    case SSL_ERROR_ZERO_RETURN:
        dtls->state = DTLS_CLOSED;
        break;
    default:
        dtls->state = DTLS_FAILED;
        break;
    }
}

static void is_established(struct dtls *dtls)
{
    dtls_memory_release(&dtls->memory);
    dtls->state = DTLS_CONNECTED;
    dtls->order.is_established = true;
    free(dtls->early);
    dtls->early = NULL;
    dtls->early_size = 0;
}

enum dtls_state dtls_receive(struct dtls *dtls, const uint8_t *data, size_t size)
{
    if (dtls->state == DTLS_CLOSED || dtls->state == DTLS_FAILED)
        return dtls->state;
    dtls->record = NULL;
    dtls->datagram = data;
    dtls->datagram_size = size;
    if (dtls->state == DTLS_CONNECTED || !next_record(dtls))
        return dtls->state;
    forget_errors();
    if (!dtls->ssl && !begin(dtls)) {
        dtls->state = DTLS_FAILED;
        return dtls->state;
    }
    dtls_memory_for(&dtls->memory);
    const int result = SSL_do_handshake(dtls->ssl);
    dtls_memory_for(NULL);
    if (result == 1)
        is_established(dtls);
    else
        settle(dtls, result);
    return dtls->state;
}

size_t dtls_read(struct dtls *dtls, uint8_t *out, size_t capacity)
{
    /* OpenSSL is not asked when it has nothing to read, because that costs it as much as half a
       record. */
    if (dtls->state != DTLS_CONNECTED || (!next_record(dtls) && !SSL_has_pending(dtls->ssl))) {
        dtls->datagram_size = 0; /* its rest is not a record, and is dropped */
        return 0;
    }
    forget_errors();
    const int result = SSL_read(dtls->ssl, out, (int)capacity);
    if (result > 0)
        return (size_t)result;
    settle(dtls, result);
    /* A second handshake is refused: for it, OpenSSL would keep messages again. */
    if (SSL_in_init(dtls->ssl))
        dtls->state = DTLS_FAILED;
    dtls->datagram_size = 0;
    return 0;
}

bool dtls_write(struct dtls *dtls, const uint8_t *data, size_t size)
{
    if (dtls->state != DTLS_CONNECTED)
        return false;
    forget_errors();
    const int result = SSL_write(dtls->ssl, data, (int)size);
    if (result <= 0)
        settle(dtls, result);
    return result > 0;
}

void dtls_close(struct dtls *dtls)
{
    if (dtls->state != DTLS_CONNECTED)
        return;
    forget_errors();
    SSL_shutdown(dtls->ssl);
    dtls->state = DTLS_CLOSED;
}

double dtls_timeout(struct dtls *dtls)
{
    struct timeval left;
    if (!dtls->ssl || (dtls->state != DTLS_HANDSHAKE && dtls->state != DTLS_CONNECTED))
        return INFINITY;
    if (DTLSv1_get_timeout(dtls->ssl, &left) != 1)
        return INFINITY;
    return (double)left.tv_sec + (double)left.tv_usec * 1e-6;
}

enum dtls_state dtls_update(struct dtls *dtls)
{
    forget_errors();
    dtls_memory_for(&dtls->memory);
    if (dtls->ssl && (dtls->state == DTLS_HANDSHAKE || dtls->state == DTLS_CONNECTED) &&
        DTLSv1_handle_timeout(dtls->ssl) < 0)
        dtls->state = DTLS_FAILED;
    dtls_memory_for(NULL);
    return dtls->state;
}
