/* SCTP: messages both ways over an association that loses some. */
#include "sctp_link.h"

#include <math.h>

TEST(receives_and_acknowledges_honestly)
{
    struct link *link = link_up();
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 4, "one", 3);
    expect_only(link, SCTP_MESSAGE);
    assert_int_equal(link->event.stream, 4);
    assert_int_equal(link->event.ppid, PPID_BINARY);
    assert_true(link->event.unordered);
    assert_int_equal(link->event.size, 3);

    /* The first packet waits for a second one, or for a message of a game that sends 20 a second,
       but not long; the second is acknowledged at once. */
    assert_int_equal(fetch_all(link), 0);
    assert_true(sctp_deadline(link->sctp) >= link->now + 1.0 / 20 &&
                sctp_deadline(link->sctp) < link->now + 0.2);
    wait_for_deadline(link);
    const uint8_t *sack = fetch_chunk(link, 3);
    assert_int_equal(load32(sack + 4), FIRST_TSN);
    assert_true(sctp_deadline(link->sctp) == INFINITY);
    for (uint32_t i = 1; i <= 2; i++) {
        give_data(link, FIRST_TSN + i, SCTP_WHOLE | SCTP_UNORDERED, 4, "x", 1);
        expect_only(link, SCTP_MESSAGE);
    }
    sack = fetch_chunk(link, 3);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);

    /* A gap is reported at once and exactly. */
    give_data(link, FIRST_TSN + 4, SCTP_WHOLE | SCTP_UNORDERED, 4, "y", 1);
    expect_only(link, SCTP_MESSAGE);
    sack = fetch_chunk(link, 3);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);
    assert_int_equal(load16(sack + 12), 1);
    assert_int_equal(load16(sack + 16), 2);
    assert_int_equal(load16(sack + 18), 2);

    /* A duplicate is not delivered twice. */
    give_data(link, FIRST_TSN + 4, SCTP_WHOLE | SCTP_UNORDERED, 4, "y", 1);
    assert_false(next(link));
    assert_int_equal(fetch_all(link), 1);
}

TEST(forward_tsn_is_taken)
{
    uint8_t tsn[4];
    struct link *link = link_up();
    give_data(link, FIRST_TSN + 1, SCTP_BEGIN | SCTP_UNORDERED, 0, "lost", 4);
    assert_false(next(link));
    fetch_all(link);
    store32(tsn, FIRST_TSN + 2);
    give_chunk(link, 192, 0, tsn, 4);
    assert_false(next(link));
    const uint8_t *sack = fetch_chunk(link, 3);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);
    assert_int_equal(load16(sack + 12), 0);
    /* The rest of the abandoned message is late: it completes nothing. */
    give_data(link, FIRST_TSN + 2, SCTP_END | SCTP_UNORDERED, 0, "lost", 4);
    assert_false(next(link));
}

TEST(fragments_are_put_together)
{
    uint8_t data[SCTP_MESSAGE_MAX];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    struct link *link = link_up();
    give_data(link, FIRST_TSN + 2, SCTP_END | SCTP_UNORDERED, 2, data + 1000, 400);
    assert_false(next(link));
    give_data(link, FIRST_TSN, SCTP_BEGIN | SCTP_UNORDERED, 2, data, 500);
    assert_false(next(link));
    give_data(link, FIRST_TSN + 1, SCTP_UNORDERED, 2, data + 500, 500);
    assert_true(next(link));
    assert_int_equal(link->event.size, sizeof data);
    assert_memory_equal(link->event.data, data, sizeof data);
    assert_false(next(link));

    struct sctp_stats stats;
    give_data(link, FIRST_TSN + 3, SCTP_BEGIN | SCTP_UNORDERED, 2, data, 1000);
    assert_false(next(link));
    give_data(link, FIRST_TSN + 4, SCTP_END | SCTP_UNORDERED, 2, data, 401);
    assert_false(next(link));
    sctp_stats(link->sctp, &stats);
    assert_int_equal(stats.messages_too_long, 1);
}

TEST(sends_now_and_takes_the_acknowledgement_along)
{
    struct link *link = link_up();
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, "ping", 4);
    expect_only(link, SCTP_MESSAGE);
    assert_int_equal(sctp_send(link->sctp, 6, PPID_BINARY, (const uint8_t *)"pong", 4), SCTP_SENT);
    assert_int_equal(sctp_send(link->sctp, 6, PPID_BINARY, (const uint8_t *)"pong", 4), SCTP_BUSY);
    fetch_chunk(link, 3);
    const uint8_t *data = find_chunk(link->fetched, link->fetched_size, 0);
    assert_int_equal(data[1], SCTP_WHOLE | SCTP_UNORDERED);
    assert_int_equal(link->messages, 1);
    assert_memory_equal(link->last, "pong", 4);
    assert_int_equal(link->last_stream, 6);
    assert_int_equal(fetch_all(link), 0);
}

TEST(splits_only_what_does_not_fit)
{
    struct link *link;
    uint8_t data[SCTP_MESSAGE_MAX];
    uint8_t out[SCTP_PACKET_MAX];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 13);
    static const struct {
        size_t size;
        unsigned packets;
    } cases[] = {{1, 1}, {SCTP_UNSPLIT_MAX, 1}, {SCTP_UNSPLIT_MAX + 1, 2}, {SCTP_MESSAGE_MAX, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        link = link_up();
        assert_int_equal(send_binary(link, data, cases[i].size), SCTP_SENT);
        assert_int_equal(fetch_all(link), cases[i].packets);
        assert_int_equal(link->messages, 1);
        assert_int_equal(link->last_size, cases[i].size);
        assert_memory_equal(link->last, data, cases[i].size);
    }

    /* A held-back acknowledgement does not split a message. */
    link = link_up();
    give_data(link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, "ping", 4);
    expect_only(link, SCTP_MESSAGE);
    send_binary(link, data, SCTP_UNSPLIT_MAX);
    const size_t size = fetch(link, out);
    assert_null(find_chunk(out, size, 3));
    assert_int_equal(fetch_all(link), 0);
    assert_int_equal(link->messages, 1);

    assert_int_equal(send_binary(link, data, 0), SCTP_TOO_LONG);
    assert_int_equal(send_binary(link, data, SCTP_MESSAGE_MAX + 1), SCTP_TOO_LONG);
    assert_int_equal(sctp_send(link->sctp, 1024, PPID_BINARY, data, 1), SCTP_NOT_UP);
}

/* The other side's answers bound the bytes that go out, and those that would have to be kept. */
TEST(drops_when_nothing_is_acknowledged)
{
    uint8_t data[1000] = {0};
    struct link *link = link_up();
    unsigned sent = 0;
    while (send_binary(link, data, 100) == SCTP_SENT) {
        assert_int_equal(fetch_all(link), 1);
        sent++;
    }
    assert_int_equal(sent, 512);
    assert_int_equal(send_binary(link, data, 100), SCTP_WINDOW_FULL);
    give_sack(link, link->client.cumulative, NULL, 0);
    assert_int_equal(send_binary(link, data, 100), SCTP_SENT);
    fetch_all(link);

    /* A closed window lets one message through as a probe. */
    uint8_t sack[12] = {0};
    store32(sack, link->client.cumulative);
    give_chunk(link, 3, 0, sack, sizeof sack);
    assert_false(next(link));
    assert_int_equal(send_binary(link, data, 1000), SCTP_SENT);
    fetch_all(link);
    assert_int_equal(send_binary(link, data, 1), SCTP_WINDOW_FULL);
}

/* Parts of a message that have not gone out yet keep their place from reliable messages. */
TEST(a_message_in_parts_keeps_its_place)
{
    static const uint8_t data[SCTP_MESSAGE_MAX];
    struct link *link = link_up();
    for (int i = 0; i < 510; i++) {
        assert_int_equal(send_binary(link, data, 1), SCTP_SENT);
        assert_int_equal(fetch_all(link), 1);
    }
    assert_int_equal(send_binary(link, data, sizeof data), SCTP_SENT);
    assert_int_equal(sctp_send_reliable(link->sctp, 0, 50, data, 1), SCTP_WINDOW_FULL);
    assert_int_equal(fetch_all(link), 2);
    give_sack(link, link->client.cumulative, NULL, 0);
    assert_int_equal(sctp_send_reliable(link->sctp, 0, 50, data, 1), SCTP_SENT);
}

TEST(gives_up_what_was_lost_and_says_so_seldom)
{
    uint8_t out[SCTP_PACKET_MAX];
    struct sctp_stats stats;
    struct link *link = link_up();
    const uint32_t base = link->client.cumulative;
    unsigned forwards = 0;
    /* Every other packet is lost, and each loss is reported: 100 losses in a second. */
    for (uint32_t i = 1; i <= 200; i++) {
        link->now += 0.005;
        assert_int_equal(send_binary(link, "x", 1), SCTP_SENT);
        size_t size;
        while ((size = fetch(link, out)) > 0)
            forwards += find_chunk(out, size, 192) != NULL;
        const uint32_t forwarded = link->client.forwarded ? link->client.forwarded - base : 0;
        uint16_t gaps[128];
        size_t count = 0;
        for (uint32_t at = 2; at <= i; at += 2)
            if (at > forwarded + 1) {
                gaps[count * 2] = (uint16_t)(at - forwarded);
                gaps[count * 2 + 1] = (uint16_t)(at - forwarded);
                count++;
            }
        give_sack(link, base + forwarded, gaps, count);
    }
    assert_true(forwards >= 10 && forwards <= 21);
    sctp_stats(link->sctp, &stats);
    assert_true(stats.chunks_abandoned >= 90 && stats.chunks_abandoned <= 100);
    assert_int_equal(stats.forwards_sent, forwards);
}

static double rtt(const struct link *link)
{
    struct sctp_stats stats;
    sctp_stats(link->sctp, &stats);
    return stats.rtt;
}

static void send_small(struct link *link)
{
    assert_int_equal(send_binary(link, "x", 1), SCTP_SENT);
    fetch_all(link);
}

TEST(times_round_trips_of_what_arrives)
{
    const uint16_t behind_the_first[] = {2, 5};
    struct link *link = link_up();
    const uint32_t base = link->client.cumulative;
    assert_true(isnan(rtt(link)));
    send_small(link);
    link->now += 0.08;
    give_sack(link, base + 1, NULL, 0);
    assert_float_equal(rtt(link), 0.08, 1e-9);
    send_small(link);
    link->now += 0.16;
    give_sack(link, base + 2, NULL, 0);
    assert_float_equal(rtt(link), 0.09, 1e-9);

    /* A lost packet does not tell the round trip time, however late the others report it. */
    for (unsigned i = 0; i < 5; i++)
        send_small(link);
    link->now += 5.0;
    give_sack(link, base + 2, behind_the_first, 1);
    fetch_all(link);
    give_sack(link, base + 7, NULL, 0);
    assert_float_equal(rtt(link), 0.09, 1e-9);
    send_small(link);
    link->now += 0.17;
    give_sack(link, base + 8, NULL, 0);
    assert_float_equal(rtt(link), 0.1, 1e-9);
}

TEST(a_lost_tail_is_given_up_by_time)
{
    struct link *link = link_up();
    const uint32_t base = link->client.cumulative;
    for (int i = 0; i < 3; i++)
        send_small(link);
    double waits = 0.5;
    for (int i = 0; i < 4; i++) {
        const double deadline = sctp_deadline(link->sctp);
        assert_true(deadline - link->now > waits && deadline - link->now < 10);
        waits = deadline - link->now;
        wait_for_deadline(link);
        const uint8_t *forward = fetch_chunk(link, 192);
        assert_int_equal(load32(forward + 4), base + 3);
        assert_int_equal(fetch_all(link), 0);
    }
    give_sack(link, base + 3, NULL, 0);
    assert_true(sctp_deadline(link->sctp) == INFINITY);
}

TEST(reliable_messages_are_repeated)
{
    struct link *link = link_up();
    const uint32_t base = link->client.cumulative;
    assert_int_equal(sctp_send_reliable(link->sctp, 0, 50, (const uint8_t *)"\2", 1), SCTP_SENT);
    const uint8_t *data = fetch_chunk(link, 0);
    assert_int_equal(data[1], SCTP_WHOLE); /* the message is ordered */
    assert_int_equal(load32(data + 4), base + 1);
    for (int i = 0; i < 20; i++)
        send_small(link);
    /* Everything later has come, and still it is not given up. */
    const uint16_t gap[2] = {2, 21};
    give_sack(link, base, gap, 1);
    assert_int_equal(fetch_all(link), 0);
    for (int i = 0; i < 3; i++) {
        wait_for_deadline(link);
        data = fetch_chunk(link, 0);
        assert_int_equal(load32(data + 4), base + 1);
        assert_null(find_chunk(link->fetched, link->fetched_size, 192));
    }
    give_sack(link, base + 21, NULL, 0);
    assert_true(sctp_deadline(link->sctp) == INFINITY);

    for (int i = 0; i < SCTP_RELIABLE_MAX; i++)
        assert_int_equal(sctp_send_reliable(link->sctp, 0, 50, (const uint8_t *)"\2", 1),
                         SCTP_SENT);
    assert_int_equal(sctp_send_reliable(link->sctp, 0, 50, (const uint8_t *)"\2", 1), SCTP_BUSY);
}
