/* Declarations that the other headers share: the version, errors, where memory and random bytes
   come from, a log, addresses, and rules that all configs have in common.

   cw_X_config_default() fills in every default; change only the fields you want. 0 is a real zero:
   none, off, or a number that create refuses. Each field says which. There are three exceptions: a
   struct cw_allocator of zeros means malloc, a struct cw_random of zeros means the operating
   system, and a socket's address of type CW_ADDRESS_NONE means every address of the machine. */
#ifndef CAUSEWAY_BASE_H
#define CAUSEWAY_BASE_H

#include <stdbool.h>
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

/* This is the version of the library. Before 1.0 a new minor version may break programs that use
   it. It is defined only here; CMake reads it from this file. */
#define CAUSEWAY_VERSION_MAJOR 0
#define CAUSEWAY_VERSION_MINOR 2
#define CAUSEWAY_VERSION_PATCH 0

#define CW_VERSION_QUOTE(major, minor, patch)  #major "." #minor "." #patch
#define CW_VERSION_EXPAND(major, minor, patch) CW_VERSION_QUOTE(major, minor, patch)

/* This is the version of these headers as text: "0.2.0". */
#define CAUSEWAY_VERSION                                                                           \
    CW_VERSION_EXPAND(CAUSEWAY_VERSION_MAJOR, CAUSEWAY_VERSION_MINOR, CAUSEWAY_VERSION_PATCH)

/* Returns the version of the library that the program runs with. */
const char *cw_version(void);

/* These values stand for everything that can go wrong. Every function that can fail returns one of
   them.

   A NULL pointer that a function needs is a mistake everywhere, and so is a time that is not
   finite. Nothing happens then, and the function returns CW_ERROR_INVALID_ARGUMENT, or false, 0 or
   NULL if it does not return an error. The functions of bits.h and stream.h are the exception: they
   do not check their pointers. */
enum cw_error {
    CW_OK = 0,
    CW_ERROR_INVALID_ARGUMENT,
    CW_ERROR_NO_MEMORY,
    CW_ERROR_ADDRESS,
    CW_ERROR_MALFORMED,

    /* packets */
    CW_ERROR_PACKET_TOO_LARGE,
    CW_ERROR_TRANSMIT_PENDING,
    CW_ERROR_EVENTS_PENDING,
    CW_ERROR_BUFFER_TOO_SMALL,
    CW_ERROR_STALE,
    CW_ERROR_DUPLICATE,

    /* message types that cannot work */
    CW_ERROR_SCHEMA_TYPES,
    CW_ERROR_SCHEMA_FIELD,
    CW_ERROR_SCHEMA_SIZE,
    CW_ERROR_SCHEMA_BYTES,

    /* messages */
    CW_ERROR_MESSAGE_TYPE,
    CW_ERROR_MESSAGE_VALUE,
    CW_ERROR_POOL_EMPTY,
    CW_ERROR_CHANNEL,
    CW_ERROR_QUEUE_FULL,
    CW_ERROR_RECEIPTS_FULL,
    CW_ERROR_MESSAGE_TOO_LARGE,
    CW_ERROR_BLOCK_NOT_ALLOWED,
    CW_ERROR_BLOCK_MISSING,
    CW_ERROR_BLOCK_TOO_LARGE,
    CW_ERROR_NOT_CONNECTED,
    CW_ERROR_MESSAGE_NOT_OWNED,
    CW_ERROR_OTHER_CONNECTION,
    CW_ERROR_RECEIVER_FULL,
    CW_ERROR_NOT_A_REQUEST,
    CW_ERROR_REQUESTS_FULL,
    CW_ERROR_NOT_ASKED,

    /* connect tokens */
    CW_ERROR_NO_RANDOM,
    CW_ERROR_KEY,
    CW_ERROR_USER_DATA,
    CW_ERROR_TOKEN_SIZE,
    CW_ERROR_VERSION,
    CW_ERROR_TOKEN_TIMES,
    CW_ERROR_TOKEN_ADDRESSES,

    /* clients */
    CW_ERROR_TOKEN_EXPIRED,
    CW_ERROR_TOKEN_USED,
    CW_ERROR_SCHEMA,
    CW_ERROR_CONNECTED,

    /* packets of a secure connection that are not taken */
    CW_ERROR_PROTOCOL_ID,
    CW_ERROR_REQUEST_SIZE,
    CW_ERROR_PACKET_SHORT,
    CW_ERROR_PACKET_TYPE,
    CW_ERROR_PACKET_SEQUENCE,
    CW_ERROR_NOT_AUTHENTIC,
    CW_ERROR_BODY_SIZE,
    CW_ERROR_WRONG_SENDER,
    CW_ERROR_UNEXPECTED,

    /* servers */
    CW_ERROR_TOKEN_LIFE,
    CW_ERROR_TOKEN_SERVER,
    CW_ERROR_TOO_MANY_REQUESTS,
    CW_ERROR_TOO_MANY_DATAGRAMS,
    CW_ERROR_HISTORY_FULL,
    CW_ERROR_PENDING_FULL,
    CW_ERROR_SERVER_FULL,

    /* sockets and host names */
    CW_ERROR_HOST,
    CW_ERROR_PORT,
    CW_ERROR_SOCKET,
    CW_ERROR_ADDRESS_IN_USE,
    CW_ERROR_ADDRESS_NOT_HERE,
    CW_ERROR_NOT_PERMITTED,
    CW_ERROR_SOCKET_FULL,
    CW_ERROR_SEND,

    CW_ERROR_COUNT,

    /* The headers of upper layers define errors of their own from 0x800 on, as input.h does. From
       CW_ERROR_CONFIG on, each error stands for a field of a config that cannot work. */
    CW_ERROR_CONFIG = 0x1000,
    CW_ERROR_LAST = 0xffff
};

/* Returns one sentence in plain English that says what is wrong and, where it helps, what to do.
   The string is static and never NULL. */
const char *cw_error_string(enum cw_error error);

#define CW_ERROR_FIELD_SIZE 32

/* Writes the name of the field for which a create function refused a config, such as "max_clients",
   also when it is a field of a config in that config. cw_error_string tells which values the field
   may have. Returns false for all other errors, and writes "" then. */
bool cw_error_field(enum cw_error error, char out[CW_ERROR_FIELD_SIZE]);

/* These stand for defaults that are computed from other fields of the config. Fingerprints have one
   of their own, because they have 64 bits. */
#define CW_AUTO             UINT32_MAX
#define CW_FINGERPRINT_AUTO UINT64_MAX

/* An allocator of zeros means malloc and free. A create function calls allocate once, for exactly
   the size that its cw_X_memory() returns. Nothing allocates after that, and destroy calls release
   once. allocate must return memory that is aligned for any type, or NULL when there is none. */
struct cw_allocator {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *memory, size_t size);
    void *context;
};

/* This is a source of random bytes. All zero means the operating system's. A source of your own
   makes a run repeatable; never use one that an attacker could guess. */
struct cw_random {
    void (*fill)(void *context, uint8_t *out, size_t size);
    void *context;
};

/* A log tells of rare events: who comes and goes, who is refused, and why. Nothing that happens for
   every packet is logged, and no key or token ever is. Each level includes the ones before it. */
enum cw_log_level {
    CW_LOG_NONE = 0,
    CW_LOG_WARNING, /* events that an operator should look at, such as refusals */
    CW_LOG_INFO,    /* clients that connect, move and disconnect */
    CW_LOG_DEBUG    /* datagrams that are dropped, but not all in a flood */
};

/* The configs of a server and of a client host have a log. */
struct cw_log {
    /* The function takes one line, without a newline, which is only valid until it returns. It must
       not call the object that it logs for. NULL, the default: no log. */
    void (*write)(void *context, enum cw_log_level level, const char *line);
    void *context;
    enum cw_log_level level; /* default CW_LOG_INFO */
};

/* An IPv4 or IPv6 address with a port. The functions below read, write and compare addresses, but
   look no names up: causeway/native/socket.h does that. The numbers of the types are those in a
   connect token. */
enum cw_address_type {
    CW_ADDRESS_NONE = 0,
    CW_ADDRESS_IPV4 = 1,
    CW_ADDRESS_IPV6 = 2,
};

/* An address of zeros is none. */
struct cw_address {
    enum cw_address_type type;
    uint16_t port;     /* host byte order; 0: none */
    uint8_t bytes[16]; /* network byte order; IPv4 uses the first 4, the rest is ignored */
};

/* The longest text of an address has this many bytes, its terminator included. */
#define CW_ADDRESS_TEXT_SIZE 48

/* Reads "1.2.3.4", "1.2.3.4:5", "::1", "[::1]" or "[::1]:5" from a terminated string. IPv6 may be
   compressed and may end in an IPv4 address. Blanks, leading zeros in IPv4 or port, zones and
   trailing text are refused. Without a port in the text, port becomes 0. Returns CW_ERROR_ADDRESS
   for any other text. */
enum cw_error cw_address_parse(const char *text, struct cw_address *address);

/* Writes the form that RFC 5952 recommends, terminated, and returns text. Port 0 is left out,
   together with the brackets of an IPv6 address. An IPv4-mapped address ends in dotted decimals.
   CW_ADDRESS_NONE gives "none", which does not parse. */
const char *cw_address_format(const struct cw_address *address, char text[CW_ADDRESS_TEXT_SIZE]);

/* Orders addresses by type, then bytes, then port. An IPv4-mapped address is the IPv4 address in
   it, as it is for sockets. Returns a negative number, 0 or a positive one. */
int cw_address_compare(const struct cw_address *a, const struct cw_address *b);

/* Returns whether two addresses have the same type, bytes and port. An IPv4 address equals the IPv6
   address that it is mapped to. */
bool cw_address_equal(const struct cw_address *a, const struct cw_address *b);

CW_END_DECLARATIONS

#endif
