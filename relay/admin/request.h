/* Requests to the admin listener: a small and strict part of HTTP/1.1. Each connection brings one
   request. */
#ifndef CAUSEWAY_RELAY_ADMIN_REQUEST_H
#define CAUSEWAY_RELAY_ADMIN_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest request, with its body. */
#define ADMIN_REQUEST_MAX 8192

enum admin_method { ADMIN_GET, ADMIN_HEAD, ADMIN_POST, ADMIN_DELETE };

/* A request. Its texts are in the bytes that were read. */
struct admin_request {
    enum admin_method method;
    char *path;  /* "/sessions/17", decoded */
    char *query; /* "limit=10&after=17", as it came; "" when there is none */
    char *body;
};

/* Reads a request, in place, from the first `size` of a buffer of ADMIN_REQUEST_MAX + 1 bytes.
   Returns 200 when *out is whole; 0 when more has to come, and then the bytes are as they were; or
   the status that refuses the request, with the reason in *why. A request is refused if a page in a
   browser could have sent it: if it has an Origin, or names the host by a name, which could be the
   page's own. */
unsigned admin_request_read(char *bytes, size_t size, struct admin_request *out, const char **why);

/* Finds a parameter in text of the form "a=1&b=2" and copies its value, decoded; "" when there is
   none. Returns false when the value is malformed or does not fit. */
bool admin_request_parameter(const char *text, const char *name, char *out, size_t capacity);

#endif
