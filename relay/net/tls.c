#include "net/tls.h"

#include "net/log.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Seconds between two looks at the files. */
#define LOOK_SECONDS 2.0

#define MARKS_MAX (2 * TLS_CERTIFICATES_MAX)

/* What tells that a file has been replaced or written. */
struct mark {
    dev_t device;
    ino_t number;
    off_t size;
    struct timespec modified;
};

struct identity {
    X509 *certificate;
    STACK_OF(X509) * chain;
    EVP_PKEY *key;
};

struct tls {
    struct tls_files files;
    struct identity identities[TLS_CERTIFICATES_MAX];
    struct mark marks[MARKS_MAX]; /* when the files were last read */
    struct loop *loop;
    struct loop_timer look;
};

static void identity_free(struct identity *identity)
{
    X509_free(identity->certificate);
    sk_X509_pop_free(identity->chain, X509_free);
    EVP_PKEY_free(identity->key);
    *identity = (struct identity){0};
}

/* Logs why a file cannot be used, in which something (`what`) should be. */
static bool fail(const char *file, const char *what)
{
    const unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);
    if (ERR_GET_LIB(error) == ERR_LIB_SYS)
        reason = strerror(ERR_GET_REASON(error));
    if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE)
        log_error("cannot use %s for TLS: there is no %s in PEM format in it", file, what);
    else
        log_error("cannot use %s for TLS: %s", file, reason ? reason : "it is malformed");
    ERR_clear_error();
    return false;
}

/* A key that wants a passphrase is refused: nobody is there to type it. */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

/* The first certificate is the server's, those behind it are its chain. */
static bool read_certificates(BIO *file, struct identity *out)
{
    X509 *link;
    out->certificate = PEM_read_bio_X509(file, NULL, no_passphrase, NULL);
    out->chain = sk_X509_new_null();
    if (!out->certificate || !out->chain)
        return false;
    while ((link = PEM_read_bio_X509(file, NULL, no_passphrase, NULL))) {
        if (!sk_X509_push(out->chain, link)) {
            X509_free(link);
            return false;
        }
    }
    /* Its end is an error too. */
    const bool whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    if (whole)
        ERR_clear_error();
    return whole;
}

static bool identity_load(const char *certificate, const char *key, struct identity *out)
{
    ERR_clear_error();
    BIO *file = BIO_new_file(certificate, "r");
    const bool read = file && read_certificates(file, out);
    BIO_free(file);
    if (!read)
        return fail(certificate, "certificate");
    file = BIO_new_file(key, "r");
    out->key = file ? PEM_read_bio_PrivateKey(file, NULL, no_passphrase, NULL) : NULL;
    BIO_free(file);
    if (!out->key || X509_check_private_key(out->certificate, out->key) != 1)
        return fail(key, "key");
    return true;
}

static bool load(const struct tls_files *files, struct identity *out)
{
    for (unsigned i = 0; i < files->certificate_count; i++) {
        if (!identity_load(files->certificates[i], files->keys[i], &out[i]))
            return false;
    }
    return true;
}

/* Through symbolic links, as certbot's are. */
static struct mark mark_of(const char *file)
{
    struct stat status;
    if (stat(file, &status) != 0)
        return (struct mark){0};
    return (struct mark){status.st_dev, status.st_ino, status.st_size, status.st_mtim};
}

static bool same_mark(const struct mark *a, const struct mark *b)
{
    return a->device == b->device && a->number == b->number && a->size == b->size &&
           a->modified.tv_sec == b->modified.tv_sec && a->modified.tv_nsec == b->modified.tv_nsec;
}

/* Marks all files; true when one is not as it was. Mark them before they are read: one that changes
   meanwhile is read again. */
static bool mark_all(const struct tls_files *files, struct mark marks[MARKS_MAX])
{
    bool changed = false;
    for (unsigned i = 0; i < 2 * files->certificate_count; i++) {
        const struct mark mark =
            mark_of(i % 2 == 0 ? files->certificates[i / 2] : files->keys[i / 2]);
        changed = changed || !same_mark(&mark, &marks[i]);
        marks[i] = mark;
    }
    return changed;
}

struct tls *tls_create(const struct tls_files *files)
{
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls)
        return NULL;
    tls->files = *files;
    mark_all(files, tls->marks);
    if (load(files, tls->identities))
        return tls;
    tls_destroy(tls);
    return NULL;
}

void tls_destroy(struct tls *tls)
{
    if (!tls)
        return;
    loop_timer_stop(&tls->look);
    for (unsigned i = 0; i < TLS_CERTIFICATES_MAX; i++)
        identity_free(&tls->identities[i]);
    free(tls);
}

bool tls_reload(struct tls *tls, const struct tls_files *files)
{
    struct identity identities[TLS_CERTIFICATES_MAX] = {{0}};
    struct mark marks[MARKS_MAX] = {{0}};
    mark_all(files, marks);
    const bool loaded = load(files, identities);
    if (loaded) {
        log_info("reading the TLS certificates again");
        tls->files = *files;
        memcpy(tls->marks, marks, sizeof marks);
    }
    /* Frees the old ones, or what was read of the new. */
    for (unsigned i = 0; i < TLS_CERTIFICATES_MAX; i++) {
        struct identity *old = loaded ? &tls->identities[i] : &identities[i];
        identity_free(old);
        if (loaded)
            tls->identities[i] = identities[i];
    }
    return loaded;
}

static void on_look(void *context)
{
    struct tls *tls = context;
    /* A certificate may be replaced before its key: the next look finds both. */
    if (mark_all(&tls->files, tls->marks) && !tls_reload(tls, &tls->files))
        log_warn("the TLS certificates stay as they were, until the files change again");
    loop_timer_start(tls->loop, &tls->look, LOOK_SECONDS);
}

void tls_watch(struct tls *tls, struct loop *loop)
{
    tls->loop = loop;
    tls->look.expired = on_look;
    tls->look.context = tls;
    loop_timer_start(loop, &tls->look, LOOK_SECONDS);
}

static const struct identity *choose(const struct tls *tls, const char *name)
{
    for (unsigned i = 0; name && i < tls->files.certificate_count; i++) {
        if (X509_check_host(tls->identities[i].certificate, name, 0, 0, NULL) == 1)
            return &tls->identities[i];
    }
    return &tls->identities[0];
}

static int on_certificate(SSL *ssl, void *context)
{
    const struct identity *identity =
        choose(context, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    return SSL_use_cert_and_key(ssl, identity->certificate, identity->key, identity->chain, 1);
}

void tls_serve(struct tls *tls, SSL_CTX *context)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_cert_cb(context, on_certificate, tls);
}
