/* SCTP: the answers of an association to other chunks than messages, and the ways in which it
   ends. */
#include "sctp_link.h"

#include <math.h>

static void test_heartbeats_are_returned(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 4, 0, "\0\1\0\12pulse!", 10);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    const size_t size = fetch(&link, out);
    const uint8_t *ack = find_chunk(out, size, 5);
    assert_non_null(ack);
    assert_int_equal(load16(ack + 2), 14);
    assert_memory_equal(ack + 4, "\0\1\0\12pulse!", 10);
    link_close(&link);
}

static void test_a_heartbeat_of_ours_comes_back(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_open(&link);
    assert_int_equal(sctp_heartbeat(link.sctp, (const uint8_t *)"pulse", 5, out, sizeof out), 0);
    link_close(&link);
    link_up(&link);
    const size_t size = sctp_heartbeat(link.sctp, (const uint8_t *)"pulse", 5, out, sizeof out);
    assert_true(sctp_client_read(&link.client, out, size));
    assert_int_equal(link.client.heartbeat_size, 9);
    sctp_client_write_heartbeat_ack(&link.client, &packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_HEARTBEAT);
    assert_int_equal(link.event.size, 5);
    assert_memory_equal(link.event.data, "pulse", 5);
    assert_false(next(&link));
    /* A malformed answer gives no event. */
    static const struct {
        const char *value;
        size_t size;
    } wrong[] = {{"", 0}, {"\0\1", 2}, {"\0\1\0\3", 4}, {"\0\1\0\11pulse", 8}, {"\0\2\0\6up", 6}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(&link, &packet);
        sctp_packet_chunk(&packet, 5, 0, wrong[i].value, wrong[i].size);
        sctp_packet_end(&packet);
        give(&link, &packet);
        assert_false(next(&link));
    }
    link_close(&link);
}

static void test_unknown_chunks_follow_their_high_bits(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        bool goes_on;
        bool reports;
    } cases[] = {{0x3f, false, false},
                 {0x40, false, true},
                 {0xbf, true, false},
                 {0xc2, true, true}}; /* 0xc2 = 194 is I-FORWARD-TSN */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct link link;
        struct sctp_packet packet;
        uint8_t out[SCTP_PACKET_MAX];
        link_up(&link);
        begin(&link, &packet);
        sctp_packet_chunk(&packet, cases[i].type, 0, "what", 4);
        sctp_packet_data(&packet,
                         (struct sctp_part){.tsn = FIRST_TSN,
                                            .flags = SCTP_WHOLE | SCTP_UNORDERED,
                                            .ppid = PPID_BINARY},
                         "data", 4);
        sctp_packet_end(&packet);
        give(&link, &packet);
        assert_int_equal(next(&link), cases[i].goes_on);
        while (next(&link)) {
        }
        const size_t size = fetch(&link, out);
        assert_int_equal(size > 0 && find_chunk(out, size, 9) != NULL, cases[i].reports);
        link_close(&link);
    }
}

static void put_reset(struct link *link, struct sctp_packet *packet, uint32_t number,
                      uint32_t last_tsn, uint16_t stream)
{
    uint8_t value[18];
    store16(value, 13);
    store16(value + 2, sizeof value);
    store32(value + 4, number);
    store32(value + 8, 0);
    store32(value + 12, last_tsn);
    store16(value + 16, stream);
    begin(link, packet);
    sctp_packet_chunk(packet, 130, 0, value, sizeof value);
    sctp_packet_end(packet);
}

static uint32_t reset_result(struct link *link)
{
    uint8_t out[SCTP_PACKET_MAX];
    const size_t size = fetch(link, out);
    const uint8_t *chunk = find_chunk(out, size, 130);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 16);
    return load32(chunk + 12);
}

static void test_streams_are_reset(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    put_reset(&link, &packet, FIRST_TSN, FIRST_TSN - 1, 2);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_RESET);
    assert_int_equal(link.event.stream_count, 1);
    assert_int_equal(load16(link.event.streams), 2);
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);
    /* The same request once more is answered once more and does nothing. */
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 1);
    /* This number is out of turn. */
    put_reset(&link, &packet, FIRST_TSN + 5, FIRST_TSN - 1, 2);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 5);
    /* While messages are missing the reset has to wait; it may be asked again with the same number,
       or the next. */
    put_reset(&link, &packet, FIRST_TSN + 1, FIRST_TSN, 2);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 6);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 6);
    give_data(&link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 2, "last", 4);
    assert_true(next(&link));
    assert_false(next(&link));
    give(&link, &packet);
    assert_true(next(&link));
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);
    put_reset(&link, &packet, FIRST_TSN + 2, FIRST_TSN, 2);
    give(&link, &packet);
    assert_true(next(&link));
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);

    /* Our own reset is repeated until it is answered. */
    link.now = sctp_deadline(link.sctp);
    sctp_update(link.sctp, link.now);
    fetch_all(&link);
    assert_true(sctp_reset(link.sctp, 2));
    assert_false(sctp_reset(link.sctp, 2));
    uint32_t number = 0;
    for (int i = 0; i < 3; i++) {
        const size_t size = fetch(&link, out);
        const uint8_t *chunk = find_chunk(out, size, 130);
        assert_non_null(chunk);
        assert_int_equal(load16(chunk + 2), 22);
        assert_int_equal(load16(chunk + 4), 13);
        assert_int_equal(load16(chunk + 20), 2);
        number = load32(chunk + 8);
        link.now = sctp_deadline(link.sctp);
        sctp_update(link.sctp, link.now);
    }
    fetch_all(&link);
    uint8_t response[12] = {0, 16, 0, 12};
    store32(response + 4, number);
    store32(response + 8, 1);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 130, 0, response, sizeof response);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    link.now += 100;
    sctp_update(link.sctp, link.now);
    assert_int_equal(fetch_all(&link), 0);
    assert_true(sctp_reset(link.sctp, 4));
    link_close(&link);
}

static void test_ends(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    /* The other side ends it: ABORT, with our tag or with its own echoed. */
    for (int echoed = 0; echoed < 2; echoed++) {
        link_up(&link);
        sctp_packet_begin(&packet, echoed ? TAG : link.client.remote_tag);
        sctp_packet_chunk(&packet, 6, (uint8_t)echoed, NULL, 0);
        sctp_packet_end(&packet);
        give(&link, &packet);
        assert_true(next(&link));
        assert_int_equal(link.event.type, SCTP_ENDED);
        assert_false(next(&link));
        assert_int_equal(fetch_all(&link), 0);
        assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, (const uint8_t *)"x", 1),
                         SCTP_NOT_UP);
        link_close(&link);
    }
    /* The other side ends it: SHUTDOWN. */
    link_up(&link);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 7, 0, "\0\0\0", 4);
    sctp_packet_end(&packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ENDED);
    size_t size = fetch(&link, out);
    assert_non_null(find_chunk(out, size, 8));
    link_close(&link);

    /* We end it, with a reason that a page can read. */
    link_up(&link);
    sctp_abort(link.sctp, "out of order");
    size = fetch(&link, out);
    const uint8_t *chunk = find_chunk(out, size, 6);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 12);
    assert_int_equal(load16(chunk + 6), 4 + 12);
    assert_memory_equal(chunk + 8, "out of order", 12);
    assert_int_equal(fetch_all(&link), 0);
    assert_true(sctp_deadline(link.sctp) == INFINITY);
    link_close(&link);

    /* We end it, because DATA without data is malformed. */
    link_up(&link);
    give_data(&link, FIRST_TSN, SCTP_WHOLE, 0, "", 0);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ENDED);
    size = fetch(&link, out);
    chunk = find_chunk(out, size, 6);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 9);
    link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heartbeats_are_returned),
        cmocka_unit_test(test_a_heartbeat_of_ours_comes_back),
        cmocka_unit_test(test_unknown_chunks_follow_their_high_bits),
        cmocka_unit_test(test_streams_are_reset),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
