#include "os/tls.h"

#include "os/log.h"
#include "os/tls_identity.h"
#include "os/tls_messages.h"

#include <errno.h>
#include <math.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two looks at the files. */
#define LOOK_SECONDS 2.0

#define MARKS_MAX (2 * TLS_CERTIFICATES_MAX)

/* The properties that change when a file is replaced or written. */
struct mark {
    dev_t device;
    ino_t number;
    off_t size;
    struct timespec modified;
};

struct identities {
    struct tls_identity at[TLS_CERTIFICATES_MAX];
    unsigned count;
};

struct tls {
    struct tls_files files;
    struct identities identities;
    struct mark marks[MARKS_MAX]; /* when the files were last read */
    struct loop *loop;
    struct loop_timer look;
    void (*changed)(void *context);
    void *context;
};

/* Logs when a certificate expires, and what that means. */
static void log_expiry(const char *file, double expires, const char *more)
{
    char text[32];
    const time_t seconds = (time_t)expires;
    struct tm time;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &time));
    log_error("%s expires at %s%s", file, text, more);
}

static bool load(const struct tls_files *files, struct identities *out)
{
    for (; out->count < files->certificate_count; out->count++) {
        const unsigned i = out->count;
        if (!tls_identity_load(files->certificates[i], files->keys[i], &out->at[i]))
            return false;
        const double expires = tls_identity_expires(&out->at[i]);
        if (expires < (double)time(NULL))
            log_expiry(files->certificates[i], expires, ", so that browsers refuse it");
    }
    return true;
}

/* Returns the mark of a file, through symbolic links, since certbot's files are links. */
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

/* Marks all files; returns true when one is not as it was. Mark the files before they are read:
   then one that changes meanwhile is read again. */
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

static void identities_free(struct identities *identities)
{
    for (unsigned i = 0; i < TLS_CERTIFICATES_MAX; i++)
        tls_identity_free(&identities->at[i]);
}

/* Replaces the identities. Connections that were shown the old ones keep those. */
static void replace(struct tls *tls, const struct identities *identities)
{
    identities_free(&tls->identities);
    tls->identities = *identities;
}

struct tls *tls_create(const struct tls_files *files)
{
    struct tls *tls = calloc(1, sizeof *tls);
    if (!tls || !files)
        return tls;
    tls->files = *files;
    mark_all(files, tls->marks);
    if (load(files, &tls->identities))
        return tls;
    tls_destroy(tls);
    return NULL;
}

void tls_destroy(struct tls *tls)
{
    if (!tls)
        return;
    loop_timer_stop(&tls->look);
    identities_free(&tls->identities);
    free(tls);
}

double tls_expires(const struct tls *tls)
{
    double first = INFINITY;
    for (unsigned i = 0; tls && i < tls->identities.count; i++)
        first = fmin(first, tls_identity_expires(&tls->identities.at[i]));
    return first;
}

/* Keeps each certificate that expires later than what its file has now: an old file that comes back
   by mistake would shut out all players. */
static void keep_later(const struct tls *tls, const struct tls_files *files,
                       struct identities *identities)
{
    for (unsigned i = 0; i < identities->count && i < tls->identities.count; i++) {
        const struct tls_identity *old = &tls->identities.at[i];
        struct tls_identity *new = &identities->at[i];
        const double expires = tls_identity_expires(new);
        if (strcmp(files->certificates[i], tls->files.certificates[i]) != 0 ||
            expires >= tls_identity_expires(old))
            continue;
        log_expiry(files->certificates[i], expires,
                   ", before the certificate in use, which stays; restart the relay to use it");
        tls_identity_free(new);
        tls_identity_share(old, new);
    }
}

bool tls_reload(struct tls *tls, const struct tls_files *files)
{
    struct identities identities = {0};
    struct mark marks[MARKS_MAX] = {{0}};
    if (!tls != (files->certificate_count == 0)) {
        log_error("--tls-certificate was not there at the start, or no longer is, which needs a "
                  "restart of the relay");
        return false;
    }
    if (!tls)
        return true;
    mark_all(files, marks);
    if (!load(files, &identities)) {
        identities_free(&identities);
        return false;
    }
    log_info("reading the TLS certificates again");
    keep_later(tls, files, &identities);
    tls->files = *files;
    memcpy(tls->marks, marks, sizeof marks);
    replace(tls, &identities);
    if (tls->changed)
        tls->changed(tls->context);
    return true;
}

static bool write_all(const struct identities *identities, int fd)
{
    BIO *out = BIO_new_fd(fd, BIO_NOCLOSE);
    bool written = out && BIO_write(out, &identities->count, sizeof identities->count) ==
                              (int)sizeof identities->count;
    for (unsigned i = 0; i < identities->count; i++)
        written = written && tls_identity_write(&identities->at[i], out);
    BIO_free(out);
    return written && lseek(fd, 0, SEEK_SET) == 0;
}

int tls_copy(const struct tls *tls)
{
    const int fd = memfd_create("causeway certificates", MFD_CLOEXEC);
    if (fd >= 0 && write_all(&tls->identities, fd))
        return fd;
    log_error("cannot copy the TLS certificates: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool read_all(int fd, struct identities *out)
{
    BIO *in = BIO_new_fd(fd, BIO_NOCLOSE);
    unsigned count = 0;
    bool read = in && BIO_read(in, &count, sizeof count) == (int)sizeof count && count > 0 &&
                count <= TLS_CERTIFICATES_MAX;
    for (; read && out->count < count; out->count++)
        read = tls_identity_read(in, &out->at[out->count]);
    BIO_free(in);
    return read;
}

bool tls_take(struct tls *tls, int copy)
{
    struct identities identities = {0};
    if (copy >= 0 && read_all(copy, &identities)) {
        replace(tls, &identities);
        return true;
    }
    log_error("cannot take the TLS certificates of the supervisor");
    identities_free(&identities);
    return false;
}

static void on_look(void *context)
{
    struct tls *tls = context;
    /* A certificate may be replaced before its key; then the next look finds both. */
    if (mark_all(&tls->files, tls->marks) && !tls_reload(tls, &tls->files))
        log_warn("the TLS certificates stay as they were, until the files change again");
    loop_timer_start(tls->loop, &tls->look, LOOK_SECONDS);
}

void tls_watch(struct tls *tls, struct loop *loop, void (*changed)(void *context), void *context)
{
    tls->loop = loop;
    tls->changed = changed;
    tls->context = context;
    tls->look.expired = on_look;
    tls->look.context = tls;
    loop_timer_start(loop, &tls->look, LOOK_SECONDS);
}

static const struct tls_identity *choose(const struct identities *identities, const char *name)
{
    for (unsigned i = 0; name && i < identities->count; i++) {
        if (X509_check_host(identities->at[i].certificate, name, 0, 0, NULL) == 1)
            return &identities->at[i];
    }
    return &identities->at[0];
}

static int on_certificate(SSL *ssl, void *context)
{
    const struct tls *tls = context;
    const struct tls_identity *identity =
        choose(&tls->identities, SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name));
    return SSL_use_cert_and_key(ssl, identity->certificate, identity->key, identity->chain, 1);
}

/* Refuses to resume sessions, because OpenSSL would try each of the hundreds of tickets that a
   handshake may bring. */
static void refuse_resumption(SSL_CTX *context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF | SSL_SESS_CACHE_NO_INTERNAL);
}

bool tls_serve(struct tls *tls, SSL_CTX *context)
{
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_cert_cb(context, on_certificate, tls);
    refuse_resumption(context);
    tls_messages_limit(context);
    /* Every browser has these groups. All others that OpenSSL knows cost many times as much: with
       P-384 a handshake takes ten times as long, with groups of finite fields up to eight hundred
       times. */
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}
