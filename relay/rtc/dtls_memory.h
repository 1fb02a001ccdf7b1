/* This gives OpenSSL its memory. For each DTLS connection, OpenSSL keeps the 21 KB in which it put
   the messages of the handshake together, of which 16 KB are written. Nothing in them is needed
   again, so their pages are given back to the system when the handshake is done. OpenSSL still owns
   them: it may write there, as when it repeats its last flight, and finds zeros first. */
#ifndef CAUSEWAY_RELAY_RTC_DTLS_MEMORY_H
#define CAUSEWAY_RELAY_RTC_DTLS_MEMORY_H

#include <stddef.h>

/* The handshake buffer of one connection; all zero at first. */
struct dtls_memory {
    void *block; /* NULL while there is no buffer, and when its pages have been given back */
};

/* Makes OpenSSL allocate from here. Call it before anything else of OpenSSL: later it does nothing,
   and no memory is saved. */
void dtls_memory_use(void);

/* Says for which handshake OpenSSL allocates and frees from now on, until NULL is given. */
void dtls_memory_for(struct dtls_memory *memory);

/* Gives the pages of a buffer back, when the handshake is done. */
void dtls_memory_release(struct dtls_memory *memory);

/* The functions that dtls_memory_use gives to OpenSSL, which calls them as malloc, realloc and
   free. */
void *dtls_memory_malloc(size_t size, const char *file, int line);
void *dtls_memory_realloc(void *block, size_t size, const char *file, int line);
void dtls_memory_free(void *block, const char *file, int line);

#endif
