/* A session goes from one process to another: here one process plays both, and the game server is a
   real socket. */
#include "loop_rig.h"

#include "process/message.h"
#include "session/session.h"
#include "stats/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY "AZaz09-_AZaz09-_AZaz09"

/* A process of the relay. */
struct process {
    struct stats stats;
    struct upstreams *upstreams;
    struct sessions *sessions;
    struct session_link link;
    const struct session_farewell *farewell; /* why a link was closed */
    char got[64];                            /* the bytes that the browser got */
};

struct rig {
    struct loop *loop;
    int server;
    struct sockaddr_in player; /* the player's address as the server sees it */
    struct process old;
    struct process new;
};

static struct rig *ends_when_got;

static struct process *process_of(struct session_link *link)
{
    return lws_container_of(link, struct process, link);
}

static bool is_ready(const struct session_link *link)
{
    (void)link;
    return true;
}

static void hear(struct session_link *link, const struct datagram *datagrams, size_t count)
{
    struct process *process = process_of(link);
    const struct datagram *last = &datagrams[count - 1];
    memcpy(process->got, last->data, last->size);
    process->got[last->size] = '\0';
    loop_stop(ends_when_got->loop);
}

static void close_link(struct session_link *link, const struct session_farewell *farewell,
                       bool at_once)
{
    (void)at_once;
    process_of(link)->farewell = farewell;
}

static double rtt_of(const struct session_link *link)
{
    (void)link;
    return 0.02;
}

static const struct transport transport = {
    "test", is_ready, hear, close_link, rtt_of,
};

static void start_process(struct rig *rig, struct process *process, const uint8_t *secret,
                          unsigned max_sessions)
{
    struct sessions_config config = {
        .gate = {.raw = true},
        .max_sessions = max_sessions,
        .request_timeout_seconds = 100.0,
        .answer_timeout_seconds = 100.0,
        .resume_seconds = 100.0,
        .secret = secret,
    };
    struct socket_address server = {.size = sizeof(struct sockaddr_in)};
    char text[SOCKET_ADDRESS_TEXT];
    struct upstream_list list = {.count = 0};
    const struct upstream_rule *unknown;
    const char *error;
    getsockname(rig->server, &server.address.any, &server.size);
    socket_address_format(&server, text);
    assert_true(upstream_list_add(&list, text));
    process->upstreams = upstreams_create(&list, rig->loop, &unknown, &error);
    config.upstreams = process->upstreams;
    process->sessions = sessions_create(&config, rig->loop, &process->stats);
    assert_non_null(process->sessions);
}

static void open_link(struct process *process, const char *key)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xcb007107)};
    struct link_request request = {.client = {.size = sizeof address}};
    memcpy(&request.client.address, &address, sizeof address);
    session_identify(process->sessions, key, "", &request);
    assert_int_equal(session_link_open(process->sessions, &process->link, &transport, &request),
                     SESSION_REFUSED_NOT);
}

static void say(struct process *process, const char *text)
{
    assert_true(session_receive(process->link.session, (const uint8_t *)text, strlen(text)));
}

static void server_hears(struct rig *rig, const char *text)
{
    char got[64];
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    const ssize_t length =
        recvfrom(rig->server, got, sizeof got, 0, (struct sockaddr *)&from, &size);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(got, text, strlen(text));
    if (rig->player.sin_port == 0)
        rig->player = from;
    assert_int_equal(from.sin_port, rig->player.sin_port);
}

static void server_says(struct rig *rig, const char *text)
{
    assert_true(sendto(rig->server, text, strlen(text), 0, (struct sockaddr *)&rig->player,
                       sizeof rig->player) > 0);
}

/* Runs the loop until a browser has got this text. */
static void browser_hears(struct rig *rig, struct process *process, const char *text)
{
    ends_when_got = rig;
    loop_run(rig->loop, NULL, NULL);
    assert_string_equal(process->got, text);
}

/* The questions and reports of a process to the others. */
struct directory {
    unsigned published;
    bool away;
    unsigned forgotten;
    unsigned declined;
    unsigned asked;
    bool busy;
    bool ignorant;
    bool silent;
};

static bool on_publish(void *context, const struct session_state *session, int fd)
{
    (void)session;
    assert_true(fd >= 0);
    struct directory *directory = context;
    directory->published += !directory->busy;
    return !directory->busy;
}

static void on_set_away(void *context, const uint8_t hash[SESSION_HASH_SIZE], bool away)
{
    (void)hash;
    ((struct directory *)context)->away = away;
}

static void on_decline(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    (void)hash;
    ((struct directory *)context)->declined++;
}

static bool on_may_contain(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    (void)hash;
    return !((struct directory *)context)->ignorant;
}

static void on_withdraw(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    (void)hash;
    ((struct directory *)context)->forgotten++;
}

static bool on_lookup(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    (void)hash;
    struct directory *directory = context;
    directory->asked++;
    return !directory->silent;
}

static void set_directory(struct process *process, struct directory *directory)
{
    if (!directory)
        return;
    const struct session_directory calls = {on_publish,     on_set_away, on_withdraw, on_decline,
                                            on_may_contain, on_lookup,   directory};
    sessions_set_directory(process->sessions, &calls);
}

static void on_drained(void *context)
{
    *(bool *)context = true;
}

static void tear_down(void *object)
{
    struct rig *rig = object;
    bool drained;
    sessions_drain(rig->new.sessions, SESSION_END_DRAIN, on_drained, &drained);
    sessions_end_all(rig->new.sessions);
    session_link_close(&rig->old.link, SESSION_LINK_CLOSED);
    session_link_close(&rig->new.link, SESSION_LINK_CLOSED);
    assert_int_equal(sessions_count(rig->old.sessions), 0);
    assert_int_equal(sessions_count(rig->new.sessions), 0);
    sessions_destroy(rig->old.sessions);
    sessions_destroy(rig->new.sessions);
    upstreams_destroy(rig->old.upstreams);
    upstreams_destroy(rig->new.upstreams);
    close(rig->server);
    loop_destroy(rig->loop);
    free(rig);
}

/* Makes a rig with a player of the old process whom the game server has not answered yet. The new
   process asks the directory, when there is one. */
static struct rig *set_up(struct directory *of_old, struct directory *of_new)
{
    struct rig *rig = calloc(1, sizeof *rig);
    rig->loop = loop_rig();
    rig->server = loop_rig_server();
    start_process(rig, &rig->old, NULL, 10);
    start_process(rig, &rig->new, sessions_secret(rig->old.sessions), 2);
    own(rig, tear_down);
    set_directory(&rig->old, of_old);
    set_directory(&rig->new, of_new);
    open_link(&rig->old, KEY);
    say(&rig->old, "hello");
    server_hears(rig, "hello");
    return rig;
}

static void server_answers(struct rig *rig)
{
    server_says(rig, "welcome");
    browser_hears(rig, &rig->old, "welcome");
}

static struct rig *set_up_answered(struct directory *of_old, struct directory *of_new)
{
    struct rig *rig = set_up(of_old, of_new);
    server_answers(rig);
    return rig;
}

static bool take(void *context, const struct session_state *session, int fd)
{
    return message_send(*(int *)context, MESSAGE_SESSION, session, sizeof *session, fd);
}

/* Sends the one session of a process, and receives it from a socket. */
static void send_session(struct process *process, struct message *out)
{
    int pair[2];
    assert_true(message_pair(pair));
    assert_true(sessions_export(process->sessions, take, &pair[0]));
    close(pair[0]);
    assert_int_equal(message_receive(pair[1], out, true), MESSAGE_RECEIVED);
    assert_int_equal(out->type, MESSAGE_SESSION);
    assert_true(out->fd >= 0);
    assert_int_equal(fcntl(out->fd, F_GETFD), FD_CLOEXEC);
    struct message none;
    assert_int_equal(message_receive(pair[1], &none, true), MESSAGE_ENDED);
    close(pair[1]);
}

TEST(a_session_goes_on_in_another_process)
{
    struct message carried;
    bool drained = false;
    struct rig *rig = set_up_answered(NULL, NULL);

    send_session(&rig->old, &carried);
    assert_true(sessions_adopt(rig->new.sessions, carried.data, carried.size, carried.fd));
    assert_int_equal(rig->new.stats.sessions_adopted, 1);
    server_says(rig, "meanwhile"); /* this waits for the new process */
    sessions_drain(rig->old.sessions, SESSION_END_RESTART, on_drained, &drained);
    sessions_end_all(rig->old.sessions);
    assert_int_equal(rig->old.farewell->code, 1012);
    session_link_close(&rig->old.link, SESSION_LINK_LOST);
    assert_true(drained);
    assert_int_equal(rig->old.stats.sessions_ended_restart, 1);
    assert_int_equal(rig->old.stats.dropped_closing, 0);

    open_link(&rig->new, KEY);
    assert_int_equal(rig->new.stats.sessions_resumed, 1);
    browser_hears(rig, &rig->new, "meanwhile");
    say(&rig->new, "again");
    server_hears(rig, "again");
}

TEST(what_nobody_answered_does_not_travel)
{
    int pair[2];
    struct message message;
    struct rig *rig = set_up(NULL, NULL);
    assert_true(message_pair(pair));
    assert_true(sessions_export(rig->old.sessions, take, &pair[0]));
    assert_int_equal(message_receive(pair[1], &message, false), MESSAGE_NONE);
    close(pair[0]);
    close(pair[1]);
}

static void refuse(struct rig *rig, const void *data, size_t size, int fd)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    assert_false(sessions_adopt(rig->new.sessions, data, size, copy));
    assert_int_equal(fcntl(copy, F_GETFD), -1); /* the descriptor is closed */
    assert_int_equal(sessions_count(rig->new.sessions), 0);
}

TEST(states_that_it_cannot_read_are_refused)
{
    struct message good;
    struct session_state bad;
    struct rig *rig = set_up_answered(NULL, NULL);
    send_session(&rig->old, &good);

    for (size_t size = 0; size < good.size; size++)
        refuse(rig, good.data, size, good.fd);
    refuse(rig, good.data, good.size + 1, good.fd);
    memcpy(&bad, good.data, sizeof bad);
    bad.opened = INFINITY;
    refuse(rig, &bad, sizeof bad, good.fd);
    memcpy(&bad, good.data, sizeof bad);
    bad.active = NAN;
    refuse(rig, &bad, sizeof bad, good.fd);
    memcpy(&bad, good.data, sizeof bad);
    bad.packets.level = NAN;
    refuse(rig, &bad, sizeof bad, good.fd);
    memcpy(&bad, good.data, sizeof bad);
    bad.header.size = sizeof bad.header.bytes + 1;
    refuse(rig, &bad, sizeof bad, good.fd);
    assert_false(sessions_adopt(rig->new.sessions, good.data, good.size, -1));

    /* The second of two messages for the same session is refused. */
    assert_true(sessions_adopt(rig->new.sessions, good.data, good.size, dup(good.fd)));
    assert_false(sessions_adopt(rig->new.sessions, good.data, good.size, dup(good.fd)));
    assert_int_equal(sessions_count(rig->new.sessions), 1);
    close(good.fd);
}

TEST(a_process_that_is_full_takes_no_more)
{
    struct message carried;
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){0};
    struct rig *rig = set_up_answered(NULL, &directory);
    send_session(&rig->old, &carried);
    for (int i = 0; i < 3; i++) {
        carried.data[8] ^= (uint8_t)(i + 1); /* each is another hash */
        assert_int_equal(
            sessions_adopt(rig->new.sessions, carried.data, carried.size, dup(carried.fd)), i < 2);
    }
    assert_int_equal(sessions_count(rig->new.sessions), 2);
    assert_int_equal(directory.declined, 1);
    close(carried.fd);
}

/* Otherwise the supervisor would for ever think that this process has the session. */
TEST(a_process_without_descriptors_gives_a_session_back)
{
    struct message carried;
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){0};
    struct rig *rig = set_up_answered(NULL, &directory);
    send_session(&rig->old, &carried);
    assert_false(sessions_adopt(rig->new.sessions, carried.data, carried.size, -1));
    assert_int_equal(sessions_count(rig->new.sessions), 0);
    assert_int_equal(directory.declined, 1);
    close(carried.fd);
}

TEST(others_hear_of_sessions_that_were_answered)
{
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){0};
    struct rig *rig = set_up_answered(&directory, NULL);
    assert_int_equal(directory.published, 1);
    server_says(rig, "again");
    browser_hears(rig, &rig->old, "again");
    assert_int_equal(directory.published, 1);
    session_link_close(&rig->old.link, SESSION_LINK_CLOSED);
    assert_int_equal(directory.forgotten, 1);

    /* Another process goes on with the next link. */
    open_link(&rig->old, KEY);
    rig->player.sin_port = 0;
    say(&rig->old, "hello");
    server_hears(rig, "hello");
    server_answers(rig);
    struct link_request request = {.client.size = 0};
    session_identify(rig->old.sessions, KEY, "", &request);
    sessions_release(rig->old.sessions, request.hash.bytes);
    assert_int_equal(rig->old.farewell->code, 4003);
    assert_int_equal(directory.published, 2);
    assert_int_equal(directory.forgotten, 1);
}

static bool is_away(struct process *process)
{
    struct message message;
    struct session_state carried;
    send_session(process, &message);
    close(message.fd);
    assert_true(session_state_read(message.data, message.size, &carried));
    return carried.away;
}

/* The page has little time to come back, in any process. */
TEST(a_page_that_may_be_gone_may_be_so_elsewhere)
{
    struct message carried;
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){0};
    struct rig *rig = set_up_answered(&directory, &directory);
    assert_false(is_away(&rig->old));
    session_link_close(&rig->old.link, SESSION_LINK_AWAY);
    assert_true(directory.away);
    send_session(&rig->old, &carried);
    assert_true(sessions_adopt(rig->new.sessions, carried.data, carried.size, carried.fd));
    sessions_release(rig->old.sessions, carried.data + offsetof(struct session_state, hash));

    /* The next link alone does not show that the page is there. */
    open_link(&rig->new, KEY);
    assert_true(is_away(&rig->new));
    assert_true(directory.away);
    say(&rig->new, "again");
    assert_false(is_away(&rig->new));
    assert_false(directory.away);
}

/* Strangers can open links with keys of their own as fast as they like. */
TEST(questions_are_few)
{
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){0};
    struct rig *rig = set_up(NULL, &directory);
    open_link(&rig->new, KEY);
    assert_int_equal(directory.asked, 1);
    session_link_close(&rig->new.link, SESSION_LINK_CLOSED);
    open_link(&rig->new, ""); /* this one has no key */
    assert_int_equal(directory.asked, 1);
    session_link_close(&rig->new.link, SESSION_LINK_CLOSED);
    const double began = loop_now();
    for (int i = 0; i < 20000; i++) {
        open_link(&rig->new, KEY);
        session_link_close(&rig->new.link, SESSION_LINK_CLOSED);
    }
    assert_true(directory.asked <= 4001.0 + 1000.0 * (loop_now() - began));

    /* Hashes that the directory does not have use up no questions. */
    directory.asked = 0;
    directory.ignorant = true;
    open_link(&rig->new, KEY);
    assert_int_equal(directory.asked, 0);
}

TEST(what_others_were_too_busy_for_they_hear_later)
{
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){.busy = true};
    struct rig *rig = set_up_answered(&directory, NULL);
    directory.busy = false;
    session_link_close(&rig->old.link, SESSION_LINK_LOST);
    assert_int_equal(directory.published, 1);
    open_link(&rig->old, KEY);
    session_link_close(&rig->old.link, SESSION_LINK_CLOSED);
    assert_int_equal(directory.published, 1);
    assert_int_equal(directory.forgotten, 1);
}

/* The answer came so late that the link has begun another. */
TEST(a_session_that_comes_late_takes_its_place)
{
    struct message carried;
    struct rig *rig = set_up_answered(NULL, NULL);
    send_session(&rig->old, &carried);
    open_link(&rig->new, KEY);
    assert_true(sessions_adopt(rig->new.sessions, carried.data, carried.size, carried.fd));
    assert_int_equal(rig->new.farewell->code, 1012); /* the page is to come back at once */
    session_link_close(&rig->new.link, SESSION_LINK_LOST);
    open_link(&rig->new, KEY);
    say(&rig->new, "again");
    server_hears(rig, "again");
}

/* While the directory does not answer, another process may have the session, and a datagram from
   here would reach the game server from a second port. */
TEST(a_session_that_may_be_elsewhere_sends_nothing)
{
    static struct directory directory; /* the sessions still call it when they are released */
    directory = (struct directory){.silent = true};
    struct rig *rig = set_up(NULL, &directory);
    open_link(&rig->new, KEY);
    assert_false(session_receive(rig->new.link.session, (const uint8_t *)"early", 5));
    assert_int_equal(rig->new.stats.dropped_unanswered, 1);
    assert_int_equal(recv(rig->server, NULL, 0, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_null(rig->new.farewell);
    directory.silent = false;
    rig->player.sin_port = 0; /* no other process has it after all */
    say(&rig->new, "later");
    server_hears(rig, "later");
}
