/* Declarations that the other headers share: the version, where memory and random bytes come from,
   a log, and rules that all configs have in common.

   cw_X_config_default() fills in every default; change only the fields you want. 0 is a real zero:
   none, off, or a number that create refuses. Each field says which. There are three exceptions: a
   struct cw_allocator of zeros means malloc, a struct cw_random of zeros means the operating
   system, and a socket's address of type CW_ADDRESS_NONE means every address of the machine. */
#ifndef CAUSEWAY_BASE_H
#define CAUSEWAY_BASE_H

#include <stddef.h>
#include <stdint.h>

/* These wrap the declarations of every public header. They give them C linkage in C++, and make a
   shared library export them and nothing else. */
#if defined(__GNUC__)
#define CW_BEGIN_EXPORTS _Pragma("GCC visibility push(default)")
#define CW_END_EXPORTS   _Pragma("GCC visibility pop")
#else
#define CW_BEGIN_EXPORTS
#define CW_END_EXPORTS
#endif

#if defined(__cplusplus)
#define CW_BEGIN_DECLARATIONS                                                                      \
    CW_BEGIN_EXPORTS extern "C"                                                                    \
    {
#define CW_END_DECLARATIONS                                                                        \
    }                                                                                              \
    CW_END_EXPORTS
#else
#define CW_BEGIN_DECLARATIONS CW_BEGIN_EXPORTS
#define CW_END_DECLARATIONS   CW_END_EXPORTS
#endif

CW_BEGIN_DECLARATIONS

/* The version of the library. Before 1.0 a new minor version may break programs that use it. It is
   defined only here; CMake reads it from this file. */
#define CAUSEWAY_VERSION_MAJOR 0
#define CAUSEWAY_VERSION_MINOR 2
#define CAUSEWAY_VERSION_PATCH 0

#define CW_VERSION_QUOTE(major, minor, patch)  #major "." #minor "." #patch
#define CW_VERSION_EXPAND(major, minor, patch) CW_VERSION_QUOTE(major, minor, patch)

/* The version of these headers as text: "0.2.0". */
#define CAUSEWAY_VERSION                                                                           \
    CW_VERSION_EXPAND(CAUSEWAY_VERSION_MAJOR, CAUSEWAY_VERSION_MINOR, CAUSEWAY_VERSION_PATCH)

/* The version of the library that the program runs with. */
const char *cw_version(void);

/* Defaults that are computed from other fields of the config. The second is for fingerprints, which
   have 64 bits. */
#define CW_AUTO             UINT32_MAX
#define CW_FINGERPRINT_AUTO UINT64_MAX

/* All zero means malloc and free. A create function calls allocate once, for exactly the size that
   its cw_X_memory() returns. Nothing allocates after that, and destroy calls release once. allocate
   must return memory that is aligned for any type, or NULL when there is none. */
struct cw_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

/* A source of random bytes. All zero means the operating system's. A source of your own makes a run
   repeatable; never use one that an attacker could guess. */
struct cw_random {
    void (*fill)(void *context, uint8_t *out, size_t size);
    void *context;
};

/* A log of rare events: who comes and goes, who is refused, and why. Nothing that happens for every
   packet is logged, and no key or token ever is. This is the level of its detail. Each level
   includes the ones before it. */
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
