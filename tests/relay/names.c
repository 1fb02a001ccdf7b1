/* Names of sessions: a key, an origin and a server make one, and nothing else does. */
#include "unit.h"

#include "session/key.h"
#include "session/names.h"
#include "session/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY    "AZaz09-_AZaz09-_AZaz09"
#define ORIGIN "https://game.example"

static const struct socket_address none;

static void test_a_key_has_one_form(void **state)
{
    (void)state;
    assert_true(session_key_valid(KEY, SESSION_KEY_SIZE));
    assert_false(session_key_valid(KEY, SESSION_KEY_SIZE - 1));
    assert_false(session_key_valid(KEY "A", SESSION_KEY_SIZE + 1));
    assert_false(session_key_valid("", 0));
    for (int c = 0; c < 256; c++) {
        char key[] = KEY;
        key[7] = (char)c;
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool valid = letter || (c >= '0' && c <= '9') || c == '-' || c == '_';
        assert_int_equal(session_key_valid(key, SESSION_KEY_SIZE), valid);
    }
}

static void test_only_the_same_key_and_origin_find_it(void **state)
{
    (void)state;
    struct names *names = names_create(1, NULL);
    struct name_entry entry = {0};
    struct name name;
    uint8_t hashes[4][32];
    names_make(names, KEY, ORIGIN, &none, &name);
    assert_true(name.given);
    assert_null(names_find(names, &name));
    names_add(names, &entry, &name);
    names_make(names, KEY, ORIGIN, &none, &name);
    assert_ptr_equal(names_find(names, &name), &entry);

    static const char *const others[][2] = {
        {"BZaz09-_AZaz09-_AZaz09", ORIGIN},
        {"AZaz09-_AZaz09-_AZaz0A", ORIGIN},
        {KEY, "https://game.exampl"},
        {KEY, "http://game.example"},
        {KEY, ""},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        names_make(names, others[i][0], others[i][1], &none, &name);
        assert_true(name.given);
        assert_null(names_find(names, &name));
    }
    static const char *const servers[] = {"10.0.0.5_7000", "10.0.0.5_7001", "10.0.0.6_7000",
                                          "2001-db8--5_7000"};
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        struct socket_address server;
        assert_true(session_server_read(servers[i], strlen(servers[i]), &server));
        names_make(names, KEY, ORIGIN, &server, &name);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(hashes[k], name.hash, sizeof hashes[k]);
        memcpy(hashes[i], name.hash, sizeof hashes[i]);
        assert_null(names_find(names, &name));
    }
    names_make(names, KEY, ORIGIN, &none, &name);
    names_remove(names, &entry);
    assert_null(names_find(names, &name));
    names_remove(names, &entry);
    names_destroy(names);
}

static void test_without_a_key_there_is_no_name(void **state)
{
    (void)state;
    struct names *names = names_create(1, NULL);
    struct name_entry entry = {0};
    struct name name;
    static const char *const keys[] = {"", "short", KEY "A", "AZaz09+_AZaz09-_AZaz09"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        names_make(names, keys[i], ORIGIN, &none, &name);
        assert_false(name.given);
        names_add(names, &entry, &name);
        assert_false(entry.listed);
        assert_null(names_find(names, &name));
    }
    names_destroy(names);
}

/* Nobody can work out which place of the table a key takes, nor find the key in memory. */
static void test_a_name_is_a_secret_of_its_relay(void **state)
{
    (void)state;
    struct names *one = names_create(1, NULL);
    struct names *other = names_create(1, NULL);
    struct name first;
    struct name second;
    names_make(one, KEY, ORIGIN, &none, &first);
    names_make(other, KEY, ORIGIN, &none, &second);
    assert_memory_not_equal(first.hash, second.hash, 8);
    names_destroy(other);
    other = names_create(1, names_secret(one));
    names_make(other, KEY, ORIGIN, &none, &second);
    assert_memory_equal(first.hash, second.hash, sizeof first.hash);
    names_destroy(one);
    names_destroy(other);
}

static void test_many_come_and_go(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct names *names = names_create(100, NULL);
    struct name_entry *entries = calloc(MANY, sizeof *entries);
    assert_non_null(entries);
    for (int turn = 0; turn < 2; turn++) {
        struct name name;
        char key[] = KEY;
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "%022d", i);
            names_make(names, key, ORIGIN, &none, &name);
            names_add(names, &entries[i], &name);
        }
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "%022d", i);
            names_make(names, key, ORIGIN, &none, &name);
            assert_ptr_equal(names_find(names, &name), &entries[i]);
            names_remove(names, &entries[i]);
            assert_null(names_find(names, &name));
        }
    }
    free(entries);
    names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_has_one_form),
        cmocka_unit_test(test_only_the_same_key_and_origin_find_it),
        cmocka_unit_test(test_without_a_key_there_is_no_name),
        cmocka_unit_test(test_a_name_is_a_secret_of_its_relay),
        cmocka_unit_test(test_many_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
