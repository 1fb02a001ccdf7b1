/* The answer to a request. */
#ifndef CAUSEWAY_RELAY_RESPONSE_H
#define CAUSEWAY_RELAY_RESPONSE_H

#include "http/status.h"
#include "os/text.h"

#include <stdint.h>
#include <sys/types.h>

struct http_response {
    enum http_status_code status;
    const char *type;  /* constant text: the value of Content-Type; NULL without a body */
    const char *cache; /* constant text: the value of Cache-Control; NULL for none */
    struct text head;  /* more lines of the head, see response_add */
    struct text body;
    int file; /* a file that is the body, open for reading; -1 = none */
    off_t file_size;
};

/* An empty answer. */
#define HTTP_RESPONSE                                                                              \
    (struct http_response)                                                                         \
    {                                                                                              \
        .status = HTTP_OK, .cache = "no-store", .file = -1                                         \
    }

/* Adds a header. A value that no header can have is left out. */
void response_add(struct http_response *response, const char *name, const char *value);

/* Sets the status, and a body of plain text that says why a request is refused, or what became of
   it. A page whose request has found no place is asked to wait for a second. */
void response_say(struct http_response *response, enum http_status_code status, const char *text);

/* Writes the head of a response. Each says that the connection closes; http.h tells why. */
void response_write_head(const struct http_response *response, struct text *out);

/* Frees what the response has, and closes its file. */
void response_free(struct http_response *response);

#endif
