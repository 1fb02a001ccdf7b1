/* Debug builds stop a program of which two threads call into one object at the same time, and say
   so. Release builds have no such check. In most cases the object calls a function of the
   application's, which lets another thread call into the same object and waits until that has
   returned: nothing is left to chance, and nothing really happens at the same time. */
#include "owned_native.h"
#include "secure_rig.h"

#include "causeway/native/client_host.h"
#include "causeway/native/clock.h"
#include "causeway/native/host.h"
#include "causeway/native/socket.h"
#include "message/connection_internal.h"
#include "netcode/netcode_client_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef NDEBUG
#define CHECKED false
#else
#define CHECKED true
#endif

/* Another thread does this to the object when the application's function is called. */
static void *(*intrude)(void *object);
static void *object;

static void let_intrude(void)
{
    pthread_t thread;
    void *(*const intruder)(void *) = intrude;
    intrude = NULL;
    if (!intruder)
        return;
    assert_int_equal(pthread_create(&thread, NULL, intruder, object), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void be_visited(void *visited, void *(*visitor)(void *))
{
    object = visited;
    intrude = visitor;
}

/* The application's functions. */

static bool serialize(struct cw_stream *stream, void *message)
{
    let_intrude();
    return cw_stream_bits(stream, message, 32);
}

static void write_line(void *context, enum cw_log_level level, const char *line)
{
    (void)context, (void)level, (void)line;
    let_intrude();
}

static size_t give_no_token(void *context, uint8_t *out, size_t capacity)
{
    (void)context, (void)out, (void)capacity;
    let_intrude();
    return 0;
}

/* A request that no server takes, of which it writes a line. */
static const uint8_t bad_request[CW_REQUEST_SIZE];

static void *update_connection(void *connection)
{
    cw_connection_update(connection, 1);
    return NULL;
}

static void use_connection(void)
{
    const struct cw_message_type type = {
        .name = "number", .size = sizeof(uint32_t), .serialize = serialize};
    const struct cw_schema_config types = {.types = &type, .count = 1};
    struct cw_schema *schema = schema_with(&types);
    const struct cw_connection_config config = cw_connection_config_default(schema);
    struct cw_connection *connection = connection_with(&config);
    be_visited(connection, update_connection);
    assert_ok(cw_connection_send_value(connection, 0, 0, &(uint32_t){1}, 0));
}

static void *update_endpoint(void *endpoint)
{
    cw_endpoint_update(endpoint, 1);
    return NULL;
}

/* It calls nobody: the test does what its functions do first. */
static void use_endpoint(void)
{
    const struct cw_endpoint_config config = cw_endpoint_config_default();
    struct cw_endpoint *endpoint = endpoint_with(&config);
    {
        CW_ONE_THREAD(endpoint);
        be_visited(endpoint, update_endpoint);
        let_intrude();
    }
}

static void *update_client(void *client)
{
    cw_netcode_client_update(client, 1);
    return NULL;
}

static void use_client(void)
{
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *client = netcode_client_with(&config);
    {
        CW_ONE_THREAD(client);
        be_visited(client, update_client);
        let_intrude();
    }
}

static void *disconnect_from_server(void *server)
{
    cw_netcode_server_disconnect(server, 0, 0, NULL);
    return NULL;
}

static void use_server(void)
{
    struct rig rig;
    rig_init(&rig);
    rig.config.log.write = write_line;
    rig_start(&rig);
    be_visited(rig.server, disconnect_from_server);
    const struct cw_address from = rig_client_address(1);
    cw_netcode_server_receive(rig.server, &from, bad_request, sizeof bad_request, rig.now);
}

static void *update_host(void *host)
{
    cw_netcode_host_update(host);
    return NULL;
}

static void use_host(void)
{
    struct cw_netcode_host_config config = cw_netcode_host_config_default();
    config.server.private_key[0] = 1;
    config.server.log.write = write_line;
    struct cw_netcode_host *host = netcode_host_at("127.0.0.1:0", &config);
    struct cw_socket_config anywhere = cw_socket_config_default();
    struct cw_socket *socket = socket_with(&anywhere);
    be_visited(host, update_host);
    struct cw_netcode_server_event event;
    const double end = cw_clock_now() + 20;
    while (intrude && cw_clock_now() < end) {
        cw_socket_send(socket, cw_netcode_host_address(host), bad_request, sizeof bad_request);
        assert_false(cw_netcode_host_next(host, cw_clock_now() + 0.005, &event));
    }
    assert_null(intrude);
}

static void *ask_client_host(void *host)
{
    cw_netcode_client_host_client(host);
    return NULL;
}

static void use_client_host(void)
{
    struct cw_netcode_client_host_config config = cw_netcode_client_host_config_default();
    config.token = give_no_token;
    struct cw_netcode_client_host *host = netcode_client_host_with(&config);
    be_visited(host, ask_client_host);
    cw_netcode_client_host_update(host);
}

/* Runs it in a process of its own. Gives how that has ended, and what it has written. */
static int run(void (*use)(void), char text[2000])
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        use();
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t got; size < 1999 && (got = read(ends[0], text + size, 1999 - size)) > 0;)
        size += (size_t)got;
    text[size] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(two_threads_in_one_object)
{
    static const struct {
        void (*use)(void);
        const char *second; /* the call that is told of */
    } cases[] = {
        {use_connection, "cw_connection_update"},
        {use_endpoint, "cw_endpoint_update"},
        {use_client, "cw_netcode_client_update"},
        {use_server, "cw_netcode_server_disconnect"},
        {use_host, "cw_netcode_host_update"},
        {use_client_host, "cw_netcode_client_host_client"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        const int status = run(cases[i].use, text);
        print_message("%s", text);
        if (!CHECKED) {
            assert_int_equal(status, 0);
            assert_string_equal(text, "");
            continue;
        }
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
        assert_non_null(strstr(text, cases[i].second));
        assert_non_null(strstr(text, "another thread is using this object"));
    }
}

/* Objects may go from thread to thread, and threads may have objects of their own. */
TEST(one_thread_after_the_other)
{
    const struct cw_netcode_client_config config = cw_netcode_client_config_default();
    struct cw_netcode_client *client = netcode_client_with(&config);
    pthread_t thread;
    for (int i = 0; i < 3; i++) {
        cw_netcode_client_update(client, i);
        assert_int_equal(pthread_create(&thread, NULL, update_client, client), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}
