/* A log of rare events: who comes and goes, who is refused, and why. Nothing that happens for every
   packet is logged, and no key or token ever is. */
#ifndef CAUSEWAY_LOG_H
#define CAUSEWAY_LOG_H

#include "causeway/linkage.h"

CW_BEGIN_DECLARATIONS

/* The level of detail. Each level includes the ones before it. */
enum cw_log_level {
    CW_LOG_NONE = 0,
    CW_LOG_WARNING, /* events that an operator should look at, such as refusals */
    CW_LOG_INFO,    /* clients that connect, move and disconnect */
    CW_LOG_DEBUG    /* datagrams that are dropped, but not all in a flood */
};

/* Part of the configs of a server and a client host. */
struct cw_log {
    /* Takes one line, without a newline, which is only valid until it returns. It must not call the
       object that it logs for. NULL, the default: no log. */
    void (*write)(void *context, enum cw_log_level level, const char *line);
    void *context;
    enum cw_log_level level; /* default CW_LOG_INFO */
};

CW_END_DECLARATIONS

#endif
