/* A certificate for TLS and its key, in PEM files of a folder of their own. */
#ifndef CAUSEWAY_TESTS_TLS_FILES_H
#define CAUSEWAY_TESTS_TLS_FILES_H

#include <openssl/evp.h>

struct tls_files_of_test {
    char folder[64];
    char certificate[96];
    char key[96];
};

/* Makes a certificate of a key, which it takes over; a failure ends the process with a message. */
void tls_files_make(struct tls_files_of_test *files, EVP_PKEY *key);
void tls_files_remove(const struct tls_files_of_test *files);

#endif
