/* Tests of requests: each question gets one answer, or one reason why there is none. */
#include "fixture.h"

#include "connection_pair.h"

#define MARK_FIELDS(FIELD) FIELD(number, CW_UINT(0, 65535))
CW_MESSAGE(mark, MARK_FIELDS)
#define TWICE_FIELDS(FIELD)        FIELD(number, CW_UINT(1, 60000))
#define TWICE_ANSWER_FIELDS(FIELD) FIELD(doubled, CW_UINT(2, 120000))
CW_REQUEST(twice, TWICE_FIELDS, TWICE_ANSWER_FIELDS)

enum { MARK, TWICE, TWICE_ANSWER, TWICE_REFUSAL };
enum { RELIABLE, UNRELIABLE };

static struct cw_connection_config twice_config(void)
{
    const struct cw_message_type types[] = {mark_type, CW_REQUEST_TYPES(twice)};
    return cw_connection_config_default(
        schema_with(&(struct cw_schema_config){.types = types, .count = 4}));
}

static struct cw_message *make(struct cw_connection *at, uint32_t type, uint32_t number)
{
    struct cw_message *message = NULL;
    assert_ok(cw_connection_create_message(at, type, &message));
    ((uint32_t *)message->data)[1] = number;
    return message;
}

/* Asks, and returns the number of the question. */
static uint32_t ask(struct cw_connection *at, uint32_t channel, uint32_t number, double timeout,
                    double now)
{
    uint32_t request = 0;
    assert_ok(cw_connection_request(at, channel, make(at, TWICE, number), timeout, now, &request));
    return request;
}

static enum cw_error try_ask(struct cw_connection *at, uint32_t channel, double now)
{
    uint32_t request;
    struct cw_message *message = make(at, TWICE, 1);
    const enum cw_error error = cw_connection_request(at, channel, message, 5, now, &request);
    if (error != CW_OK)
        cw_message_release(message);
    return error;
}

static void answer(struct cw_connection *at, const struct cw_connection_event *event, double now)
{
    const uint32_t number = ((const struct twice *)event->message->data)->number;
    assert_ok(cw_connection_answer(at, event->request, make(at, TWICE_ANSWER, 2 * number), now));
}

/* Takes the next event, which must be of this type. */
static struct cw_connection_event expect(struct cw_connection *at,
                                         enum cw_connection_event_type type)
{
    struct cw_connection_event event;
    assert_true(cw_connection_next(at, &event));
    assert_int_equal(event.type, type);
    return event;
}

static void expect_nothing(struct cw_connection *at)
{
    struct cw_connection_event event;
    assert_false(cw_connection_receipt_waits(at));
    assert_false(cw_connection_next(at, &event));
}

static uint32_t expect_answer(struct cw_connection *at, uint32_t request)
{
    const struct cw_connection_event event = expect(at, CW_CONNECTION_EVENT_ANSWER);
    assert_int_equal(event.request, request);
    const uint32_t doubled = ((const struct twice_answer *)event.message->data)->doubled;
    assert_ok(cw_message_release(event.message));
    return doubled;
}

static void expect_unanswered(struct cw_connection *at, uint32_t request, enum cw_unanswered reason,
                              uint32_t code)
{
    const struct cw_connection_event event = expect(at, CW_CONNECTION_EVENT_UNANSWERED);
    assert_int_equal(event.request, request);
    assert_int_equal(event.unanswered, reason);
    assert_int_equal(event.code, code);
}

TEST(a_question_gets_its_answer_on_every_kind_of_channel)
{
    for (uint32_t kind = CW_CHANNEL_RELIABLE_ORDERED; kind <= CW_CHANNEL_RELIABLE_UNORDERED;
         kind++) {
        struct cw_connection_config config = twice_config();
        config.channel_count = 1;
        config.channels[0] = cw_channel_config_default((enum cw_channel_kind)kind);
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        const uint32_t first = ask(a, 0, 21, 1, 0), second = ask(a, 0, 4, 1, 0);
        round_of(a, b, 0);
        const struct cw_connection_event one = expect(b, CW_CONNECTION_EVENT_REQUEST);
        const struct cw_connection_event two = expect(b, CW_CONNECTION_EVENT_REQUEST);
        answer(b, &two, 0);
        answer(b, &one, 0);
        cw_message_release(one.message);
        cw_message_release(two.message);
        round_of(b, a, 0.1);
        assert_true(cw_connection_receipt_waits(a));
        assert_int_equal(expect_answer(a, second), 8);
        assert_int_equal(expect_answer(a, first), 42);
        expect_nothing(a);
        expect_nothing(b);
        round_of(a, b, 0.2);
        assert_int_equal(stats_of(b).messages_in_use, 0);
    }
}

/* Both ends ask at once, over a path that loses, delays, doubles and reorders. */
TEST(every_question_is_answered_once_over_a_bad_path)
{
    const struct cw_connection_config config = twice_config();
    struct pair pair = pair_open(&config, 0.1, 0.2);
    struct cw_simulator_path path = path_of(0.1, 0.2);
    path.jitter_seconds = 0.05;
    path.duplicate = 0.2;
    path.reorder = 0.2;
    path.reorder_delay_seconds = 0.3;
    pair_change(&pair, &path);
    static bool asked[2][60000], answered[2][60000];
    static uint32_t numbers[2][60000];
    memset(asked, 0, sizeof asked);
    memset(answered, 0, sizeof answered);
    uint32_t next[2] = {1, 1}, done[2] = {0, 0};
    for (int tick = 0; tick < 6000; tick++) {
        for (int side = 0; side < 2; side++) {
            struct cw_connection *at = pair.sides[side];
            if (tick < 5000 && tick % 4 == side) {
                numbers[side][next[side]] =
                    ask(at, tick % 3 ? UNRELIABLE : RELIABLE, next[side], 60, pair.now);
                next[side]++;
            }
            struct cw_connection_event event;
            while (cw_connection_next(at, &event)) {
                const uint32_t value = ((const uint32_t *)event.message->data)[1];
                if (event.type == CW_CONNECTION_EVENT_REQUEST) {
                    assert_false(asked[side][value]);
                    asked[side][value] = true;
                    answer(at, &event, pair.now);
                } else {
                    assert_int_equal(event.type, CW_CONNECTION_EVENT_ANSWER);
                    assert_false(answered[side][value / 2]);
                    answered[side][value / 2] = true;
                    assert_int_equal(event.request, numbers[side][value / 2]);
                    done[side]++;
                }
                cw_message_release(event.message);
            }
        }
        pair_tick(&pair);
    }
    for (int side = 0; side < 2; side++)
        assert_int_equal(done[side], next[side] - 1);
    printf("%u and %u questions\n", done[0], done[1]);
}

TEST(a_question_is_sent_again_and_answered_the_same)
{
    const struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    const uint32_t request = ask(a, UNRELIABLE, 5, 5, 0);
    round_of(a, b, 0);
    const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
    double now = 0;
    for (; now < 2; now += TICK) { /* the application thinks: repeated questions have no effect */
        round_of(a, b, now);
        round_of(b, a, now);
        expect_nothing(b);
    }
    const uint64_t sent = channel_of(a, UNRELIABLE).sent;
    assert_in_range(sent, 4, 40);
    answer(b, &event, now);
    cw_message_release(event.message);
    round_of(b, NULL, now); /* the answer is lost */
    for (; !cw_connection_receipt_waits(a); now += TICK) {
        assert_true(now < 4);
        round_of(a, b, now);
        expect_nothing(b);
        round_of(b, a, now);
    }
    assert_int_equal(expect_answer(a, request), 10);
    assert_int_equal(channel_of(b, UNRELIABLE).sent, 2);
}

TEST(a_question_times_out_and_its_late_answer_is_nothing)
{
    const struct cw_connection_config config = twice_config();
    for (uint32_t channel = RELIABLE; channel <= UNRELIABLE; channel++) {
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        const uint32_t request = ask(a, channel, 5, 1, 0);
        round_of(a, b, 0);
        const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
        cw_connection_update(a, 0.99);
        expect_nothing(a);
        cw_connection_update(a, 1);
        expect_unanswered(a, request, CW_UNANSWERED_TIMED_OUT, 0);
        answer(b, &event, 1);
        cw_message_release(event.message);
        round_of(b, a, 1.1);
        expect_nothing(a);
        round_of(a, b, 1.2); /* the repeated question leaves */
        assert_int_equal(stats_of(a).messages_in_use, 0);
    }
}

TEST(a_question_can_be_refused_once)
{
    const struct cw_connection_config config = twice_config();
    for (uint32_t channel = RELIABLE; channel <= UNRELIABLE; channel++) {
        struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
        const uint32_t request = ask(a, channel, 5, 1, 0);
        round_of(a, b, 0);
        const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
        assert_int_equal(cw_connection_refuse(b, event.request, 65536, 0),
                         CW_ERROR_INVALID_ARGUMENT);
        assert_ok(cw_connection_refuse(b, event.request, 404, 0));
        assert_int_equal(cw_connection_refuse(b, event.request, 404, 0), CW_ERROR_NOT_ASKED);
        struct cw_message *late = make(b, TWICE_ANSWER, 10);
        assert_int_equal(cw_connection_answer(b, event.request, late, 0), CW_ERROR_NOT_ASKED);
        cw_message_release(late);
        cw_message_release(event.message);
        round_of(b, a, 0.1);
        expect_unanswered(a, request, CW_UNANSWERED_REFUSED, 404);
        expect_nothing(a);
    }
}

TEST(a_cancelled_question_is_forgotten)
{
    const struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    const uint32_t open = ask(a, UNRELIABLE, 5, 1, 0), answered = ask(a, UNRELIABLE, 6, 1, 0);
    cw_connection_cancel(a, open);
    round_of(a, b, 0);
    for (int i = 0; i < 2; i++) {
        const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
        answer(b, &event, 0);
        cw_message_release(event.message);
    }
    round_of(b, a, 0.1);
    cw_connection_cancel(a, answered);
    cw_connection_cancel(a, answered);
    expect_nothing(a);
    cw_connection_update(a, 2);
    expect_nothing(a);
    assert_int_equal(stats_of(a).messages_in_use, 0);
}

TEST(only_so_many_are_open)
{
    struct cw_connection_config config = twice_config();
    config.max_requests = 3;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 3; i++)
        assert_ok(try_ask(a, i % 2, 0));
    assert_int_equal(try_ask(a, RELIABLE, 0), CW_ERROR_REQUESTS_FULL);
    cw_connection_update(a, 5);
    assert_int_equal(try_ask(a, RELIABLE, 5), CW_ERROR_REQUESTS_FULL); /* events not yet taken */
    for (int i = 0; i < 3; i++)
        (void)expect(a, CW_CONNECTION_EVENT_UNANSWERED);
    assert_ok(try_ask(a, RELIABLE, 5));
    (void)b;
}

/* An end with more places than the other may leave unanswered is told so. */
TEST(too_many_for_the_other_end_are_refused)
{
    struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config);
    config.max_requests = 2;
    struct cw_connection *b = connection_with(&config);
    uint32_t requests[3];
    for (uint32_t i = 0; i < 3; i++)
        requests[i] = ask(a, i == 1 ? RELIABLE : UNRELIABLE, i + 1, 5, 0);
    round_of(a, b, 0);
    struct cw_connection_event events[2];
    for (int i = 0; i < 2; i++)
        events[i] = expect(b, CW_CONNECTION_EVENT_REQUEST);
    expect_nothing(b);
    round_of(b, a, 0.1);
    const struct cw_connection_event refused = expect(a, CW_CONNECTION_EVENT_UNANSWERED);
    assert_int_equal(refused.code, CW_REFUSAL_BUSY);
    for (int i = 0; i < 2; i++) {
        answer(b, &events[i], 0.2);
        cw_message_release(events[i].message);
    }
    (void)ask(a, RELIABLE, 9, 5, 0.2); /* there is a place again */
    round_of(a, b, 0.2);
    cw_message_release(expect(b, CW_CONNECTION_EVENT_REQUEST).message);
    assert_true(requests[0] != requests[1]);
}

TEST(an_answer_waits_for_room_and_not_for_messages)
{
    struct cw_connection_config config = twice_config();
    config.channels[RELIABLE].send_queue_size = 2;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    const uint32_t request = ask(a, RELIABLE, 7, 5, 0);
    round_of(a, b, 0);
    const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
    for (int i = 0; i < 2; i++)
        assert_ok(cw_connection_send(b, RELIABLE, make(b, MARK, 1), 0));
    answer(b, &event, 0);
    cw_message_release(event.message);
    for (double now = 0.1; now < 1; now += 0.1) {
        round_of(b, a, now);
        round_of(a, b, now);
    }
    assert_true(cw_connection_receipt_waits(a));
    assert_int_equal(expect_answer(a, request), 14); /* though nobody has taken the two before it */
    for (int i = 0; i < 2; i++)
        cw_message_release(expect(a, CW_CONNECTION_EVENT_MESSAGE).message);
    expect_nothing(a);
    assert_int_equal(stats_of(a).messages_in_use, 0);
}

TEST(what_is_no_request_or_no_answer_is_refused)
{
    const struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t request = 7;
    struct cw_message *message = make(a, MARK, 1);
    assert_int_equal(cw_connection_request(a, 0, message, 1, 0, &request), CW_ERROR_NOT_A_REQUEST);
    cw_message_release(message);
    message = make(a, TWICE, 0); /* out of range */
    assert_int_equal(cw_connection_request(a, 1, message, 1, 0, &request), CW_ERROR_MESSAGE_VALUE);
    assert_int_equal(cw_connection_request(a, 2, message, 1, 0, &request), CW_ERROR_CHANNEL);
    assert_int_equal(cw_connection_request(a, 1, message, 0, 0, &request),
                     CW_ERROR_INVALID_ARGUMENT);
    cw_message_release(message);
    assert_int_equal(request, 7);
    expect_nothing(a);
    (void)ask(a, UNRELIABLE, 3, 1, 0);
    round_of(a, b, 0);
    const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
    message = make(b, MARK, 1);
    assert_int_equal(cw_connection_answer(b, event.request, message, 0), CW_ERROR_MESSAGE_TYPE);
    cw_message_release(message);
    message = make(b, TWICE_ANSWER, 1); /* out of range */
    assert_int_equal(cw_connection_answer(b, event.request, message, 0), CW_ERROR_MESSAGE_VALUE);
    cw_message_release(message);
    answer(b, &event, 0); /* the question is still open */
    cw_message_release(event.message);
}

/* Answers that nobody asked for, refusals of every number, and questions with any number. */
TEST(hostile_parts_of_requests_are_harmless)
{
    const struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    uint32_t random = 4711, kept = 0;
    struct cw_message *messages[CW_MAX_REQUESTS];
    const uint32_t mine = ask(b, RELIABLE, 30, 3600, 0);
    for (uint32_t i = 1; i < 20000; i++) {
        const double now = i * TICK;
        struct cw_message *message = make(a, TWICE + i % 3, 2 + i % 1000);
        random = random * 1664525u + 1013904223u;
        const uint32_t number = random >> 16;
        *(uint32_t *)message->data = number == (uint16_t)mine ? 1 : number;
        if (cw_connection_send(a, i % 2, message, now) != CW_OK)
            cw_message_release(message);
        round_of(a, b, now);
        round_of(b, a, now);
        struct cw_connection_event event;
        while (cw_connection_next(a, &event))
            cw_message_release(event.message);
        while (cw_connection_next(b, &event)) {
            assert_int_equal(event.type, CW_CONNECTION_EVENT_REQUEST);
            if (kept < 32)
                messages[kept++] = event.message;
            else
                cw_message_release(event.message);
        }
    }
    assert_int_equal(kept, 32);
    while (kept > 0)
        cw_message_release(messages[--kept]);
}

TEST(numbers_wrap)
{
    struct cw_connection_config config = twice_config();
    config.max_requests = 1;
    struct cw_connection *a = connection_with(&config), *b = connection_with(&config);
    for (uint32_t i = 0; i < 3000; i++) {
        const double now = i * TICK;
        const uint32_t request = ask(a, i % 2, 1 + i, 1, now);
        round_of(a, b, now);
        const struct cw_connection_event event = expect(b, CW_CONNECTION_EVENT_REQUEST);
        answer(b, &event, now);
        cw_message_release(event.message);
        round_of(b, a, now);
        assert_int_equal(expect_answer(a, request), 2 * (1 + i));
        expect_nothing(a);
    }
}

TEST(a_reset_forgets_all)
{
    const struct cw_connection_config config = twice_config();
    struct cw_connection *a = connection_with(&config);
    for (uint32_t i = 0; i < 32; i++)
        assert_ok(try_ask(a, i % 2, 0));
    cw_connection_reset(a);
    expect_nothing(a);
    for (uint32_t i = 0; i < 32; i++)
        assert_ok(try_ask(a, i % 2, 0));
}

TEST(only_a_schema_with_requests_pays_for_them)
{
    const struct cw_connection_config without = notes_config(), with = twice_config();
    struct cw_connection_config most = notes_config();
    most.max_requests = CW_MAX_REQUESTS;
    assert_int_equal(cw_connection_memory(&without), cw_connection_memory(&most));
    struct cw_connection_config fewer = with;
    fewer.max_requests = 1;
    assert_true(cw_connection_memory(&fewer) < cw_connection_memory(&with));
    struct cw_connection *a = connection_with(&without);
    struct cw_message *message = make_note(a, NOTE, 1, 0);
    uint32_t request;
    assert_int_equal(cw_connection_request(a, 0, message, 1, 0, &request), CW_ERROR_NOT_A_REQUEST);
    assert_int_equal(cw_connection_refuse(a, 1, 0, 0), CW_ERROR_NOT_ASKED);
    cw_message_release(message);
}
