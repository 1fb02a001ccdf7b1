/* Tokens out of a file. A whole client that gets them so is in emscripten.hello. */
#include "causeway/native/client_host.h"

#include "unit.h"

#include <stdio.h>

static char path[] = "client_token_file.token";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool is_there(void)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file;
}

static void it_gives_each_token_once(void **state)
{
    (void)state;
    uint8_t out[8] = {0};
    write_file("token");
    assert_int_equal(cw_client_host_token_file(path, out, sizeof out), 5);
    assert_memory_equal(out, "token", 6);
    assert_false(is_there());
    assert_int_equal(cw_client_host_token_file(path, out, sizeof out), 0);
}

static void it_waits_for_one_that_is_being_written(void **state)
{
    (void)state;
    uint8_t out[8];
    write_file("");
    assert_int_equal(cw_client_host_token_file(path, out, sizeof out), 0);
    assert_true(is_there());
    write_file("token");
    assert_int_equal(cw_client_host_token_file(path, out, sizeof out), 5);
}

static void it_gives_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    uint8_t out[8] = {0};
    write_file("token");
    assert_int_equal(cw_client_host_token_file(path, NULL, sizeof out), 0);
    assert_true(is_there());
    assert_int_equal(cw_client_host_token_file(path, out, 4), 4);
    assert_memory_equal(out, "toke", 5);
}

int main(void)
{
    remove(path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gives_each_token_once),
        cmocka_unit_test(it_waits_for_one_that_is_being_written),
        cmocka_unit_test(it_gives_no_more_than_there_is_room_for),
    };
    return cmocka_run_group_tests_name("client_token_file", tests, NULL, NULL);
}
