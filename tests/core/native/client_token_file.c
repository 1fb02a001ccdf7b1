/* Tokens out of a file. A whole client that gets them so is in core.examples. */
#include "causeway/native/client_host.h"
#include "causeway/token.h"

#include "fixture.h"

#include <stdio.h>

#define BEGUN  1460 /* bytes of a token that arrives in two segments of TCP */
#define MARGIN 8

static char path[] = "client_token_file.token";
static uint8_t token[CW_TOKEN_SIZE + MARGIN];
static uint8_t out[CW_TOKEN_SIZE + MARGIN];

static void write_file(size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(token, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

BEFORE_EACH_TEST
{
    remove(path);
    for (size_t i = 0; i < sizeof token; i++)
        token[i] = (uint8_t)(i % 255 + 1);
}

static bool is_there(void)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file;
}

TEST(it_gives_each_token_once)
{
    write_file(CW_TOKEN_SIZE);
    memset(out, 0, sizeof out);
    assert_int_equal(cw_client_host_token_file(path, out, CW_TOKEN_SIZE), CW_TOKEN_SIZE);
    assert_memory_equal(out, token, CW_TOKEN_SIZE);
    assert_false(is_there());
    assert_int_equal(cw_client_host_token_file(path, out, CW_TOKEN_SIZE), 0);
}

TEST(it_waits_for_one_that_is_being_written)
{
    static const size_t sizes[] = {0, BEGUN, CW_TOKEN_SIZE - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_file(sizes[i]);
        assert_int_equal(cw_client_host_token_file(path, out, CW_TOKEN_SIZE), 0);
        assert_true(is_there());
    }
    write_file(CW_TOKEN_SIZE);
    assert_int_equal(cw_client_host_token_file(path, out, CW_TOKEN_SIZE), CW_TOKEN_SIZE);
}

TEST(it_gives_no_more_than_there_is_room_for)
{
    static const uint8_t zeros[MARGIN];
    write_file(CW_TOKEN_SIZE + MARGIN);
    memset(out, 0, sizeof out);
    assert_int_equal(cw_client_host_token_file(path, NULL, CW_TOKEN_SIZE), 0);
    assert_true(is_there());
    assert_int_equal(cw_client_host_token_file(path, out, CW_TOKEN_SIZE), CW_TOKEN_SIZE);
    assert_memory_equal(out, token, CW_TOKEN_SIZE);
    assert_memory_equal(out + CW_TOKEN_SIZE, zeros, MARGIN);
}
