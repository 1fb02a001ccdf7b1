/* SCTP: an association for which the relay asks too, without waiting for the other side. */
#include "sctp_link.h"

#define COOKIE 20

/* Makes an association that asks; the other side reads that. */
static struct link *ask(void)
{
    uint8_t out[SCTP_PACKET_MAX];
    struct link *link = link_open();
    sctp_connect(link->sctp);
    const size_t size = fetch(link, out);
    assert_true(link->client.asked);
    assert_int_equal(load32(out + 4), 0);
    assert_int_equal(size, 12 + load16(out + 14)); /* the INIT goes alone */
    assert_int_equal(fetch_all(link), 0);
    return link;
}

static void answer(struct link *link)
{
    struct sctp_packet packet;
    sctp_client_write_init_ack(&link->client, &packet, COOKIE);
    give_quietly(link, &packet);
}

static void ask_back(struct link *link)
{
    give_quietly_written(link, sctp_client_write_init);
}

static void expect_established(struct link *link,
                               void (*write)(struct sctp_client *, struct sctp_packet *))
{
    assert_false(sctp_is_established(link->sctp));
    give_written(link, write);
    expect(link, SCTP_ESTABLISHED);
    assert_true(sctp_is_established(link->sctp));
}

/* Checks that a message gets through each way. */
static void expect_to_work(struct link *link)
{
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, "up", 2);
    expect_only(link, SCTP_MESSAGE);
    assert_int_equal(send_binary(link, "down", 4), SCTP_SENT);
    fetch_all(link);
    assert_int_equal(link->messages, 1);
    assert_memory_equal(link->last, "down", 4);
    assert_false(link->client.ended);
}

TEST(asks)
{
    struct link *link = ask();
    answer(link);
    assert_int_equal(fetch_all(link), 1);
    assert_true(link->client.echoed);
    expect_established(link, sctp_client_write_cookie_ack);
    assert_false(next(link));
    expect_to_work(link);
}

/* Browsers do this: they answer, and return the relay's cookie before the one that they asked for
   comes back. */
TEST(both_may_ask_at_once)
{
    for (int order = 0; order < 2; order++) {
        struct link *link = ask();
        for (int i = 0; i < 2; i++) {
            if (i == order)
                answer(link);
            else
                ask_back(link);
        }
        assert_int_equal(fetch_all(link), 2);
        assert_true(link->client.echoed);
        assert_true(link->client.cookie_size > 0);
        expect_established(link, sctp_client_write_cookie_ack);
        assert_false(next(link));
        give_quietly_written(link, sctp_client_write_cookie);
        assert_int_equal(fetch_all(link), 1);
        assert_true(link->client.established);
        expect_to_work(link);
    }
}

TEST(the_other_side_may_be_faster)
{
    struct link *link = ask();
    ask_back(link);
    fetch_all(link);
    expect_established(link, sctp_client_write_cookie);
    assert_false(next(link));
    fetch_all(link);
    answer(link);
    assert_int_equal(fetch_all(link), 0);
    give_quietly_written(link, sctp_client_write_cookie_ack);
    expect_to_work(link);
}

TEST(data_tells_what_a_lost_cookie_ack_did)
{
    struct link *link = ask();
    answer(link);
    fetch_all(link);
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, "data", 4);
    expect(link, SCTP_ESTABLISHED);
    expect_only(link, SCTP_MESSAGE);
    assert_memory_equal(link->event.data, "data", 4);
}

/* A HEARTBEAT, which asks whether the other side is where it says it is, may go with the cookie. */
TEST(a_heartbeat_goes_with_the_cookie)
{
    uint8_t out[SCTP_PACKET_MAX];
    static const uint8_t nonce[4] = {1, 2, 3, 4};
    struct link *link = ask();
    assert_false(sctp_is_answered(link->sctp));
    assert_int_equal(sctp_heartbeat(link->sctp, nonce, sizeof nonce, out, sizeof out), 0);
    answer(link);
    assert_true(sctp_is_answered(link->sctp));
    assert_int_equal(fetch_all(link), 1);
    const size_t size = sctp_heartbeat(link->sctp, nonce, sizeof nonce, out, sizeof out);
    assert_true(sctp_client_read(&link->client, out, size));
    /* The answer to it, too, proves what a lost COOKIE ACK would have. */
    expect_established(link, sctp_client_write_heartbeat_ack);
    expect_only(link, SCTP_HEARTBEAT);
    assert_memory_equal(link->event.data, nonce, sizeof nonce);
}

/* A side that answers before it has asked itself uses another tag when it asks. */
TEST(who_asks_anew_is_answered_anew)
{
    struct link *link = ask();
    answer(link);
    fetch_all(link);
    sctp_client_init(&link->client, TAG + 1, 77);
    ask_back(link);
    assert_int_equal(fetch_all(link), 1);
    give_quietly_written(link, sctp_client_write_cookie_ack);
    assert_false(sctp_is_established(link->sctp));
    expect_established(link, sctp_client_write_cookie);
}

/* An answer that is of no use is ignored, but a question of the other side is not. */
TEST(bad_answers_are_passed_over)
{
    enum { CHUNK = 12, VALUE = 16, PARAMETERS = 32 };
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
        struct link *link = ask();
        sctp_client_write_init_ack(&link->client, &packet, COOKIE);
        memcpy(packet.data + cases[i].at, cases[i].bytes, 4);
        memset(packet.data + 8, 0, 4);
        sctp_packet_end(&packet);
        give_quietly(link, &packet);
        if (fetch_all(link) != 0)
            fail_msg("%s: answered", cases[i].what);
        ask_back(link);
        fetch_all(link);
        expect_established(link, sctp_client_write_cookie);
    }

    /* One cookie fits in no packet, one answer names another tag than the one that asked. */
    struct link *link = ask();
    sctp_client_write_init_ack(&link->client, &packet, SCTP_PACKET_MAX - 12);
    give_quietly(link, &packet);
    assert_int_equal(fetch_all(link), 0);
    ask_back(link);
    fetch_all(link);
    link->client.tsn++;
    answer(link);
    assert_int_equal(fetch_all(link), 0);

    /* Nobody asked at first; then the other side did, and got a tag. */
    link = link_open();
    answer(link);
    assert_int_equal(refused(link), 1);
    ask_back(link);
    fetch_all(link);
    answer(link);
    assert_int_equal(refused(link), 1);
    assert_int_equal(fetch_all(link), 0);
}

/* With SNAP each side knows the other's INIT before the first packet. */
TEST(inits_may_come_with_the_signalling)
{
    struct sctp_packet packet;
    struct link *link = link_open();
    struct sctp_config config = {.local_port = 5000, .remote_port = 5000, .message = link->whole};
    sctp_client_write_init(&link->client, &packet);
    for (size_t size = 0; size < 30; size++)
        assert_false(sctp_read_init(&config.remote, packet.data + 12, size));
    assert_true(sctp_read_init(&config.remote, packet.data + 12, packet.size - 12));
    sctp_destroy(link->sctp);
    link->sctp = sctp_create(&config);
    assert_true(sctp_is_established(link->sctp));
    assert_int_equal(fetch_all(link), 0);

    uint8_t init[SCTP_OWN_INIT_SIZE];
    sctp_write_init(init);
    sctp_packet_begin(&packet, 0);
    sctp_packet_chunk(&packet, init[0], init[1], init + 4, sizeof init - 4);
    sctp_packet_end(&packet);
    assert_true(sctp_client_read(&link->client, packet.data, packet.size));
    expect_to_work(link);
    assert_int_equal(link->client.acknowledged, FIRST_TSN);
    ask_back(link);
    assert_int_equal(fetch_all(link), 0);
}
