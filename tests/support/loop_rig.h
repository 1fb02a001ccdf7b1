/* An event loop of the relay, for tests of modules that need one. */
#ifndef CAUSEWAY_TESTS_LOOP_RIG_H
#define CAUSEWAY_TESTS_LOOP_RIG_H

#include "fixture.h"

#include "os/loop.h"

#include <netinet/in.h>
#include <sys/socket.h>

static inline struct loop *loop_rig(void)
{
    static struct lws_protocols protocols[3] = {
        {.name = "none", .callback = lws_callback_http_dummy}};
    protocols[1] = loop_protocol;
    struct lws_context_creation_info info = {.port = CONTEXT_PORT_NO_LISTEN_SERVER,
                                             .protocols = protocols};
    lws_set_log_level(0, NULL);
    struct loop *loop = loop_create(&info);
    assert_non_null(loop);
    return loop;
}

/* Opens a UDP socket on 127.0.0.1, in the place of a game server. */
static inline int loop_rig_server(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&any, sizeof any), 0);
    return fd;
}

#endif
