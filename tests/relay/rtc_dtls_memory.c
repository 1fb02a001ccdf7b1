/* Memory for OpenSSL: a buffer may be given back, and others are left alone. */
#define OWN_MAIN
#include "fixture.h"

#include "relay/rtc/dtls_memory.h"

#include <openssl/buffer.h>
#include <openssl/ssl3.h>
#include <string.h>

#define SIZE SSL3_RT_MAX_PLAIN_LENGTH

/* Makes a full buffer, as OpenSSL does when a handshake begins. */
static BUF_MEM *fill_buffer(void)
{
    BUF_MEM *buffer = BUF_MEM_new();
    assert_non_null(buffer);
    assert_int_equal(BUF_MEM_grow(buffer, SIZE), SIZE);
    memset(buffer->data, 7, SIZE);
    return buffer;
}

static void assert_all(const BUF_MEM *buffer, char value)
{
    for (size_t i = 0; i < SIZE; i++)
        assert_int_equal(buffer->data[i], value);
}

TEST(a_buffer_is_given_back_and_still_there)
{
    struct dtls_memory memory = {0};
    dtls_memory_for(&memory);
    BUF_MEM *buffer = fill_buffer();
    dtls_memory_for(NULL);
    assert_ptr_equal(memory.block, buffer->data);
    dtls_memory_release(&memory);
    assert_all(buffer, 0); /* the system has taken the pages, and they read as zeros */
    memset(buffer->data, 8, SIZE);
    dtls_memory_release(&memory); /* a second release does nothing */
    assert_all(buffer, 8);
    BUF_MEM_free(buffer);
}

TEST(of_two_buffers_the_first_is_meant)
{
    struct dtls_memory memory = {0};
    dtls_memory_for(&memory);
    BUF_MEM *first = fill_buffer();
    BUF_MEM *second = fill_buffer();
    dtls_memory_for(NULL);
    dtls_memory_release(&memory);
    assert_all(first, 0);
    assert_all(second, 7);
    BUF_MEM_free(first);
    BUF_MEM_free(second);
}

TEST(a_buffer_that_grew_is_left_alone)
{
    struct dtls_memory memory = {0};
    dtls_memory_for(&memory);
    BUF_MEM *buffer = fill_buffer();
    assert_int_equal(BUF_MEM_grow(buffer, 4 * SIZE), 4 * SIZE);
    dtls_memory_for(NULL);
    assert_null(memory.block);
    dtls_memory_release(&memory);
    assert_all(buffer, 7);
    BUF_MEM_free(buffer);
}

TEST(a_freed_buffer_is_forgotten)
{
    struct dtls_memory memory = {0};
    dtls_memory_for(&memory);
    BUF_MEM_free(fill_buffer());
    dtls_memory_for(NULL);
    assert_null(memory.block);
    dtls_memory_release(&memory);
}

TEST(what_is_for_no_handshake_is_left_alone)
{
    struct dtls_memory memory = {0};
    BUF_MEM *buffer = fill_buffer();
    dtls_memory_for(&memory);
    void *small = OPENSSL_malloc(SIZE);
    dtls_memory_for(NULL);
    assert_non_null(small);
    assert_null(memory.block);
    dtls_memory_release(&memory);
    assert_all(buffer, 7);
    OPENSSL_free(small);
    BUF_MEM_free(buffer);
}

int main(void)
{
    dtls_memory_use();
    return fixture_run();
}
