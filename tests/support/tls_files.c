#define _GNU_SOURCE
#include "tls_files.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void fail(const char *what)
{
    fprintf(stderr, "tls_files: cannot make %s\n", what);
    exit(1);
}

static FILE *open_to_write(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        fail(path);
    return file;
}

void tls_files_make(struct tls_files_of_test *files, EVP_PKEY *key)
{
    *files = (struct tls_files_of_test){.folder = "/tmp/causeway-tls-XXXXXX"};
    if (!mkdtemp(files->folder))
        fail(files->folder);
    snprintf(files->certificate, sizeof files->certificate, "%s/certificate.pem", files->folder);
    snprintf(files->key, sizeof files->key, "%s/key.pem", files->folder);
    if (!key)
        fail("a key");
    X509 *certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_set_pubkey(certificate, key);
    if (X509_sign(certificate, key, EVP_sha256()) <= 0)
        fail("a certificate");
    FILE *file = open_to_write(files->certificate);
    PEM_write_X509(file, certificate);
    fclose(file);
    file = open_to_write(files->key);
    PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL);
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

void tls_files_remove(const struct tls_files_of_test *files)
{
    unlink(files->certificate);
    unlink(files->key);
    rmdir(files->folder);
}
