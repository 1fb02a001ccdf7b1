/* SCTP: an association for which the relay asks too, without waiting for the other side. */
#include "sctp_link.h"

#define COOKIE 20

/* Has the association ask; the other side reads that. */
static void ask(struct link *link)
{
    uint8_t out[SCTP_PACKET_MAX];
    link_open(link);
    sctp_connect(link->sctp);
    const size_t size = fetch(link, out);
    assert_true(link->client.asked);
    assert_int_equal(load32(out + 4), 0);
    assert_int_equal(size, 12 + load16(out + 14)); /* the INIT goes alone */
    assert_int_equal(fetch_all(link), 0);
}

static void answer(struct link *link)
{
    struct sctp_packet packet;
    sctp_client_write_init_ack(&link->client, &packet, COOKIE);
    give_quietly(link, &packet);
}

static void expect_established(struct link *link, const struct sctp_packet *packet)
{
    assert_false(sctp_is_established(link->sctp));
    give(link, packet);
    assert_true(next(link));
    assert_int_equal(link->event.type, SCTP_ESTABLISHED);
    assert_true(sctp_is_established(link->sctp));
}

/* Checks that a message gets through each way. */
static void expect_to_work(struct link *link)
{
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, "up", 2);
    assert_true(next(link));
    assert_int_equal(link->event.type, SCTP_MESSAGE);
    assert_false(next(link));
    assert_int_equal(sctp_send(link->sctp, 0, PPID_BINARY, (const uint8_t *)"down", 4), SCTP_SENT);
    fetch_all(link);
    assert_int_equal(link->messages, 1);
    assert_memory_equal(link->last, "down", 4);
    assert_false(link->client.ended);
}

static void test_asks(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    ask(&link);
    answer(&link);
    assert_int_equal(fetch_all(&link), 1);
    assert_true(link.client.echoed);
    sctp_client_write_cookie_ack(&link.client, &packet);
    expect_established(&link, &packet);
    assert_false(next(&link));
    expect_to_work(&link);
    link_close(&link);
}

/* Browsers do this: they answer, and return the relay's cookie before the one that they asked for
   comes back. */
static void test_both_may_ask_at_once(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    for (int order = 0; order < 2; order++) {
        ask(&link);
        for (int i = 0; i < 2; i++) {
            if (i == order)
                answer(&link);
            else {
                sctp_client_write_init(&link.client, &packet);
                give_quietly(&link, &packet);
            }
        }
        assert_int_equal(fetch_all(&link), 2);
        assert_true(link.client.echoed);
        assert_true(link.client.cookie_size > 0);
        sctp_client_write_cookie_ack(&link.client, &packet);
        expect_established(&link, &packet);
        assert_false(next(&link));
        sctp_client_write_cookie(&link.client, &packet);
        give_quietly(&link, &packet);
        assert_int_equal(fetch_all(&link), 1);
        assert_true(link.client.established);
        expect_to_work(&link);
        link_close(&link);
    }
}

static void test_the_other_side_may_be_faster(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    ask(&link);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    fetch_all(&link);
    sctp_client_write_cookie(&link.client, &packet);
    expect_established(&link, &packet);
    assert_false(next(&link));
    fetch_all(&link);
    answer(&link);
    assert_int_equal(fetch_all(&link), 0);
    sctp_client_write_cookie_ack(&link.client, &packet);
    give_quietly(&link, &packet);
    expect_to_work(&link);
    link_close(&link);
}

static void test_data_tells_what_a_lost_cookie_ack_did(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    ask(&link);
    answer(&link);
    fetch_all(&link);
    begin(&link, &packet);
    sctp_packet_data(
        &packet,
        (struct sctp_part){.tsn = FIRST_TSN, .flags = SCTP_WHOLE | SCTP_UNORDERED, .ppid = 53},
        "data", 4);
    sctp_packet_end(&packet);
    expect_established(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_MESSAGE);
    assert_memory_equal(link.event.data, "data", 4);
    assert_false(next(&link));
    link_close(&link);
}

/* A HEARTBEAT, which asks whether the other side is where it says it is, may go with the cookie. */
static void test_a_heartbeat_goes_with_the_cookie(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    static const uint8_t nonce[4] = {1, 2, 3, 4};
    ask(&link);
    assert_false(sctp_is_answered(link.sctp));
    assert_int_equal(sctp_heartbeat(link.sctp, nonce, sizeof nonce, out, sizeof out), 0);
    answer(&link);
    assert_true(sctp_is_answered(link.sctp));
    assert_int_equal(fetch_all(&link), 1);
    const size_t size = sctp_heartbeat(link.sctp, nonce, sizeof nonce, out, sizeof out);
    assert_true(sctp_client_read(&link.client, out, size));
    /* The answer to it, too, proves what a lost COOKIE ACK would have. */
    sctp_client_write_heartbeat_ack(&link.client, &packet);
    expect_established(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_HEARTBEAT);
    assert_memory_equal(link.event.data, nonce, sizeof nonce);
    assert_false(next(&link));
    link_close(&link);
}

/* A side that answers before it has asked itself uses another tag when it asks. */
static void test_who_asks_anew_is_answered_anew(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    ask(&link);
    answer(&link);
    fetch_all(&link);
    sctp_client_init(&link.client, TAG + 1, 77);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    assert_int_equal(fetch_all(&link), 1);
    sctp_client_write_cookie_ack(&link.client, &packet);
    give_quietly(&link, &packet);
    assert_false(sctp_is_established(link.sctp));
    sctp_client_write_cookie(&link.client, &packet);
    expect_established(&link, &packet);
    link_close(&link);
}

/* An answer that is of no use is ignored, but a question of the other side is not. */
static void test_bad_answers_are_passed_over(void **state)
{
    (void)state;
    enum { CHUNK = 12, VALUE = 16, PARAMETERS = 32 };
    struct link link;
    struct sctp_packet packet;
    static const struct {
        const char *what;
        size_t at;
        uint8_t bytes[4];
    } cases[] = {
        {"no tag", VALUE, {0, 0, 0, 0}},
        {"no streams", VALUE + 8, {0, 0, 0, 9}},
        {"no streams back", VALUE + 8, {0, 9, 0, 0}},
        {"no support of FORWARD-TSN", PARAMETERS, {0x80, 1, 0, 12}},
        {"no cookie", PARAMETERS + 12, {0x80, 1, 0, 4 + COOKIE}},
        {"an empty cookie", PARAMETERS + 12, {0, 7, 0, 4}},
        {"it is too short", CHUNK, {2, 0, 0, 19}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ask(&link);
        sctp_client_write_init_ack(&link.client, &packet, COOKIE);
        memcpy(packet.data + cases[i].at, cases[i].bytes, 4);
        memset(packet.data + 8, 0, 4);
        sctp_packet_end(&packet);
        give_quietly(&link, &packet);
        if (fetch_all(&link) != 0)
            fail_msg("%s: answered", cases[i].what);
        sctp_client_write_init(&link.client, &packet);
        give_quietly(&link, &packet);
        fetch_all(&link);
        sctp_client_write_cookie(&link.client, &packet);
        expect_established(&link, &packet);
        link_close(&link);
    }

    /* One cookie fits in no packet, one answer names another tag than the one that asked. */
    ask(&link);
    sctp_client_write_init_ack(&link.client, &packet, SCTP_PACKET_MAX - 12);
    give_quietly(&link, &packet);
    assert_int_equal(fetch_all(&link), 0);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    fetch_all(&link);
    link.client.tsn++;
    answer(&link);
    assert_int_equal(fetch_all(&link), 0);
    link_close(&link);

    /* Nobody asked at first; then the other side did, and got a tag. */
    link_open(&link);
    answer(&link);
    assert_int_equal(refused(&link), 1);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    fetch_all(&link);
    answer(&link);
    assert_int_equal(refused(&link), 1);
    assert_int_equal(fetch_all(&link), 0);
    link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks),
        cmocka_unit_test(test_both_may_ask_at_once),
        cmocka_unit_test(test_the_other_side_may_be_faster),
        cmocka_unit_test(test_data_tells_what_a_lost_cookie_ack_did),
        cmocka_unit_test(test_a_heartbeat_goes_with_the_cookie),
        cmocka_unit_test(test_who_asks_anew_is_answered_anew),
        cmocka_unit_test(test_bad_answers_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
