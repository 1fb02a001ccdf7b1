#include "process/worker.h"

#include "os/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The supervisor has this many microseconds to answer, or to take a message. Everything else waits
   no longer than that. */
#define ANSWER_MICROSECONDS 200000

/* Seconds after which the worker brings its counters up to date again. */
#define COUNT_SECONDS 1.0

/* The most messages of the supervisor that are read in one turn of the loop. */
#define MESSAGES_MAX 64

static bool publish(void *context, const struct session_state *state, int fd)
{
    const struct worker *worker = context;
    directory_filter_add(&worker->filter, state->hash);
    if (message_send(worker->watch.fd, MESSAGE_PUBLISH, state, sizeof *state, fd))
        return true;
    directory_filter_remove(&worker->filter, state->hash);
    return false;
}

static bool may_contain(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    const struct worker *worker = context;
    return worker->is_asking || directory_filter_may_contain(&worker->filter, hash);
}

static void decline(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    const struct worker *worker = context;
    message_send(worker->watch.fd, MESSAGE_DECLINE, hash, SESSION_HASH_SIZE, -1);
}

static void set_away(void *context, const uint8_t hash[SESSION_HASH_SIZE], bool away)
{
    const struct worker *worker = context;
    message_send(worker->watch.fd, away ? MESSAGE_AWAY : MESSAGE_BACK, hash, SESSION_HASH_SIZE, -1);
}

static void withdraw(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    const struct worker *worker = context;
    message_send(worker->watch.fd, MESSAGE_WITHDRAW, hash, SESSION_HASH_SIZE, -1);
}

static bool write_page(int fd, unsigned first, const struct session_summary *page, unsigned count)
{
    const size_t size = count * sizeof *page;
    return pwrite(fd, page, size, (off_t)(first * sizeof *page)) == (ssize_t)size;
}

/* Carries out a command, and takes over the message's descriptor. */
static void carry_out(struct worker *worker, const struct message *message)
{
    struct command_message asked;
    if (message->size == sizeof asked) {
        memcpy(&asked, message->data, sizeof asked);
        struct command_reply reply = {.ticket = asked.ticket};
        struct session_summary *page = calloc(asked.command.limit + 1, sizeof *page);
        if (page)
            reply.result = command_run(worker->config.sessions, &asked.command, page);
        if (command_has_page(&asked.command))
            reply.result.done =
                page && write_page(message->fd, asked.first, page, reply.result.count);
        free(page);
        message_send(worker->watch.fd, MESSAGE_RESULT, &reply, sizeof reply, -1);
    }
    if (message->fd >= 0)
        close(message->fd);
}

void worker_end_other_rtc(void *context, unsigned other, const char *name)
{
    const struct worker *worker = context;
    struct close_rtc_message message = {.worker = other};
    const size_t size = strlen(name);
    if (size >= sizeof message.name)
        return; /* no name is that long */
    memcpy(message.name, name, size);
    message_send(worker->watch.fd, MESSAGE_CLOSE_RTC, &message, sizeof message, -1);
}

static void end_rtc(struct worker *worker, const struct message *message)
{
    struct close_rtc_message end;
    if (message->size != sizeof end)
        return;
    memcpy(&end, message->data, sizeof end);
    webrtc_end(worker->config.webrtc, end.name);
}

/* Returns whether a message answers the question for the session of this hash. */
static bool answers(const struct message *message, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct session_state state;
    if (message->type == MESSAGE_SESSION)
        return session_state_read(message->data, message->size, &state) &&
               memcmp(state.hash, hash, SESSION_HASH_SIZE) == 0;
    return message->type == MESSAGE_UNKNOWN && message->size == SESSION_HASH_SIZE &&
           memcmp(message->data, hash, SESSION_HASH_SIZE) == 0;
}

static void obey(struct worker *worker, const struct message *message)
{
    switch (message->type) {
    case MESSAGE_SESSION:
    case MESSAGE_CERTIFICATES:
        worker->config.adopt(worker->config.context, message);
        break;
    case MESSAGE_RELEASE:
        if (message->size == SESSION_HASH_SIZE)
            sessions_release(worker->config.sessions, message->data);
        break;
    case MESSAGE_COUNT:
        worker->config.count(worker->config.context);
        message_send(worker->watch.fd, MESSAGE_COUNTED, NULL, 0, -1);
        break;
    case MESSAGE_CLOSE_RTC:
        end_rtc(worker, message);
        break;
    case MESSAGE_COMMAND:
        carry_out(worker, message);
        break;
    case MESSAGE_RELOAD:
        if (worker->options >= 0)
            close(worker->options);
        worker->options = message->fd;
        raise(SIGHUP); /* a signal, so as not to change options that are in use */
        break;
    case MESSAGE_REPLACED:
        worker->replaced = true;
        worker->config.leave(worker->config.context);
        break;
    default:
        break;
    }
    if (worker->is_asking && answers(message, worker->asked))
        worker->is_asking = false;
}

/* Asks the supervisor for a session, and waits for the answer, because the link's first datagram
   must find its session. The wait is a tenth of a millisecond when the supervisor runs. Returns
   false when the answer does not come in time: it comes to on_message later. Nothing else is asked
   before, because a late answer may no longer be true when the next question is asked. */
static bool lookup(void *context, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct worker *worker = context;
    struct message message;
    if (worker->is_asking)
        return false;
    worker->config.stats->sessions_asked++;
    if (!message_send(worker->watch.fd, MESSAGE_LOOKUP, hash, SESSION_HASH_SIZE, -1))
        return false;
    worker->is_asking = true;
    memcpy(worker->asked, hash, SESSION_HASH_SIZE);
    while (worker->is_asking &&
           message_receive(worker->watch.fd, &message, true) == MESSAGE_RECEIVED)
        obey(worker, &message);
    return !worker->is_asking;
}

static void on_message(void *context, unsigned events)
{
    (void)events;
    struct worker *worker = context;
    struct message message;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        switch (message_receive(worker->watch.fd, &message, false)) {
        case MESSAGE_RECEIVED:
            obey(worker, &message);
            break;
        case MESSAGE_NONE:
            return;
        case MESSAGE_ENDED:
            log_error("the supervisor has gone");
            loop_remove(worker->config.loop, &worker->watch);
            close(worker->watch.fd);
            worker->watch.fd = -1;
            raise(SIGINT); /* it comes through the signals that the loop watches */
            return;
        }
    }
}

bool worker_obey(struct worker *worker)
{
    if (worker->watch.fd >= 0)
        on_message(worker, LOOP_READABLE);
    return !worker->replaced;
}

static void on_count(void *context)
{
    struct worker *worker = context;
    worker->config.count(worker->config.context);
    loop_timer_start(worker->config.loop, &worker->timer, COUNT_SECONDS);
}

void worker_init(struct worker *worker)
{
    *worker = (struct worker){.watch.fd = -1, .options = -1};
}

bool worker_start(struct worker *worker, const struct worker_config *config,
                  struct startup *startup)
{
    const struct session_directory directory = {publish,     set_away, withdraw, decline,
                                                may_contain, lookup,   worker};
    const struct timeval timeout = {.tv_usec = ANSWER_MICROSECONDS};
    const int channel = startup->channel;
    worker->config = *config;
    worker->watch = (struct loop_watch){.fd = channel, .ready = on_message, .context = worker};
    startup->channel = -1;
    setsockopt(channel, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (!directory_filter_open(&worker->filter, startup->filter)) {
        log_error("no memory for the directory: %s", strerror(errno));
        return false;
    }
    if (!loop_add(config->loop, &worker->watch, LOOP_READABLE)) {
        log_error("cannot set up the event loop: %s", strerror(errno));
        return false;
    }
    sessions_set_directory(config->sessions, &directory);
    worker->timer.expired = on_count;
    worker->timer.context = worker;
    on_count(worker);
    return true;
}

int worker_take_options(struct worker *worker)
{
    const int options = worker->options;
    worker->options = -1;
    return options;
}

void worker_close(struct worker *worker)
{
    directory_filter_close(&worker->filter);
    loop_timer_stop(&worker->timer);
    if (worker->options >= 0)
        close(worker->options);
    if (worker->watch.fd >= 0)
        close(worker->watch.fd);
    worker_init(worker);
}
