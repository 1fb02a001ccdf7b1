#include "load/rtc_client.h"

#include "load/stun_request.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX 2048

static int bio_write(BIO *bio, const char *data, int size)
{
    struct rtc_client *client = BIO_get_data(bio);
    uint8_t request[STUN_REQUEST_SIZE];
    if (client->embeds && !client->connected)
        client->send(client->context, request,
                     stun_request_embed(request, client->username, client->password,
                                        (const uint8_t *)data, (size_t)size));
    else
        client->send(client->context, (const uint8_t *)data, (size_t)size);
    return size;
}

static int bio_read(BIO *bio, char *out, int capacity)
{
    struct rtc_client *client = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (!client->datagram || client->datagram_size > (size_t)capacity) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(out, client->datagram, client->datagram_size);
    client->datagram = NULL;
    return (int)client->datagram_size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH ? 1 : command == BIO_CTRL_DGRAM_QUERY_MTU ? 1200 : 0;
}

static int accept_any(int verified, X509_STORE_CTX *store)
{
    (void)verified, (void)store;
    return 1;
}

bool rtc_identity_use(struct rtc_identity *identity, X509 *certificate, EVP_PKEY *key)
{
    unsigned size;
    return X509_digest(certificate, EVP_sha256(), identity->fingerprint, &size) == 1 &&
           SSL_CTX_use_certificate(identity->context, certificate) == 1 &&
           SSL_CTX_use_PrivateKey(identity->context, key) == 1;
}

void rtc_identity_create(struct rtc_identity *identity)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    identity->context = SSL_CTX_new(DTLS_client_method());
    rtc_identity_use(identity, certificate, key);
    SSL_CTX_set_verify(identity->context, SSL_VERIFY_PEER, accept_any);
    SSL_CTX_set_options(identity->context, SSL_OP_NO_QUERY_MTU);
    X509_free(certificate);
    EVP_PKEY_free(key);
    identity->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "client");
    BIO_meth_set_write(identity->method, bio_write);
    BIO_meth_set_read(identity->method, bio_read);
    BIO_meth_set_ctrl(identity->method, bio_control);
}

void rtc_identity_destroy(struct rtc_identity *identity)
{
    SSL_CTX_free(identity->context);
    BIO_meth_free(identity->method);
}

size_t rtc_client_offer(const struct rtc_client *client, const char *ufrag, char *out,
                        size_t capacity)
{
    char fingerprint[32 * 3 + 1];
    for (int i = 0; i < 32; i++)
        snprintf(fingerprint + i * 3, 4, "%02X:", client->identity->fingerprint[i]);
    fingerprint[32 * 3 - 1] = '\0';
    return (size_t)snprintf(
        out, capacity,
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
        "a=ice-ufrag:%s\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 %s\r\n"
        "a=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\n",
        ufrag, fingerprint);
}

static void on_message(void *context, uint16_t stream, uint32_t ppid, const uint8_t *data,
                       size_t size)
{
    struct rtc_client *client = context;
    if (stream != client->stream)
        return;
    if (ppid == 50)
        client->open = client->open || (size == 1 && data[0] == 2);
    else if (client->message)
        client->message(client->context, data, size);
}

void rtc_client_open(struct rtc_client *client)
{
    sctp_client_init(&client->sctp, 0x12345678, 1000);
    client->sctp.message = on_message;
    client->sctp.context = client;
    client->ssl = SSL_new(client->identity->context);
    BIO *bio = BIO_new(client->identity->method);
    BIO_set_data(bio, client);
    BIO_set_init(bio, 1);
    SSL_set_bio(client->ssl, bio, bio);
    SSL_set_mtu(client->ssl, 1200);
    SSL_set_connect_state(client->ssl);
}

void rtc_client_send_packet(struct rtc_client *client, const struct sctp_packet *packet)
{
    ERR_clear_error();
    SSL_write(client->ssl, packet->data, (int)packet->size);
}

void rtc_client_send(struct rtc_client *client, const void *data, size_t size)
{
    struct sctp_packet packet;
    sctp_client_write_message(&client->sctp, &packet, client->stream, 53, data, size);
    rtc_client_send_packet(client, &packet);
}

void rtc_client_acknowledge(struct rtc_client *client)
{
    struct sctp_packet packet;
    if (!client->sctp.acknowledge || !client->sctp.established)
        return;
    client->sctp.acknowledge = false;
    sctp_packet_begin(&packet, client->sctp.remote_tag);
    sctp_packet_sack(&packet, client->sctp.cumulative, NULL, 0);
    sctp_packet_end(&packet);
    rtc_client_send_packet(client, &packet);
}

static void send_open(struct rtc_client *client)
{
    struct sctp_packet packet;
    const uint8_t open[] = {3, client->kind, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 'g', 'a', 'm', 'e'};
    sctp_packet_begin(&packet, client->sctp.remote_tag);
    sctp_packet_data(
        &packet,
        (struct sctp_part){
            .tsn = client->sctp.tsn++, .flags = SCTP_WHOLE, .ppid = 50, .stream = client->stream},
        open, sizeof open);
    sctp_packet_end(&packet);
    rtc_client_send_packet(client, &packet);
}

void rtc_client_repeat(struct rtc_client *client)
{
    struct sctp_packet packet;
    if (!client->checked) {
        rtc_client_check(client);
    } else if (!client->connected) {
        DTLSv1_handle_timeout(client->ssl);
    } else if (!client->sctp.established) {
        if (client->sctp.cookie_size > 0)
            sctp_client_write_cookie(&client->sctp, &packet);
        else
            sctp_client_write_init(&client->sctp, &packet);
        rtc_client_send_packet(client, &packet);
    }
}

static void shake_hands(struct rtc_client *client)
{
    ERR_clear_error();
    const int result = SSL_do_handshake(client->ssl);
    if (result != 1) {
        client->ended = SSL_get_error(client->ssl, result) != SSL_ERROR_WANT_READ;
        return;
    }
    client->connected = true;
    X509 *certificate = SSL_get1_peer_certificate(client->ssl);
    unsigned size;
    X509_digest(certificate, EVP_sha256(), client->remote_fingerprint, &size);
    X509_free(certificate);
    rtc_client_repeat(client);
}

void rtc_client_check(struct rtc_client *client)
{
    uint8_t request[STUN_REQUEST_SIZE];
    if (client->embeds && !client->checked) {
        shake_hands(client);
        return;
    }
    const size_t size = stun_request(request, client->username, client->password, 0, 0);
    client->send(client->context, request, size);
}

static void answer_heartbeat(struct rtc_client *client)
{
    struct sctp_packet packet;
    sctp_client_write_heartbeat_ack(&client->sctp, &packet);
    rtc_client_send_packet(client, &packet);
}

static void read_packets(struct rtc_client *client)
{
    uint8_t packet[RECORD_MAX];
    for (;;) {
        ERR_clear_error();
        const int size = SSL_read(client->ssl, packet, sizeof packet);
        if (size <= 0) {
            if (SSL_get_error(client->ssl, size) != SSL_ERROR_WANT_READ)
                client->ended = true;
            return;
        }
        const bool had_cookie = client->sctp.cookie_size > 0;
        const bool was_established = client->sctp.established;
        sctp_client_read(&client->sctp, packet, (size_t)size);
        client->ended = client->ended || client->sctp.ended;
        if (client->sctp.heartbeat_size > 0)
            answer_heartbeat(client);
        if (!had_cookie && client->sctp.cookie_size > 0)
            rtc_client_repeat(client);
        if (!was_established && client->sctp.established) {
            client->open = client->negotiated;
            if (!client->negotiated)
                send_open(client);
        }
    }
}

void rtc_client_receive(struct rtc_client *client, const uint8_t *data, size_t size)
{
    if (size == 0 || client->ended)
        return;
    if (data[0] <= 3) {
        const bool first = !client->checked;
        client->checked = client->checked || (data[0] == 1 && data[1] == 1);
        if (first && client->checked)
            shake_hands(client);
        return;
    }
    client->datagram = data;
    client->datagram_size = size;
    if (!client->connected)
        shake_hands(client);
    if (client->connected)
        read_packets(client);
    client->datagram = NULL;
}

void rtc_client_abort(struct rtc_client *client)
{
    struct sctp_packet packet;
    sctp_packet_begin(&packet, client->sctp.remote_tag);
    sctp_packet_chunk(&packet, 6, 0, "\0\14\0\4", 4);
    sctp_packet_end(&packet);
    rtc_client_send_packet(client, &packet);
}

void rtc_client_destroy(struct rtc_client *client)
{
    SSL_free(client->ssl);
    client->ssl = NULL;
}
