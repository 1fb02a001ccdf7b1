#include "os/lookup.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_MAX_SIZE 256

/* Bytes of the longest reply of the DNS that is read. With a longer one, it is not known for how
   long the answer is good. */
#define REPLY_MAX 4096

/* The thread owns these. */
struct question {
    int line;
    char name[NAME_MAX_SIZE];
};

static void add_family(const struct addrinfo *found, int family, struct lookup_answer *out)
{
    for (; found && out->count < LOOKUP_ADDRESSES_MAX; found = found->ai_next) {
        if (found->ai_family != family)
            continue;
        struct socket_address *address = &out->addresses[out->count++];
        memcpy(&address->address, found->ai_addr, found->ai_addrlen);
        address->size = found->ai_addrlen;
    }
}

void lookup_now(const char *name, struct lookup_answer *out)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    memset(out, 0, sizeof *out);
    out->seconds = LOOKUP_SECONDS_UNTOLD;
    const int error = getaddrinfo(name, NULL, &hints, &found);
    if (error == 0) {
        add_family(found, AF_INET, out);
        add_family(found, AF_INET6, out);
        freeaddrinfo(found);
    }
    if (out->count == 0)
        out->error = error == 0 ? "it has no address" : gai_strerror(error);
}

static bool is_one_of(const struct lookup_answer *answer, const ns_rr *record)
{
    for (unsigned i = 0; i < answer->count; i++) {
        const struct socket_address *one = &answer->addresses[i];
        const bool v4 = one->address.any.sa_family == AF_INET;
        const void *bytes =
            v4 ? (const void *)&one->address.v4.sin_addr : (const void *)&one->address.v6.sin6_addr;
        const size_t size = v4 ? sizeof one->address.v4.sin_addr : sizeof one->address.v6.sin6_addr;
        if (ns_rr_type(*record) == (v4 ? ns_t_a : ns_t_aaaa) && ns_rr_rdlen(*record) == size &&
            memcmp(ns_rr_rdata(*record), bytes, size) == 0)
            return true;
    }
    return false;
}

/* Returns the least TTL in a reply, also of the aliases that lead to the addresses. It counts only
   when the reply has an address of the answer; otherwise the answer comes from elsewhere,
   /etc/hosts say. */
static unsigned read_seconds(const uint8_t *reply, int size, const struct lookup_answer *answer)
{
    ns_msg message;
    ns_rr record;
    unsigned least = LOOKUP_SECONDS_UNTOLD;
    bool belongs = false;
    if (ns_initparse(reply, size, &message) < 0)
        return LOOKUP_SECONDS_UNTOLD;
    for (int i = 0; i < ns_msg_count(message, ns_s_an); i++) {
        if (ns_parserr(&message, ns_s_an, i, &record) < 0)
            return LOOKUP_SECONDS_UNTOLD;
        if (ns_rr_ttl(record) < least)
            least = ns_rr_ttl(record);
        belongs = belongs || is_one_of(answer, &record);
    }
    return belongs ? least : LOOKUP_SECONDS_UNTOLD;
}

/* Adds the seconds for which an answer is good. getaddrinfo does not tell them, so the DNS is asked
   once more. */
static void add_seconds(const char *name, struct lookup_answer *out)
{
    static const int types[] = {ns_t_a, ns_t_aaaa};
    struct __res_state state = {0};
    uint8_t reply[REPLY_MAX];
    if (res_ninit(&state) < 0)
        return;
    for (int i = 0; i < 2; i++) {
        const int size = res_nsearch(&state, name, ns_c_in, types[i], reply, sizeof reply);
        const unsigned seconds =
            size > 0 && size <= REPLY_MAX ? read_seconds(reply, size, out) : LOOKUP_SECONDS_UNTOLD;
        if (seconds < out->seconds)
            out->seconds = seconds;
    }
    res_nclose(&state);
}

static void *ask(void *context)
{
    struct question *question = context;
    struct lookup_answer answer;
    struct in6_addr digits;
    lookup_now(question->name, &answer);
    /* The DNS is asked about names only. */
    if (!answer.error && inet_pton(AF_INET, question->name, &digits) != 1 &&
        inet_pton(AF_INET6, question->name, &digits) != 1)
        add_seconds(question->name, &answer);
    /* The send fails when the other end is closed: nobody waits for the answer any more. */
    (void)!send(question->line, &answer, sizeof answer, MSG_NOSIGNAL);
    close(question->line);
    free(question);
    return NULL;
}

/* Starts the thread, with all signals blocked: the relay's are not for it. */
static bool start(struct question *question)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, &attributes, ask, question) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

static void on_answer(void *context, unsigned events)
{
    (void)events;
    struct lookup *lookup = context;
    struct lookup_answer answer;
    const ssize_t size = recv(lookup->watch.fd, &answer, sizeof answer, MSG_DONTWAIT);
    lookup_cancel(lookup);
    if (size != (ssize_t)sizeof answer)
        answer = (struct lookup_answer){.error = "no answer of the resolver"};
    lookup->answered(lookup->context, &answer);
}

bool lookup_begin(struct lookup *lookup, struct loop *loop, const char *name)
{
    int pair[2];
    struct question *question = calloc(1, sizeof *question);
    lookup_cancel(lookup);
    if (!question || strlen(name) >= sizeof question->name ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        free(question);
        return false;
    }
    strcpy(question->name, name);
    question->line = pair[1];
    lookup->loop = loop;
    lookup->watch = (struct loop_watch){.fd = pair[0], .ready = on_answer, .context = lookup};
    if (loop_add(loop, &lookup->watch, LOOP_READABLE)) {
        if (start(question))
            return true;
        loop_remove(loop, &lookup->watch);
    }
    close(pair[0]);
    close(pair[1]);
    free(question);
    lookup->watch.fd = -1;
    return false;
}

void lookup_cancel(struct lookup *lookup)
{
    if (lookup->watch.fd < 0)
        return;
    loop_remove(lookup->loop, &lookup->watch);
    close(lookup->watch.fd);
    lookup->watch.fd = -1;
}
