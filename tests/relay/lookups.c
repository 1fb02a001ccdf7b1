/* Workers ask their supervisor for sessions. Each answer must be true when it is taken, and nobody
   keeps a session that another worker gets, however late one of them is. model.ownership
   searches all orders of their messages. */
#include "loop_rig.h"

#include "process/supervisor_internal.h"
#include "process/worker.h"
#include "session/session_internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t first[SESSION_HASH_SIZE] = {1};
static const uint8_t second[SESSION_HASH_SIZE] = {2};

static void ask(int channel, const uint8_t hash[SESSION_HASH_SIZE])
{
    assert_true(message_send(channel, MESSAGE_LOOKUP, hash, SESSION_HASH_SIZE, -1));
}

static void publish(int channel, const uint8_t hash[SESSION_HASH_SIZE])
{
    struct session_state state = {.opened = 0.0};
    memcpy(state.hash, hash, sizeof state.hash);
    assert_true(message_send(channel, MESSAGE_PUBLISH, &state, sizeof state, STDIN_FILENO));
}

static void expect(int channel, enum message_type type)
{
    struct message message;
    assert_int_equal(message_receive(channel, &message, false), MESSAGE_RECEIVED);
    assert_int_equal(message.type, type);
    if (message.fd >= 0)
        close(message.fd);
}

static void expect_nothing(int channel)
{
    struct message message;
    assert_int_equal(message_receive(channel, &message, false), MESSAGE_NONE);
}

static void do_nothing(void *context)
{
    (void)context;
}

static void stop_loop(void *context)
{
    loop_stop(context);
}

TEST(a_worker_asks_nothing_while_an_answer_is_late)
{
    int ends[2];
    struct stats stats = {0};
    struct loop *loop = loop_rig();
    const struct sessions_config limits = {.max_sessions = 4};
    struct sessions *sessions = sessions_create(&limits, loop, &stats);
    const struct worker_config config = {
        .loop = loop, .sessions = sessions, .stats = &stats, .count = do_nothing};
    struct directory_filter filter;
    struct worker worker;
    struct startup startup = {.counters = -1, .options = -1};
    assert_true(message_pair(ends));
    assert_true(directory_filter_create(&filter, 4, &startup.filter));
    startup.channel = ends[0];
    worker_init(&worker);
    assert_true(worker_start(&worker, &config, &startup));
    const struct session_directory *directory = &sessions->directory;

    assert_false(directory->lookup(directory->context, first));
    expect(ends[1], MESSAGE_LOOKUP);
    /* Even a session of which the filter does not know may have been published meanwhile. */
    assert_true(directory->may_contain(directory->context, second));
    assert_false(directory->lookup(directory->context, first));
    expect_nothing(ends[1]);

    message_send(ends[1], MESSAGE_UNKNOWN, first, sizeof first, -1);
    struct loop_timer timer = {.expired = stop_loop, .context = loop};
    loop_timer_start(loop, &timer, 0.01);
    loop_run(loop, NULL, NULL);
    message_send(ends[1], MESSAGE_UNKNOWN, second, sizeof second, -1);
    assert_true(directory->lookup(directory->context, second));
    expect(ends[1], MESSAGE_LOOKUP);

    worker_close(&worker);
    sessions_destroy(sessions);
    directory_filter_close(&filter);
    close(startup.filter);
    close(ends[1]);
    loop_destroy(loop);
}

/* A supervisor with two workers, each a process that does nothing; the test speaks for them. */
struct rig {
    struct supervisor supervisor;
    struct counters counters[2];
    int channels[2]; /* the workers' ends */
};

static struct rig *start_supervisor(void)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct supervisor *supervisor = &rig->supervisor;
    assert_true(directory_create(&supervisor->directory, 4, NULL));
    supervisor->loop = loop_rig();
    supervisor->count = 2;
    for (unsigned i = 0; i < 2; i++) {
        struct worker_process *worker = &supervisor->workers[i];
        int ends[2];
        assert_true(message_pair(ends));
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        rig->channels[i] = ends[1];
        *worker = (struct worker_process){
            .supervisor = supervisor, .number = i + 1, .counters = &rig->counters[i]};
        worker->serving = true;
        worker->child.channel = ends[0];
        worker->child.pid = fork();
        if (worker->child.pid == 0) {
            alarm(60); /* when a test has failed, nobody else ends it */
            pause();
            _exit(0);
        }
    }
    return rig;
}

/* Ends a worker, and returns the signal that it died of. */
static int end_worker(struct rig *rig, unsigned number)
{
    int status;
    struct child *child = &rig->supervisor.workers[number - 1].child;
    kill(child->pid, SIGTERM);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    close(child->channel);
    close(rig->channels[number - 1]);
    return WTERMSIG(status);
}

static void stop_supervisor(struct rig *rig)
{
    directory_destroy(&rig->supervisor.directory);
    loop_timer_stop(&rig->supervisor.liveness);
    loop_destroy(rig->supervisor.loop);
    free(rig);
}

TEST(a_session_is_found_that_was_published_behind_a_question)
{
    struct rig *rig = start_supervisor();
    ask(rig->channels[0], first);
    publish(rig->channels[0], second);
    ask(rig->channels[1], second);
    supervisor_read_workers(&rig->supervisor);
    expect(rig->channels[1], MESSAGE_SESSION);
    expect(rig->channels[0], MESSAGE_RELEASE);
    expect(rig->channels[0], MESSAGE_UNKNOWN);
    assert_int_equal(end_worker(rig, 1), SIGTERM);
    assert_int_equal(end_worker(rig, 2), SIGTERM);
    stop_supervisor(rig);
}

TEST(a_worker_that_does_not_read_is_killed_before_another_gets_its_session)
{
    struct rig *rig = start_supervisor();
    struct worker_process *worker = &rig->supervisor.workers[0];
    publish(rig->channels[0], first);
    supervisor_read_workers(&rig->supervisor);
    while (message_send(worker->child.channel, MESSAGE_COUNT, NULL, 0, -1))
        continue;
    ask(rig->channels[1], first);
    supervisor_read_workers(&rig->supervisor);
    expect(rig->channels[1], MESSAGE_SESSION);
    assert_int_equal(end_worker(rig, 1), SIGKILL);
    assert_int_equal(end_worker(rig, 2), SIGTERM);
    stop_supervisor(rig);
}
