#include "net/lookup.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_MAX_SIZE 256

/* What the thread owns. */
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
    const int error = getaddrinfo(name, NULL, &hints, &found);
    if (error == 0) {
        add_family(found, AF_INET, out);
        add_family(found, AF_INET6, out);
        freeaddrinfo(found);
    }
    if (out->count == 0)
        out->error = error == 0 ? "it has no address" : gai_strerror(error);
}

static void *ask(void *context)
{
    struct question *question = context;
    struct lookup_answer answer;
    lookup_now(question->name, &answer);
    /* Nobody listens any more when the other end is closed. */
    (void)!send(question->line, &answer, sizeof answer, MSG_NOSIGNAL);
    close(question->line);
    free(question);
    return NULL;
}

/* The signals of the relay are not for the thread. */
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
