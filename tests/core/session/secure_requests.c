/* Requests between a client and a server, and what becomes of them when the connection ends. */
#include "secure_message_rig.h"

#define TWICE_FIELDS(FIELD)        FIELD(number, CW_UINT(1, 60000))
#define TWICE_ANSWER_FIELDS(FIELD) FIELD(doubled, CW_UINT(2, 120000))
CW_REQUEST(twice, TWICE_FIELDS, TWICE_ANSWER_FIELDS)

enum { NOTE, TWICE, TWICE_ANSWER };

/* tests/node_server/requests.test.mjs declares the same in TypeScript, and expects this number. */
#define FINGERPRINT 0xfe71e87ff73f8b88u

/* A server with a client in slot 0. */
struct pair {
    struct message_rig messages;
    struct rig *rig;
    struct cw_client *client;
    struct cw_address at;
};

static struct cw_connection *ours(struct pair *pair)
{
    return cw_client_connection(pair->client);
}

static struct cw_connection *theirs(struct pair *pair)
{
    return cw_server_connection(pair->rig->server, 0);
}

static void tick(struct pair *pair, int count)
{
    for (int i = 0; i < count; i++)
        rig_tick(pair->rig, pair->client, &pair->at);
}

static struct cw_server_event told_server(struct pair *pair, enum cw_server_event_type type)
{
    struct cw_server_event event;
    assert_true(cw_server_next(pair->rig->server, &event));
    assert_int_equal(event.type, type);
    assert_int_equal(event.client, 0);
    return event;
}

static struct cw_client_event told_client(struct pair *pair, enum cw_client_event_type type)
{
    struct cw_client_event event;
    assert_true(cw_client_next(pair->client, &event));
    assert_int_equal(event.type, type);
    return event;
}

static void told_nothing(struct pair *pair)
{
    struct cw_client_event event;
    rig_no_event(pair->rig);
    assert_false(cw_client_next(pair->client, &event));
}

static void open_pair(struct pair *pair)
{
    const struct cw_message_type types[] = {note_type, CW_REQUEST_TYPES(twice)};
    const struct cw_schema_config schema = {.types = types, .count = 4};
    struct message_rig *messages = &pair->messages;
    messages->schema = schema_with(&schema);
    messages->connection = cw_connection_config_default(messages->schema);
    rig_init(&messages->rig);
    messages->rig.config.max_clients = 1;
    messages->rig.connection = &messages->connection;
    rig_start(&messages->rig);
    pair->rig = &messages->rig;
    pair->client = message_rig_client(messages, 1, &messages->connection);
    pair->at = rig_client_address(0);
    assert_int_equal(rig_connect(pair->rig, pair->client, &pair->at), 0);
}

static uint32_t ask(struct cw_connection *at, uint32_t channel, uint32_t number, double now)
{
    uint32_t request = 0;
    struct cw_message *message;
    assert_ok(cw_connection_create_message(at, TWICE, &message));
    ((struct twice *)message->data)->number = number;
    assert_ok(cw_connection_request(at, channel, message, 60, now, &request));
    return request;
}

static enum cw_error answer(struct cw_connection *at, uint32_t request, struct cw_message *question,
                            double now)
{
    struct cw_message *message;
    assert_ok(cw_connection_create_message(at, TWICE_ANSWER, &message));
    ((struct twice_answer *)message->data)->doubled = 2 * ((struct twice *)question->data)->number;
    const enum cw_error error = cw_connection_answer(at, request, message, now);
    if (error != CW_OK)
        cw_message_release(message);
    cw_message_release(question);
    return error;
}

static uint32_t doubled(struct cw_message *message)
{
    const uint32_t number = ((struct twice_answer *)message->data)->doubled;
    cw_message_release(message);
    return number;
}

TEST(both_ends_ask_and_answer)
{
    struct pair pair;
    open_pair(&pair);
    struct rig *rig = pair.rig;
    for (uint32_t channel = RELIABLE; channel <= UNRELIABLE; channel++) {
        const uint32_t one = ask(ours(&pair), channel, 21, rig->now);
        const uint32_t other = ask(theirs(&pair), channel, 4, rig->now);
        tick(&pair, 2);
        const struct cw_server_event up = told_server(&pair, CW_SERVER_EVENT_REQUEST);
        const struct cw_client_event down = told_client(&pair, CW_CLIENT_EVENT_REQUEST);
        assert_int_equal(up.channel, channel);
        assert_ok(answer(theirs(&pair), up.request, up.message, rig->now));
        assert_ok(answer(ours(&pair), down.request, down.message, rig->now));
        tick(&pair, 2);
        const struct cw_client_event first = told_client(&pair, CW_CLIENT_EVENT_ANSWER);
        const struct cw_server_event second = told_server(&pair, CW_SERVER_EVENT_ANSWER);
        assert_int_equal(first.request, one);
        assert_int_equal(second.request, other);
        assert_int_equal(doubled(first.message), 42);
        assert_int_equal(doubled(second.message), 8);
        told_nothing(&pair);
    }
}

TEST(who_refuses_tells_why)
{
    struct pair pair;
    open_pair(&pair);
    struct rig *rig = pair.rig;
    const uint32_t one = ask(ours(&pair), RELIABLE, 1, rig->now);
    const uint32_t other = ask(theirs(&pair), UNRELIABLE, 1, rig->now);
    tick(&pair, 2);
    const struct cw_server_event up = told_server(&pair, CW_SERVER_EVENT_REQUEST);
    const struct cw_client_event down = told_client(&pair, CW_CLIENT_EVENT_REQUEST);
    assert_ok(cw_connection_refuse(theirs(&pair), up.request, 403, rig->now));
    assert_ok(cw_connection_refuse(ours(&pair), down.request, 404, rig->now));
    cw_message_release(up.message);
    cw_message_release(down.message);
    tick(&pair, 2);
    const struct cw_client_event first = told_client(&pair, CW_CLIENT_EVENT_UNANSWERED);
    const struct cw_server_event second = told_server(&pair, CW_SERVER_EVENT_UNANSWERED);
    assert_int_equal(first.request, one);
    assert_int_equal(first.unanswered, CW_UNANSWERED_REFUSED);
    assert_int_equal(first.code, 403);
    assert_int_equal(second.request, other);
    assert_int_equal(second.unanswered, CW_UNANSWERED_REFUSED);
    assert_int_equal(second.code, 404);
}

/* Checks that each end is told first that its question was not answered, and then of the end. */
static void expect_the_end(struct pair *pair, uint32_t one, uint32_t other)
{
    const struct cw_client_event first = told_client(pair, CW_CLIENT_EVENT_UNANSWERED);
    assert_int_equal(first.request, one);
    assert_int_equal(first.unanswered, CW_UNANSWERED_CLOSED);
    assert_int_equal(first.code, 0);
    (void)told_client(pair, CW_CLIENT_EVENT_DISCONNECTED);
    const struct cw_server_event second = told_server(pair, CW_SERVER_EVENT_UNANSWERED);
    assert_int_equal(second.request, other);
    assert_int_equal(second.unanswered, CW_UNANSWERED_CLOSED);
    (void)told_server(pair, CW_SERVER_EVENT_DISCONNECTED);
    told_nothing(pair);
}

/* Both ends have asked, and have the other's question, when the connection ends. */
static void open_questions(struct pair *pair, uint32_t channel, uint32_t numbers[2])
{
    open_pair(pair);
    numbers[0] = ask(ours(pair), channel, 1, pair->rig->now);
    numbers[1] = ask(theirs(pair), channel, 1, pair->rig->now);
    tick(pair, 2);
    cw_message_release(told_server(pair, CW_SERVER_EVENT_REQUEST).message);
    cw_message_release(told_client(pair, CW_CLIENT_EVENT_REQUEST).message);
}

TEST(open_questions_end_with_the_connection)
{
    for (uint32_t channel = RELIABLE; channel <= UNRELIABLE; channel++) {
        struct pair pair;
        uint32_t numbers[2];
        open_questions(&pair, channel, numbers);
        cw_client_disconnect(pair.client);
        tick(&pair, 2);
        expect_the_end(&pair, numbers[0], numbers[1]);

        open_questions(&pair, channel, numbers);
        cw_server_disconnect(pair.rig->server, 0, 7, "enough");
        tick(&pair, 2);
        expect_the_end(&pair, numbers[0], numbers[1]);

        /* Nothing comes any more, and both ends give up long before the answer is due. */
        open_questions(&pair, channel, numbers);
        pair.rig->now += 30;
        cw_client_update(pair.client, pair.rig->now);
        cw_server_update(pair.rig->server, pair.rig->now);
        expect_the_end(&pair, numbers[0], numbers[1]);
    }
}

TEST(an_answer_that_has_arrived_comes_before_the_end)
{
    struct pair pair;
    open_pair(&pair);
    const uint32_t request = ask(theirs(&pair), RELIABLE, 3, pair.rig->now);
    tick(&pair, 2);
    const struct cw_client_event event = told_client(&pair, CW_CLIENT_EVENT_REQUEST);
    assert_ok(answer(ours(&pair), event.request, event.message, pair.rig->now));
    tick(&pair, 2);
    cw_client_disconnect(pair.client);
    rig_up(pair.rig, pair.client, &pair.at);
    const struct cw_server_event answered = told_server(&pair, CW_SERVER_EVENT_ANSWER);
    assert_int_equal(answered.request, request);
    assert_int_equal(doubled(answered.message), 6);
    (void)told_server(&pair, CW_SERVER_EVENT_DISCONNECTED);
}

TEST(nothing_is_left_for_the_next_connection)
{
    struct pair pair;
    open_pair(&pair);
    struct rig *rig = pair.rig;
    for (uint32_t i = 0; i < 32; i++)
        (void)ask(ours(&pair), i % 2, 1 + i, rig->now);
    tick(&pair, 4);
    struct cw_server_event old = {0}, event;
    while (cw_server_next(rig->server, &event)) {
        old = event;
        cw_message_release(event.message);
    }
    assert_int_equal(old.type, CW_SERVER_EVENT_REQUEST);
    cw_client_disconnect(pair.client);
    tick(&pair, 2);
    (void)told_server(&pair, CW_SERVER_EVENT_DISCONNECTED);
    struct cw_client_event own;
    uint32_t unanswered = 0;
    while (cw_client_next(pair.client, &own))
        unanswered += own.type == CW_CLIENT_EVENT_UNANSWERED;
    assert_int_equal(unanswered, 32);

    uint32_t number;
    struct cw_message *message;
    assert_ok(cw_connection_create_message(ours(&pair), TWICE, &message));
    ((struct twice *)message->data)->number = 1;
    assert_int_equal(cw_connection_request(ours(&pair), RELIABLE, message, 5, rig->now, &number),
                     CW_ERROR_NOT_CONNECTED);
    cw_message_release(message);

    pair.client = message_rig_client(&pair.messages, 2, &pair.messages.connection);
    assert_int_equal(rig_connect(rig, pair.client, &pair.at), 0);
    assert_int_equal(cw_connection_refuse(theirs(&pair), old.request, 0, rig->now),
                     CW_ERROR_NOT_ASKED);
    for (uint32_t i = 0; i < 32; i++)
        (void)ask(ours(&pair), i % 2, 1 + i, rig->now);
    tick(&pair, 4);
    for (uint32_t i = 0; i < 32; i++)
        cw_message_release(told_server(&pair, CW_SERVER_EVENT_REQUEST).message);
}

TEST(a_page_declares_the_same)
{
    struct pair pair;
    open_pair(&pair);
    assert_true(cw_connection_fingerprint(&pair.messages.connection) == FINGERPRINT);
}
