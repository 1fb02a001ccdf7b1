/* The HTTP/3 that a WebTransport session needs (draft-ietf-webtrans-http3, drafts 2 to 15): the
   settings, one request, and the capsule that closes the session. */
#ifndef CAUSEWAY_RELAY_HTTP3_H
#define CAUSEWAY_RELAY_HTTP3_H

#include "webtransport/blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest head of a request, encoded; Firefox sends 265. A longer one is refused. */
#define HTTP3_HEAD_MAX 4096
/* Bytes of the longest values that are read, with their terminator. Longer ones are left out. */
#define HTTP3_VALUE_MAX 512
/* Bytes of the longest reason in a capsule that closes a session. */
#define HTTP3_REASON_MAX 128
/* Bytes of the longest such capsule, in its frame. */
#define HTTP3_CLOSE_MAX (HTTP3_REASON_MAX + 16)

/* Errors of HTTP/3, which end streams and connections. */
#define HTTP3_NO_ERROR         0x100
#define HTTP3_REQUEST_REJECTED 0x10b

/* The start of our control stream: its type and its settings. */
extern const uint8_t http3_settings[];
extern const size_t http3_settings_size;

/* A request. A value is "" when it did not come, or was too long. */
struct http3_request {
    char method[16];
    char protocol[32];
    char authority[HTTP3_VALUE_MAX];
    char path[HTTP3_VALUE_MAX];
    char origin[HTTP3_VALUE_MAX];
};

/* Returns whether the request is for a WebTransport session. */
bool http3_is_webtransport(const struct http3_request *request);

/* The events on the stream of a request. */
enum http3_event {
    HTTP3_NOTHING, /* more must come */
    HTTP3_REQUEST,
    HTTP3_CLOSE, /* the capsule that closes the session; after it, nothing counts */
    HTTP3_ERROR, /* something that no browser sends */
};

/* Reads the stream of a request. All zero at first. */
struct http3_reader {
    struct block_reader frames;
    struct block_reader capsules;
    uint8_t *head; /* the encoded head, as far as it has come; NULL before and after */
    size_t head_size;
    bool requested;        /* the request has come */
    uint8_t code_bytes[4]; /* the code of the capsule that closes the session */
    uint8_t code_size;
};

/* Takes data from the front of what has come and advances past it, until there is an event. A
   request goes to *request, the code of a close to *code. */
enum http3_event http3_read(struct http3_reader *reader, const uint8_t **data, size_t *size,
                            struct http3_request *request, uint32_t *code);

/* Frees the memory of a reader. */
void http3_reader_free(struct http3_reader *reader);

/* Writes the head of an answer with the status 200, 400, 403, 404 or 503. Returns its size. */
#define HTTP3_ANSWER_MAX 8
size_t http3_write_answer(uint8_t out[HTTP3_ANSWER_MAX], unsigned status);

/* Writes the capsule that closes a session, in its frame. Returns its size. */
size_t http3_write_close(uint8_t out[HTTP3_CLOSE_MAX], uint32_t code, const char *reason);

#endif
