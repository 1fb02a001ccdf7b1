#define _GNU_SOURCE
#include "rtc/dtls_memory.h"

#include <openssl/crypto.h>
#include <openssl/ssl3.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size that OpenSSL asks for when it wants a buffer for a whole record. Another version of
   OpenSSL may ask for another size, and gets it; then nothing is given back. */
#define BUFFER_SIZE ((SSL3_RT_MAX_PLAIN_LENGTH + 3) / 3 * 4)

/* The connection for which OpenSSL allocates now, since OpenSSL does not say for which it does. */
static struct dtls_memory *current;

/* Returns the size of a buffer in whole pages, which it shares with nothing else. */
static size_t buffer_bytes(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (BUFFER_SIZE + page - 1) / page * page;
}

void dtls_memory_for(struct dtls_memory *memory)
{
    current = memory;
}

void dtls_memory_release(struct dtls_memory *memory)
{
    if (memory->block)
        madvise(memory->block, buffer_bytes(), MADV_DONTNEED);
    memory->block = NULL;
}

void *dtls_memory_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    if (size == 0)
        return NULL;
    if (!current || current->block || size != BUFFER_SIZE)
        return malloc(size);
    current->block = aligned_alloc((size_t)sysconf(_SC_PAGESIZE), buffer_bytes());
    return current->block;
}

/* Forgets a block that is moved or freed, so that its pages are not touched any more. */
static void forget(const void *block)
{
    if (current && current->block == block)
        current->block = NULL;
}

void *dtls_memory_realloc(void *block, size_t size, const char *file, int line)
{
    if (!block)
        return dtls_memory_malloc(size, file, line);
    if (size == 0) {
        dtls_memory_free(block, file, line);
        return NULL;
    }
    forget(block);
    return realloc(block, size);
}

void dtls_memory_free(void *block, const char *file, int line)
{
    (void)file, (void)line;
    forget(block);
    free(block);
}

void dtls_memory_use(void)
{
    CRYPTO_set_mem_functions(dtls_memory_malloc, dtls_memory_realloc, dtls_memory_free);
}
