/* Only a program that is linked with -sASYNCIFY, or runs in a thread of its own, may wait in a
   page. */
#define _GNU_SOURCE

#include "native/socket_internal.h"

#include "causeway/native/clock.h"

#include <emscripten/emscripten.h>
#include <emscripten/threading.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The sockets that come with Emscripten always say to poll that there is something to read. */
static bool has_datagram(int handle)
{
    int size = 0;
    return ioctl(handle, FIONREAD, &size) == 0 && size > 0;
}

static void refuse_to_wait(void)
{
    fputs("Causeway: a page cannot wait for datagrams. Let cw_run call your ticks, pass "
          "cw_clock_now() to cw_client_host_next, or link with -sASYNCIFY.\n",
          stderr);
    abort();
}

/* Waits for a moment where poll does not wait either, before the caller looks again. */
static void doze(void)
{
    if (!emscripten_is_main_runtime_thread())
        usleep(1000);
    else if (emscripten_has_asyncify())
        emscripten_sleep(1);
    else
        refuse_to_wait();
}

bool cw_system_wait(const struct cw_socket *socket, int milliseconds)
{
    const int handle = (int)socket->handle;
    const double end = milliseconds < 0 ? INFINITY : cw_clock_now() + milliseconds * 1e-3;
    while (!has_datagram(handle)) {
        const double left = end - cw_clock_now();
        if (left <= 0)
            return false;
        struct pollfd poller = {.fd = handle, .events = POLLIN};
        (void)poll(&poller, 1, left < 1e6 ? (int)ceil(left * 1000) : -1);
        if (!has_datagram(handle) && cw_clock_now() < end)
            doze();
    }
    return true;
}
