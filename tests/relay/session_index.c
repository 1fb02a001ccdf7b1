/* Hashes of sessions: a hash depends on a key, an origin and a server, and on nothing else. */
#include "fixture.h"

#include "session/server.h"
#include "session/session_index.h"
#include "session/session_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY    "AZaz09-_AZaz09-_AZaz09"
#define ORIGIN "https://game.example"

static const struct socket_address none;

TEST(a_key_has_one_form)
{
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

TEST(only_the_same_key_and_origin_find_it)
{
    struct session_index *index = session_index_create(1, NULL);
    struct session_index_entry entry = {0};
    struct session_hash hash;
    uint8_t hashes[4][32];
    session_index_hash(index, KEY, ORIGIN, &none, &hash);
    assert_true(hash.given);
    assert_null(session_index_find(index, &hash));
    session_index_add(index, &entry, &hash);
    session_index_hash(index, KEY, ORIGIN, &none, &hash);
    assert_ptr_equal(session_index_find(index, &hash), &entry);

    static const char *const others[][2] = {
        {"BZaz09-_AZaz09-_AZaz09", ORIGIN},
        {"AZaz09-_AZaz09-_AZaz0A", ORIGIN},
        {KEY, "https://game.exampl"},
        {KEY, "http://game.example"},
        {KEY, ""},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        session_index_hash(index, others[i][0], others[i][1], &none, &hash);
        assert_true(hash.given);
        assert_null(session_index_find(index, &hash));
    }
    static const char *const servers[] = {"10.0.0.5_7000", "10.0.0.5_7001", "10.0.0.6_7000",
                                          "2001-db8--5_7000"};
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        struct socket_address server;
        assert_true(session_server_read(servers[i], strlen(servers[i]), &server));
        session_index_hash(index, KEY, ORIGIN, &server, &hash);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(hashes[k], hash.bytes, sizeof hashes[k]);
        memcpy(hashes[i], hash.bytes, sizeof hashes[i]);
        assert_null(session_index_find(index, &hash));
    }
    session_index_hash(index, KEY, ORIGIN, &none, &hash);
    session_index_remove(index, &entry);
    assert_null(session_index_find(index, &hash));
    session_index_remove(index, &entry);
    session_index_destroy(index);
}

TEST(without_a_key_there_is_no_hash)
{
    struct session_index *index = session_index_create(1, NULL);
    struct session_index_entry entry = {0};
    struct session_hash hash;
    static const char *const keys[] = {"", "short", KEY "A", "AZaz09+_AZaz09-_AZaz09"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        session_index_hash(index, keys[i], ORIGIN, &none, &hash);
        assert_false(hash.given);
        session_index_add(index, &entry, &hash);
        assert_false(entry.listed);
        assert_null(session_index_find(index, &hash));
    }
    session_index_destroy(index);
}

/* A stranger can neither work out which place of the table a key takes, nor find the key in
   memory. */
TEST(a_hash_is_a_secret_of_its_relay)
{
    struct session_index *one = session_index_create(1, NULL);
    struct session_index *other = session_index_create(1, NULL);
    struct session_hash first;
    struct session_hash second;
    session_index_hash(one, KEY, ORIGIN, &none, &first);
    session_index_hash(other, KEY, ORIGIN, &none, &second);
    assert_memory_not_equal(first.bytes, second.bytes, 8);
    session_index_destroy(other);
    other = session_index_create(1, session_index_secret(one));
    session_index_hash(other, KEY, ORIGIN, &none, &second);
    assert_memory_equal(first.bytes, second.bytes, sizeof first.bytes);
    session_index_destroy(one);
    session_index_destroy(other);
}

TEST(many_come_and_go)
{
    enum { MANY = 5000 };
    struct session_index *index = session_index_create(100, NULL);
    struct session_index_entry *entries = calloc(MANY, sizeof *entries);
    assert_non_null(entries);
    for (int turn = 0; turn < 2; turn++) {
        struct session_hash hash;
        char key[] = KEY;
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "%022d", i);
            session_index_hash(index, key, ORIGIN, &none, &hash);
            session_index_add(index, &entries[i], &hash);
        }
        for (int i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "%022d", i);
            session_index_hash(index, key, ORIGIN, &none, &hash);
            assert_ptr_equal(session_index_find(index, &hash), &entries[i]);
            session_index_remove(index, &entries[i]);
            assert_null(session_index_find(index, &hash));
        }
    }
    free(entries);
    session_index_destroy(index);
}
