/* No certificate that a browser's side shows in a WebRTC handshake makes the relay work more than
   MOST_WORK times as much as the usual one, of ECDSA with P-256, and nothing else that it offers.
   test_hostile_rtc_certificate RELAY [--write] [--write]

   Work is counted as in hostile_rtc_work.c. Nobody needs a good key to show a certificate: moduli
   here are random numbers. */
#define _GNU_SOURCE
#include "cost_table.h"
#include "rtc_count.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WORK 1.5 /* times the work of a handshake with P-256 */

/* A browser that gets no answer repeats itself; after so many repeats without an answer it counts
   as refused. */
#define REPEAT_SECONDS 0.25
#define REPEATS_MAX    120
/* The number of copies of a certificate in the longest message that the relay takes. */
#define CHAIN 15

static struct rtc_rig rig;
static struct rtc_count count;
static double usual;   /* the work of a handshake with P-256 */
static double dearest; /* the most work of any */
static bool right = true;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    printf("%s: NO\n", what);
    ERR_print_errors_fp(stdout);
    exit(1);
}

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(build);
    check(EVP_PKEY_fromdata_init(context) == 1 &&
              EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) == 1,
          type);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(build);
    EVP_PKEY_CTX_free(context);
    return key;
}

static BIGNUM *make_number(int bits)
{
    BIGNUM *number = BN_new();
    BN_rand(number, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
    return number;
}

/* Makes an RSA key; exponent_bits 0 stands for 65,537. */
static EVP_PKEY *make_rsa(int bits, int exponent_bits)
{
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = make_number(bits);
    BIGNUM *secret = make_number(64);
    BIGNUM *exponent = exponent_bits > 0 ? make_number(exponent_bits) : BN_new();
    if (exponent_bits == 0)
        BN_set_word(exponent, 65537);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_D, secret);
    EVP_PKEY *key = make_key("RSA", build);
    BN_free(modulus);
    BN_free(secret);
    BN_free(exponent);
    return key;
}

static EVP_PKEY *make_dsa(int bits)
{
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = make_number(bits);
    BIGNUM *order = BN_new();
    BIGNUM *base = make_number(bits - 1);
    BIGNUM *secret = make_number(200);
    BIGNUM *public = make_number(bits - 2);
    BN_generate_prime_ex(order, 256, 0, NULL, NULL, NULL);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_P, modulus);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_Q, order);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_G, base);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PRIV_KEY, secret);
    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_PUB_KEY, public);
    EVP_PKEY *key = make_key("DSA", build);
    BN_free(modulus);
    BN_free(order);
    BN_free(base);
    BN_free(secret);
    BN_free(public);
    return key;
}

static EVP_PKEY *make_curve(const char *name, const char *encoding)
{
    EVP_PKEY *key = EVP_EC_gen(name);
    if (key && encoding)
        check(EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_ENCODING, encoding) == 1,
              name);
    return key;
}

static X509 *make_certificate(EVP_PKEY *key, size_t extension_size, int extensions)
{
    X509 *certificate = X509_new();
    EVP_PKEY *signer = EVP_EC_gen("P-256");
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    uint8_t *bytes = calloc(1, extension_size + 1);
    ASN1_OCTET_STRING_set(value, bytes, (int)extension_size);
    for (int i = 0; i < extensions; i++) {
        char name[32];
        snprintf(name, sizeof name, "1.2.3.4.%d", i + 1);
        ASN1_OBJECT *object = OBJ_txt2obj(name, 1);
        X509_EXTENSION *extension = X509_EXTENSION_create_by_OBJ(NULL, object, 0, value);
        X509_add_ext(certificate, extension, -1);
        X509_EXTENSION_free(extension);
        ASN1_OBJECT_free(object);
    }
    ASN1_OCTET_STRING_free(value);
    free(bytes);
    check(X509_sign(certificate, signer, EVP_sha256()) > 0, "a certificate");
    EVP_PKEY_free(signer);
    return certificate;
}

/* Goes on with the handshakes of all browsers until each has its channel or its refusal, which may
   be that nothing comes; returns how many have the channel. */
static unsigned open_all(void)
{
    double repeat = rtc_rig_now() + REPEAT_SECONDS;
    for (unsigned repeats = 0;;) {
        unsigned open = 0;
        unsigned ended = 0;
        const double now = rtc_rig_now();
        for (unsigned i = 0; i < rig.count; i++) {
            struct rtc_client *client = &rig.browsers[i]->client;
            open += client->open && !client->ended;
            ended += client->ended;
            if (!client->open && !client->ended && now >= repeat)
                rtc_client_repeat(client);
        }
        if (open + ended == rig.count || repeats > REPEATS_MAX)
            return open;
        if (now >= repeat) {
            repeat = now + REPEAT_SECONDS;
            repeats++;
        }
        rtc_rig_serve(&rig, 20);
    }
}

/* Counts the work of one handshake, with what comes before and after it. */
static double count_handshake(bool *taken)
{
    rtc_count_settle(&count);
    rtc_count_read(&count);
    rtc_client_check(&rtc_rig_offer(&rig)->client);
    *taken = open_all() > 0;
    rtc_rig_close(&rig);
    rtc_count_settle(&count);
    return rtc_count_read(&count).instructions;
}

static void compare(const char *name, bool must_be_taken)
{
    bool taken;
    const double work = count_handshake(&taken);
    const bool holds = work <= usual * MOST_WORK && taken == must_be_taken;
    printf("%s: %.0f, %.2f times, %s%s\n", name, work, work / usual, taken ? "taken" : "refused",
           holds ? "" : ": NO");
    right = right && holds;
    dearest = work > dearest ? work : dearest;
}

static void compare_certificate(const char *name, EVP_PKEY *key, X509 *certificate,
                                bool must_be_taken)
{
    if (rtc_identity_use(&rig.identity, certificate, key))
        compare(name, must_be_taken);
    else
        printf("%s: OpenSSL's client cannot show it\n", name);
    ERR_clear_error();
    X509_free(certificate);
    EVP_PKEY_free(key);
}

static void compare_key(const char *name, EVP_PKEY *key, bool must_be_taken)
{
    check(key != NULL, name);
    compare_certificate(name, key, make_certificate(key, 0, 0), must_be_taken);
}

static void compare_rsa(void)
{
    static const struct {
        int bits;
        int exponent_bits;
    } keys[] = {{512, 0},   {1024, 0}, {2047, 0}, {2048, 2},  {2048, 33}, {2048, 64}, {3072, 64},
                {4096, 64}, {4097, 0}, {8192, 0}, {15360, 0}, {16384, 0}, {2048, 17}, {2048, 2047}};
    char name[64];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(name, sizeof name, "RSA of %d bits, exponent of %d", keys[i].bits,
                 keys[i].exponent_bits > 0 ? keys[i].exponent_bits : 17);
        compare_key(name, make_rsa(keys[i].bits, keys[i].exponent_bits), false);
    }
    for (int bits = 2048; bits <= 4096; bits += 1024) {
        snprintf(name, sizeof name, "RSA of %d bits", bits);
        compare_key(name, EVP_RSA_gen((unsigned)bits), true);
    }
}

static void compare_curves(void)
{
    EC_builtin_curve curves[128];
    const size_t known = EC_get_builtin_curves(curves, sizeof curves / sizeof *curves);
    check(known <= sizeof curves / sizeof *curves, "all curves");
    for (size_t i = 0; i < known; i++) {
        char name[64];
        const char *curve = OBJ_nid2sn(curves[i].nid);
        EVP_PKEY *key = EVP_EC_gen(curve);
        if (key && curves[i].nid != NID_X9_62_prime256v1)
            compare_key(curve, key, false);
        snprintf(name, sizeof name, "%s, explicit", curve);
        key = make_curve(curve, "explicit");
        if (key && (i % 8 == 0 || curves[i].nid == NID_X9_62_prime256v1))
            compare_key(name, key, false);
    }
}

/* Compares certificates of the largest sizes. The relay takes nothing that is longer (see
   dtls_order.c), and no chain, for which its browser would wait in vain. */
static void compare_sizes(void)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    EVP_PKEY_up_ref(key);
    compare_certificate("an extension of 3,500 bytes", key, make_certificate(key, 3500, 1), true);
    EVP_PKEY_up_ref(key);
    compare_certificate("200 extensions", key, make_certificate(key, 1, 200), true);
    for (int i = 1; i < CHAIN; i++)
        SSL_CTX_add_extra_chain_cert(rig.identity.context, make_certificate(key, 0, 0));
    compare_certificate("a chain", key, make_certificate(key, 0, 0), false);
    SSL_CTX_clear_extra_chain_certs(rig.identity.context);
}

/* Compares groups for the keys of the handshake, not those of certificates. */
static void compare_groups(void)
{
    static const char *const groups[] = {"P-384", "P-521", "X448", "X448:P-256"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        check(SSL_CTX_set1_groups_list(rig.identity.context, groups[i]) == 1, groups[i]);
        compare(groups[i], strstr(groups[i], "P-256") != NULL);
    }
    /* OpenSSL's client shows certificates of these curves only. */
    SSL_CTX_set1_groups_list(rig.identity.context,
                             "X25519:P-256:P-384:P-521:secp256k1:secp224r1:secp192r1:sect571r1:"
                             "brainpoolP256r1:brainpoolP384r1:brainpoolP512r1");
}

int main(int argc, char **argv)
{
    bool taken;
    if (argc < 2)
        return 2;
    rtc_count_start(&count, &rig, argv[1]);
    SSL_CTX_set_security_level(rig.identity.context, 0);
    SSL_CTX_set_cipher_list(rig.identity.context, "ALL");
    SSL_CTX_set1_sigalgs_list(rig.identity.context,
                              "ECDSA+SHA256:RSA+SHA256:RSA-PSS+SHA256:DSA+SHA256:ed25519:ed448");
    count_handshake(&taken); /* the first handshake loads code */
    usual = count_handshake(&taken);
    printf("P-256: %.0f instructions\n", usual);
    check(taken, "the relay takes it");
    compare_groups();
    compare_key("DSA of 10,000 bits", make_dsa(10000), false);
    compare_key("DSA of 2,048 bits", make_dsa(2048), false);
    compare_key("Ed25519", EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), false);
    compare_key("Ed448", EVP_PKEY_Q_keygen(NULL, NULL, "ED448"), false);
    compare_rsa();
    compare_curves();
    compare_sizes();
    compare_key("P-256 again", EVP_EC_gen("P-256"), true);
    const bool write = cost_table_asked(argc, argv);
    right = cost_table_row("a WebRTC offer, its handshake and its channel", usual, write) && right;
    right = cost_table_row("the dearest of these found", dearest, write) && right;
    check(rtc_count_stop(&count) == 0, "the relay ends well");
    return right ? 0 : 1;
}
