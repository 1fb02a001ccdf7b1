/* No TLS handshake that a stranger asks for makes the relay work more than MOST_WORK times as much
   as the handshake of a browser, whatever it offers.
   test_hostile_tls_hello RELAY [--write]

   Work is counted as in hostile_rtc_work.c. Each client below is OpenSSL's with one thing of all
   that it knows: one group, one suite, one signature algorithm. */
#define _GNU_SOURCE
#include "cost_table.h"
#include "rtc_count.h"
#include "tls_files.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_WORK 2.0 /* times the work of a browser's handshake */
/* The number of messages that one connection sends after its handshake. */
#define UPDATES 1000

static struct rtc_rig rig;
static struct rtc_count count;
static double browser; /* the work of a browser's handshake */
static double dearest; /* the most work of any */
static bool right = true;
static bool asked_for_certificate;

/* A client's offer; with NULL or 0 OpenSSL offers what it does by itself. */
struct offer {
    const char *name;
    int version;
    const char *groups;
    const char *suites; /* suites of TLS 1.2 */
    const char *signatures;
    const unsigned char *extension; /* an extension of a kind that nobody knows */
    size_t extension_size;
    void (*after)(SSL *ssl);
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    printf("%s: NO\n", what);
    exit(1);
}

static int on_asked(SSL *ssl, X509 **certificate, EVP_PKEY **key)
{
    (void)ssl, (void)certificate, (void)key;
    asked_for_certificate = true;
    return 0;
}

static int add_extension(SSL *ssl, unsigned type, unsigned context, const unsigned char **out,
                         size_t *size, X509 *certificate, size_t chain, int *alert, void *argument)
{
    (void)ssl, (void)type, (void)context, (void)certificate, (void)chain, (void)alert;
    const struct offer *offer = argument;
    *out = offer->extension;
    *size = offer->extension_size;
    return 1;
}

/* Makes the context of a client; NULL when OpenSSL cannot make such an offer. */
static SSL_CTX *make_context(const struct offer *offer)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_client_cert_cb(context, on_asked);
    SSL_CTX_set_min_proto_version(context, offer->version);
    SSL_CTX_set_max_proto_version(context, offer->version);
    if ((!offer->groups || SSL_CTX_set1_groups_list(context, offer->groups) == 1) &&
        (!offer->suites || SSL_CTX_set_cipher_list(context, offer->suites) == 1) &&
        (!offer->signatures || SSL_CTX_set1_sigalgs_list(context, offer->signatures) == 1) &&
        (!offer->extension ||
         SSL_CTX_add_custom_ext(context, 0xffaa, SSL_EXT_CLIENT_HELLO, add_extension, NULL,
                                (void *)(uintptr_t)offer, NULL, NULL) == 1))
        return context;
    SSL_CTX_free(context);
    ERR_clear_error();
    return NULL;
}

static int connect_to_relay(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rig.port)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "a connection");
    return fd;
}

/* Returns true when the relay has taken the offer. */
static bool shake_hands(SSL_CTX *context, const struct offer *offer)
{
    const int fd = connect_to_relay();
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    const bool taken = SSL_connect(ssl) == 1;
    if (taken && offer->after)
        offer->after(ssl);
    SSL_shutdown(ssl);
    SSL_free(ssl);
    ERR_clear_error();
    /* The relay closes its end when it has dealt with all that came. */
    char rest[4096];
    shutdown(fd, SHUT_WR);
    while (recv(fd, rest, sizeof rest, 0) > 0)
        continue;
    close(fd);
    return taken;
}

/* Counts the work of one handshake. */
static double count_offer(const struct offer *offer, bool *taken)
{
    SSL_CTX *context = make_context(offer);
    *taken = false;
    if (!context)
        return 0.0;
    rtc_count_settle(&count);
    rtc_count_read(&count);
    *taken = shake_hands(context, offer);
    rtc_count_settle(&count);
    const double work = rtc_count_read(&count).instructions;
    SSL_CTX_free(context);
    return work;
}

static void compare(const struct offer *offer)
{
    bool taken;
    const double work = count_offer(offer, &taken);
    const bool holds = work <= browser * MOST_WORK;
    if (work > 0.0)
        printf("%s: %.0f, %.2f times, %s%s\n", offer->name, work, work / browser,
               taken ? "taken" : "refused", holds ? "" : ": NO");
    right = right && holds;
    dearest = work > dearest ? work : dearest;
}

static void compare_versions(const struct offer *offer)
{
    static const int versions[] = {TLS1_3_VERSION, TLS1_2_VERSION};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct offer one = *offer;
        char name[256];
        snprintf(name, sizeof name, "%s, TLS 1.%d", offer->name, i == 0 ? 3 : 2);
        one.name = name;
        one.version = versions[i];
        compare(&one);
    }
}

/* Compares one group that OpenSSL knows. The second offer has a key for it and none for a group
   that the relay takes, which then has to ask again. */
static int compare_group(const OSSL_PARAM parameters[], void *unused)
{
    (void)unused;
    const char *group = OSSL_PARAM_locate_const(parameters, "tls-group-name")->data;
    char name[128];
    char both[128];
    snprintf(name, sizeof name, "group %s", group);
    snprintf(both, sizeof both, "%s:X25519", group);
    compare_versions(&(struct offer){.name = name, .groups = group});
    if (strcasecmp(group, "x25519") != 0)
        compare_versions(&(struct offer){.name = both, .groups = both});
    return 1;
}

static int compare_groups(OSSL_PROVIDER *provider, void *unused)
{
    OSSL_PROVIDER_get_capabilities(provider, "TLS-GROUP", compare_group, unused);
    return 1;
}

static void compare_signatures(void)
{
    static const char *const keys[] = {"RSA", "RSA-PSS", "DSA", "ECDSA"};
    static const char *const hashes[] = {"MD5",    "SHA1",     "SHA224", "SHA256",   "SHA384",
                                         "SHA512", "SHA3-256", "SM3",    "RIPEMD160"};
    static const char *const names[] = {"ed25519", "ed448", "ecdsa_secp521r1_sha512",
                                        "ecdsa_secp384r1_sha384", "rsa_pss_pss_sha512"};
    char text[64];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        for (size_t j = 0; j < sizeof hashes / sizeof *hashes; j++) {
            snprintf(text, sizeof text, "%s+%s", keys[i], hashes[j]);
            compare_versions(&(struct offer){.name = text, .signatures = text});
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        compare_versions(&(struct offer){.name = names[i], .signatures = names[i]});
}

static void compare_suites(void)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context, 0);
    check(SSL_CTX_set_cipher_list(context, "ALL:COMPLEMENTOFALL") == 1, "all suites");
    STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(context);
    for (int i = 0; i < sk_SSL_CIPHER_num(all); i++) {
        const char *name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(all, i));
        compare(&(struct offer){.name = name, .suites = name, .version = TLS1_2_VERSION});
    }
    SSL_CTX_free(context);
}

/* Sends messages each of which has the relay make new keys and answer, until it has had enough. */
static void update_keys(SSL *ssl)
{
    for (int i = 0; i < UPDATES; i++)
        if (SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) != 1 || SSL_do_handshake(ssl) != 1)
            return;
}

int main(int argc, char **argv)
{
    static unsigned char large[16000];
    struct tls_files_of_test files;
    char program[512];
    bool taken;
    if (argc < 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    tls_files_make(&files, EVP_EC_gen("P-256"));
    snprintf(program, sizeof program, "%s --tls-certificate %s --tls-key %s", argv[1],
             files.certificate, files.key);
    rtc_count_start(&count, &rig, program);
    const struct offer of_browser = {
        .name = "a browser", .version = TLS1_3_VERSION, .groups = "X25519:P-256"};
    count_offer(&of_browser, &taken); /* the first handshake loads code */
    browser = count_offer(&of_browser, &taken);
    printf("a browser: %.0f instructions\n", browser);
    check(taken, "the relay takes it");
    OSSL_PROVIDER_do_all(NULL, compare_groups, NULL);
    compare_signatures();
    compare_suites();
    compare_versions(
        &(struct offer){.name = "a large extension", .extension = large, .extension_size = 16000});
    const bool write = cost_table_asked(argc, argv);
    right =
        cost_table_row("a connection and the TLS handshake of a browser", browser, write) && right;
    right = cost_table_row("the dearest TLS handshake found", dearest, write) && right;
    compare(&(struct offer){
        .name = "a thousand updates of keys", .version = TLS1_3_VERSION, .after = update_keys});
    check(!asked_for_certificate, "the relay asks no client for a certificate");
    check(rtc_count_stop(&count) == 0, "the relay ends well");
    tls_files_remove(&files);
    return right ? 0 : 1;
}
