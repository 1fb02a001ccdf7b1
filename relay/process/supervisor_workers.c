#include "os/log.h"
#include "process/message.h"
#include "process/supervisor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A worker has this many seconds to open everything. Nothing is served meanwhile. */
#define START_SECONDS 30

/* Seconds before a worker that has died is started again: at first, and at most while it dies soon,
   that is, in less than SOON_SECONDS. */
#define PAUSE_SECONDS      0.1
#define PAUSE_MOST_SECONDS 5.0
#define SOON_SECONDS       10.0

/* The workers have this many seconds to bring their counters up to date. */
#define COUNT_SECONDS 1.0

/* The most messages of a worker that are read in one turn of the loop: more than its channel holds,
   of which each takes 512 bytes or more of the 208 KiB that Linux gives a socket. */
#define MESSAGES_MAX 512

/* Sends a message without waiting, because a worker that does not read must not delay the others.
 */
static bool send_message(const struct worker_process *worker, enum message_type type,
                         const void *data, size_t size, int fd)
{
    return worker->child.pid != 0 && message_send(worker->child.channel, type, data, size, fd);
}

static void on_expiry(void *context)
{
    supervisor_expire(context);
}

void supervisor_expire(struct supervisor *supervisor)
{
    const double now = loop_now();
    const double next = directory_expire(&supervisor->directory, now);
    supervisor->expiry.expired = on_expiry;
    supervisor->expiry.context = supervisor;
    if (next < INFINITY)
        loop_timer_start(supervisor->loop, &supervisor->expiry, next - now);
}

/* Sends a message with a copy of the file of options, if there is one and the system has a
   descriptor for it. Returns false when the worker does not take the message. */
static bool send_options(const struct worker_process *worker, enum message_type type,
                         const struct options *options)
{
    const int copy = options_copy_file(options);
    const bool sent = send_message(worker, type, NULL, 0, copy);
    if (copy >= 0)
        close(copy);
    return sent;
}

/* Starts a worker. Its channel keeps nobody waiting, once it serves. It starts with the options of
   the others, though their file may have changed since. */
static bool spawn(struct worker_process *worker)
{
    struct supervisor *supervisor = worker->supervisor;
    bool sent = child_start(&worker->child, CHILD_SAME, supervisor->options->argv);
    if (!sent) {
        log_error("cannot start worker %u: %s", worker->number, strerror(errno));
        return false;
    }
    worker->started = loop_now();
    worker->serving = false;
    const int channel = worker->child.channel;
    sent = startup_send_hello(channel, session_index_secret(supervisor->directory.index),
                              worker->number, supervisor->count) &&
           message_send(channel, MESSAGE_COUNTERS, NULL, 0, worker->counters_fd) &&
           message_send(channel, MESSAGE_FILTER, NULL, 0, supervisor->directory.filter_fd) &&
           send_options(worker, MESSAGE_OPTIONS, supervisor->options);
    sent = sent && worker_sockets_send(&supervisor->sockets[worker->number - 1], channel);
    sent = sent && message_send(channel, MESSAGE_OPEN, NULL, 0, -1);
    return sent;
}

static void on_restart(void *context);
static void on_message(void *context, unsigned events);

static bool watch(struct worker_process *worker)
{
    worker->watch =
        (struct loop_watch){.fd = worker->child.channel, .ready = on_message, .context = worker};
    fcntl(worker->child.channel, F_SETFL, O_NONBLOCK);
    return loop_add(worker->supervisor->loop, &worker->watch, LOOP_READABLE);
}

static void start_later(struct worker_process *worker)
{
    const bool soon = loop_now() - worker->started < SOON_SECONDS;
    worker->pause = soon ? fmin(2.0 * worker->pause, PAUSE_MOST_SECONDS) : PAUSE_SECONDS;
    worker->restart.expired = on_restart;
    worker->restart.context = worker;
    loop_timer_start(worker->supervisor->loop, &worker->restart, worker->pause);
}

static void warn_of_options(const struct worker_process *worker)
{
    const struct options *options = worker->supervisor->options;
    struct options now;
    struct options_error error;
    if (options_load(options->argc, options->argv, -1, &now, &error))
        options_free(&now);
    else
        log_warn("worker %u gets the options that were read last: %s", worker->number, error.text);
}

static void on_restart(void *context)
{
    struct worker_process *worker = context;
    warn_of_options(worker);
    if (spawn(worker) && watch(worker))
        return;
    child_end(&worker->child);
    start_later(worker);
}

static bool is_counting(const struct supervisor *supervisor)
{
    for (unsigned i = 0; i < supervisor->count; i++) {
        if (supervisor->workers[i].is_counting)
            return true;
    }
    return false;
}

static void finish_count(struct supervisor *supervisor)
{
    if (is_counting(supervisor))
        return;
    loop_timer_stop(&supervisor->count_late);
    supervisor_log_stats(supervisor);
}

/* Logs the sums without waiting longer. The counters of a worker that hangs are those of the last
   second in which it did not. */
static void on_count_late(void *context)
{
    struct supervisor *supervisor = context;
    for (unsigned i = 0; i < supervisor->count; i++)
        supervisor->workers[i].is_counting = false;
    finish_count(supervisor);
}

void supervisor_count(struct supervisor *supervisor)
{
    if (is_counting(supervisor))
        return;
    for (unsigned i = 0; i < supervisor->count; i++) {
        struct worker_process *worker = &supervisor->workers[i];
        worker->is_counting = worker->serving && send_message(worker, MESSAGE_COUNT, NULL, 0, -1);
    }
    supervisor->count_late.expired = on_count_late;
    supervisor->count_late.context = supervisor;
    loop_timer_start(supervisor->loop, &supervisor->count_late, COUNT_SECONDS);
    finish_count(supervisor);
}

static void report_end(const struct worker_process *worker, int status)
{
    if (WIFSIGNALED(status))
        log_error("worker %u ended on signal %d: starting it again", worker->number,
                  WTERMSIG(status));
    else
        log_error("worker %u ended with %d: starting it again", worker->number,
                  WEXITSTATUS(status));
}

static void on_end(struct worker_process *worker)
{
    struct supervisor *supervisor = worker->supervisor;
    const bool counting = worker->is_counting;
    loop_remove(supervisor->loop, &worker->watch);
    const int status = child_end(&worker->child);
    worker->is_counting = false;
    worker->woken = 0;
    worker->is_asking = false;
    worker->serving = false;
    worker->counters->sessions_open = 0;
    worker->counters->gauges = (struct gauges){0};
    counters_add(&supervisor->past, worker->counters);
    memset(worker->counters, 0, sizeof *worker->counters);
    if (counting)
        finish_count(supervisor);
    pending_commands_forgo(&supervisor->commands, worker->number);
    if (supervisor->state != SUPERVISOR_SERVING) {
        if (!supervisor_has_workers(supervisor))
            loop_stop(supervisor->loop);
        return;
    }
    report_end(worker, status);
    directory_release_all(&supervisor->directory, worker->number,
                          loop_now() + supervisor_options(supervisor)->resume_seconds);
    supervisor_expire(supervisor);
    start_later(worker);
}

static void read_messages(struct worker_process *worker);

/* Sends a worker a message that decides who has a session. A worker that does not take it is
   killed: it would keep a session that another worker gets, or wait for its answer for ever. */
static void tell(const struct worker_process *worker, enum message_type type, const void *data,
                 size_t size, int fd)
{
    if (worker->child.pid == 0 || send_message(worker, type, data, size, fd))
        return;
    log_error("worker %u takes no messages any more: it is killed", worker->number);
    kill(worker->child.pid, SIGKILL);
}

/* Answers a worker that asks for a session. The worker that has it gives it up first. */
static void answer(struct worker_process *worker, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct supervisor *supervisor = worker->supervisor;
    struct directory_entry *found = directory_find(&supervisor->directory, hash);
    worker->is_asking = false;
    if (!found) {
        tell(worker, MESSAGE_UNKNOWN, hash, SESSION_HASH_SIZE, -1);
        return;
    }
    if (found->worker != DIRECTORY_NO_WORKER && found->worker != worker->number)
        tell(&supervisor->workers[found->worker - 1], MESSAGE_RELEASE, hash, SESSION_HASH_SIZE, -1);
    tell(worker, MESSAGE_SESSION, &found->state, sizeof found->state, found->fd);
    directory_assign(&supervisor->directory, found, worker->number);
}

/* Takes a question, and answers at once if the session is known. */
static void take_question(struct worker_process *worker, const uint8_t hash[SESSION_HASH_SIZE])
{
    memcpy(worker->asked, hash, SESSION_HASH_SIZE);
    worker->is_asking = true;
    if (directory_find(&worker->supervisor->directory, hash))
        answer(worker, hash);
    else
        worker->supervisor->is_asked = true;
}

/* Another worker may have published a session before it was asked for, and the message may still
   wait in the channel of that worker, behind a question of its own. So all channels are read after
   a question before the session counts as unknown. */
void supervisor_read_workers(struct supervisor *supervisor)
{
    do {
        supervisor->is_asked = false;
        for (unsigned i = 0; i < supervisor->count; i++) {
            if (supervisor->workers[i].serving)
                read_messages(&supervisor->workers[i]);
        }
    } while (supervisor->is_asked);
    for (unsigned i = 0; i < supervisor->count; i++) {
        if (supervisor->workers[i].is_asking)
            answer(&supervisor->workers[i], supervisor->workers[i].asked);
    }
}

/* Takes back a session for which a worker has no place: another worker may have one. */
static void take_back(struct worker_process *worker, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct supervisor *supervisor = worker->supervisor;
    struct directory_entry *found = directory_find(&supervisor->directory, hash);
    if (!found || found->worker != worker->number)
        return;
    directory_release(&supervisor->directory, found,
                      loop_now() + supervisor_options(supervisor)->resume_seconds);
    supervisor_expire(supervisor);
}

static void forget(struct worker_process *worker, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct directory *directory = &worker->supervisor->directory;
    struct directory_entry *found = directory_find(directory, hash);
    if (found && found->worker == worker->number)
        directory_remove(directory, found);
}

static void set_away(struct worker_process *worker, const uint8_t hash[SESSION_HASH_SIZE],
                     bool away)
{
    struct directory_entry *found = directory_find(&worker->supervisor->directory, hash);
    if (found && found->worker == worker->number)
        found->state.away = away;
}

static void keep(struct worker_process *worker, const struct message *message)
{
    struct supervisor *supervisor = worker->supervisor;
    unsigned suppressed;
    if (directory_put(&supervisor->directory, message->data, message->size, message->fd,
                      worker->number, INFINITY)) {
        if (!supervisor->liveness.loop)
            supervisor_look_after_workers(supervisor);
        return;
    }
    if (log_limit_pass(&supervisor->lost_limit, loop_now(), &suppressed))
        log_warn("a session cannot move to another worker, nor outlive its own: there is no place "
                 "for it, or no file descriptor%s",
                 log_suppressed(suppressed).text);
}

void supervisor_reload_worker(const struct worker_process *worker)
{
    const struct supervisor *supervisor = worker->supervisor;
    if (supervisor->reloaded.argv && worker->serving &&
        !send_options(worker, MESSAGE_RELOAD, &supervisor->reloaded))
        log_error("worker %u does not take the options", worker->number);
}

static bool send_certificates(const struct worker_process *worker)
{
    const struct tls *tls = worker->supervisor->tls;
    if (!tls)
        return true;
    const int copy = tls_copy(tls);
    const bool sent = copy >= 0 && send_message(worker, MESSAGE_CERTIFICATES, NULL, 0, copy);
    if (copy >= 0)
        close(copy);
    return sent;
}

void supervisor_share_certificates(void *context)
{
    const struct supervisor *supervisor = context;
    for (unsigned i = 0; i < supervisor->count; i++) {
        if (supervisor->workers[i].serving && !send_certificates(&supervisor->workers[i]))
            log_error("worker %u does not take the certificates", supervisor->workers[i].number);
    }
}

/* Lets a worker serve. It gets blocks and certificates first, and all other messages after this. */
static void let_serve(struct worker_process *worker)
{
    worker->serving = startup_send_blocks(worker->child.channel, &worker->supervisor->blocks) &&
                      send_certificates(worker) && send_message(worker, MESSAGE_START, NULL, 0, -1);
    if (!worker->serving)
        kill(worker->child.pid, SIGKILL); /* it would wait in vain for the start */
    supervisor_reload_worker(worker);
}

static void pass_on(struct supervisor *supervisor, const struct message *message)
{
    struct close_rtc_message end;
    if (message->size != sizeof end)
        return;
    memcpy(&end, message->data, sizeof end);
    if (end.worker >= 1 && end.worker <= supervisor->count &&
        supervisor->workers[end.worker - 1].serving)
        send_message(&supervisor->workers[end.worker - 1], MESSAGE_CLOSE_RTC, &end, sizeof end, -1);
}

static void obey(struct worker_process *worker, struct message *message)
{
    const bool names_one = message->size == SESSION_HASH_SIZE;
    if (message->type == MESSAGE_PUBLISH) {
        keep(worker, message);
        return;
    }
    if (message->fd >= 0)
        close(message->fd);
    if (message->type == MESSAGE_READY) {
        let_serve(worker);
    } else if (message->type == MESSAGE_CLOSE_RTC) {
        pass_on(worker->supervisor, message);
    } else if (message->type == MESSAGE_RESULT) {
        pending_commands_take(&worker->supervisor->commands, worker->number, message->data,
                              message->size);
    } else if (message->type == MESSAGE_LOOKUP && names_one) {
        take_question(worker, message->data);
    } else if (message->type == MESSAGE_DECLINE && names_one) {
        take_back(worker, message->data);
    } else if (message->type == MESSAGE_WITHDRAW && names_one) {
        forget(worker, message->data);
    } else if (message->type == MESSAGE_AWAY && names_one) {
        set_away(worker, message->data, true);
    } else if (message->type == MESSAGE_BACK && names_one) {
        set_away(worker, message->data, false);
    } else if (message->type == MESSAGE_COUNTED && worker->woken > 0) {
        worker->woken--;
    } else if (message->type == MESSAGE_COUNTED && worker->is_counting) {
        worker->is_counting = false;
        finish_count(worker->supervisor);
    }
}

static void read_messages(struct worker_process *worker)
{
    struct message message;
    for (int i = 0; i < MESSAGES_MAX; i++) {
        const enum message_result result = message_receive(worker->child.channel, &message, false);
        if (result == MESSAGE_NONE)
            return;
        if (result == MESSAGE_ENDED) {
            on_end(worker);
            return;
        }
        obey(worker, &message);
    }
}

static void on_message(void *context, unsigned events)
{
    (void)events;
    struct worker_process *worker = context;
    read_messages(worker);
    if (worker->supervisor->is_asked)
        supervisor_read_workers(worker->supervisor);
}

/* Waits for a message of this type, which says nothing else. */
static bool await(struct worker_process *worker, enum message_type type)
{
    const struct timeval timeout = {.tv_sec = START_SECONDS};
    struct message message;
    setsockopt(worker->child.channel, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (message_receive(worker->child.channel, &message, true) == MESSAGE_RECEIVED &&
        message.type == type)
        return true;
    log_error("worker %u does not start", worker->number);
    return false;
}

bool supervisor_start_workers(struct supervisor *supervisor)
{
    for (unsigned i = 0; i < supervisor->count; i++) {
        struct worker_process *worker = &supervisor->workers[i];
        worker->counters = counters_create(&worker->counters_fd);
        worker->pause = PAUSE_SECONDS;
        if (!worker->counters) {
            log_error("no memory");
            return false;
        }
        /* The workers start one after the other, so that a mistake is logged once. */
        if (!spawn(worker) || !await(worker, MESSAGE_READY))
            return false;
    }
    return true;
}

bool supervisor_let_serve(struct supervisor *supervisor)
{
    for (unsigned i = 0; i < supervisor->count; i++)
        let_serve(&supervisor->workers[i]);
    for (unsigned i = 0; i < supervisor->count; i++) {
        struct worker_process *worker = &supervisor->workers[i];
        if (!await(worker, MESSAGE_STARTED) || !watch(worker))
            return false;
    }
    return true;
}

static void look_after(struct worker_process *worker)
{
    const double seconds = liveness_look(&worker->liveness, worker->counters, loop_now());
    if (seconds == 0.0 || !worker->serving)
        return;
    if (!liveness_hangs(seconds, worker->child.pid)) {
        worker->woken += send_message(worker, MESSAGE_COUNT, NULL, 0, -1);
        return;
    }
    log_error("worker %u has hung for %.1f seconds: it is killed", worker->number, seconds);
    worker->supervisor->past.stats.workers_hung++;
    worker->liveness = (struct liveness_watch){0};
    kill(worker->child.pid, SIGKILL);
}

static void on_liveness(void *context)
{
    supervisor_look_after_workers(context);
}

void supervisor_look_after_workers(struct supervisor *supervisor)
{
    if (supervisor->state != SUPERVISOR_SERVING || supervisor->directory.count == 0)
        return;
    for (unsigned i = 0; i < supervisor->count; i++)
        look_after(&supervisor->workers[i]);
    supervisor->liveness.expired = on_liveness;
    supervisor->liveness.context = supervisor;
    loop_timer_start(supervisor->loop, &supervisor->liveness, LIVENESS_LOOK_SECONDS);
}

void supervisor_send_all(struct supervisor *supervisor, enum message_type message)
{
    for (unsigned i = 0; i < supervisor->count; i++)
        send_message(&supervisor->workers[i], message, NULL, 0, -1);
}

void supervisor_signal(struct supervisor *supervisor, int signal_number)
{
    for (unsigned i = 0; i < supervisor->count; i++) {
        if (supervisor->workers[i].child.pid != 0)
            kill(supervisor->workers[i].child.pid, signal_number);
    }
}

bool supervisor_has_workers(const struct supervisor *supervisor)
{
    for (unsigned i = 0; i < supervisor->count; i++) {
        if (supervisor->workers[i].child.pid != 0)
            return true;
    }
    return false;
}
