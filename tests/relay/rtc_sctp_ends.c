/* SCTP: the answers of an association to other chunks than messages, and the ways in which it
   ends. */
#include "sctp_link.h"

#include <math.h>

TEST(heartbeats_are_returned)
{
    struct link *link = link_up();
    give_chunk(link, 4, 0, "\0\1\0\12pulse!", 10);
    assert_false(next(link));
    const uint8_t *ack = fetch_chunk(link, 5);
    assert_int_equal(load16(ack + 2), 14);
    assert_memory_equal(ack + 4, "\0\1\0\12pulse!", 10);
}

TEST(a_heartbeat_of_ours_comes_back)
{
    uint8_t out[SCTP_PACKET_MAX];
    struct link *link = link_open();
    assert_int_equal(sctp_heartbeat(link->sctp, (const uint8_t *)"pulse", 5, out, sizeof out), 0);
    link = link_up();
    const size_t size = sctp_heartbeat(link->sctp, (const uint8_t *)"pulse", 5, out, sizeof out);
    assert_true(sctp_client_read(&link->client, out, size));
    assert_int_equal(link->client.heartbeat_size, 9);
    give_written(link, sctp_client_write_heartbeat_ack);
    expect_only(link, SCTP_HEARTBEAT);
    assert_int_equal(link->event.size, 5);
    assert_memory_equal(link->event.data, "pulse", 5);
    /* A malformed answer gives no event. */
    static const struct {
        const char *value;
        size_t size;
    } wrong[] = {{"", 0}, {"\0\1", 2}, {"\0\1\0\3", 4}, {"\0\1\0\11pulse", 8}, {"\0\2\0\6up", 6}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        give_chunk(link, 5, 0, wrong[i].value, wrong[i].size);
        assert_false(next(link));
    }
}

TEST(unknown_chunks_follow_their_high_bits)
{
    static const struct {
        uint8_t type;
        bool goes_on;
        bool reports;
    } cases[] = {{0x3f, false, false},
                 {0x40, false, true},
                 {0xbf, true, false},
                 {0xc2, true, true}}; /* 0xc2 = 194 is I-FORWARD-TSN */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sctp_packet packet;
        uint8_t out[SCTP_PACKET_MAX];
        struct link *link = link_up();
        begin(link, &packet);
        sctp_packet_chunk(&packet, cases[i].type, 0, "what", 4);
        sctp_packet_data(&packet,
                         (struct sctp_part){.tsn = FIRST_TSN,
                                            .flags = SCTP_WHOLE | SCTP_UNORDERED,
                                            .ppid = PPID_BINARY},
                         "data", 4);
        sctp_packet_end(&packet);
        give(link, &packet);
        assert_int_equal(next(link), cases[i].goes_on);
        while (next(link)) {
        }
        const size_t size = fetch(link, out);
        assert_int_equal(size > 0 && find_chunk(out, size, 9) != NULL, cases[i].reports);
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
    const uint8_t *chunk = fetch_chunk(link, 130);
    assert_int_equal(load16(chunk + 4), 16);
    return load32(chunk + 12);
}

TEST(streams_are_reset)
{
    struct sctp_packet packet;
    struct link *link = link_up();
    put_reset(link, &packet, FIRST_TSN, FIRST_TSN - 1, 2);
    give(link, &packet);
    expect_only(link, SCTP_RESET);
    assert_int_equal(link->event.stream_count, 1);
    assert_int_equal(load16(link->event.streams), 2);
    assert_int_equal(reset_result(link), 1);
    /* The same request once more is answered once more and does nothing. */
    give_quietly(link, &packet);
    assert_int_equal(reset_result(link), 1);
    /* This number is out of turn. */
    put_reset(link, &packet, FIRST_TSN + 5, FIRST_TSN - 1, 2);
    give_quietly(link, &packet);
    assert_int_equal(reset_result(link), 5);
    /* While messages are missing the reset has to wait; it may be asked again with the same number,
       or the next. */
    put_reset(link, &packet, FIRST_TSN + 1, FIRST_TSN, 2);
    give_quietly(link, &packet);
    assert_int_equal(reset_result(link), 6);
    give_quietly(link, &packet);
    assert_int_equal(reset_result(link), 6);
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 2, "last", 4);
    expect_only(link, SCTP_MESSAGE);
    give(link, &packet);
    expect_only(link, SCTP_RESET);
    assert_int_equal(reset_result(link), 1);
    put_reset(link, &packet, FIRST_TSN + 2, FIRST_TSN, 2);
    give(link, &packet);
    expect_only(link, SCTP_RESET);
    assert_int_equal(reset_result(link), 1);

    /* Our own reset is repeated until it is answered. */
    wait_for_deadline(link);
    fetch_all(link);
    assert_true(sctp_reset(link->sctp, 2));
    assert_false(sctp_reset(link->sctp, 2));
    uint32_t number = 0;
    for (int i = 0; i < 3; i++) {
        const uint8_t *chunk = fetch_chunk(link, 130);
        assert_int_equal(load16(chunk + 2), 22);
        assert_int_equal(load16(chunk + 4), 13);
        assert_int_equal(load16(chunk + 20), 2);
        number = load32(chunk + 8);
        wait_for_deadline(link);
    }
    fetch_all(link);
    uint8_t response[12] = {0, 16, 0, 12};
    store32(response + 4, number);
    store32(response + 8, 1);
    give_chunk(link, 130, 0, response, sizeof response);
    assert_false(next(link));
    link->now += 100;
    sctp_update(link->sctp, link->now);
    assert_int_equal(fetch_all(link), 0);
    assert_true(sctp_reset(link->sctp, 4));
}

TEST(ends)
{
    struct sctp_packet packet;
    struct link *link;
    /* The other side ends it: ABORT, with our tag or with its own echoed. */
    for (int echoed = 0; echoed < 2; echoed++) {
        link = link_up();
        sctp_packet_begin(&packet, echoed ? TAG : link->client.remote_tag);
        sctp_packet_chunk(&packet, 6, (uint8_t)echoed, NULL, 0);
        sctp_packet_end(&packet);
        give(link, &packet);
        expect_only(link, SCTP_ENDED);
        assert_int_equal(fetch_all(link), 0);
        assert_int_equal(send_binary(link, "x", 1), SCTP_NOT_UP);
    }
    /* The other side ends it: SHUTDOWN. */
    link = link_up();
    give_chunk(link, 7, 0, "\0\0\0", 4);
    expect(link, SCTP_ENDED);
    fetch_chunk(link, 8);

    /* We end it, with a reason that a page can read. */
    link = link_up();
    sctp_abort(link->sctp, "out of order");
    const uint8_t *chunk = fetch_chunk(link, 6);
    assert_int_equal(load16(chunk + 4), 12);
    assert_int_equal(load16(chunk + 6), 4 + 12);
    assert_memory_equal(chunk + 8, "out of order", 12);
    assert_int_equal(fetch_all(link), 0);
    assert_true(sctp_deadline(link->sctp) == INFINITY);

    /* We end it, because DATA without data is malformed. */
    link = link_up();
    give_data(link, FIRST_TSN, SCTP_WHOLE, 0, "", 0);
    expect(link, SCTP_ENDED);
    chunk = fetch_chunk(link, 6);
    assert_int_equal(load16(chunk + 4), 9);
}
