/* The statuses with which the relay answers requests. */
#ifndef CAUSEWAY_RELAY_STATUS_H
#define CAUSEWAY_RELAY_STATUS_H

/* X(name, number, text of the status line) */
#define HTTP_STATUSES(X)                                                                           \
    X(OK, 200, "OK")                                                                               \
    X(CREATED, 201, "Created")                                                                     \
    X(ACCEPTED, 202, "Accepted")                                                                   \
    X(NO_CONTENT, 204, "No Content")                                                               \
    X(MOVED_PERMANENTLY, 301, "Moved Permanently")                                                 \
    X(NOT_MODIFIED, 304, "Not Modified")                                                           \
    X(PERMANENT_REDIRECT, 308, "Permanent Redirect")                                               \
    X(BAD_REQUEST, 400, "Bad Request")                                                             \
    X(FORBIDDEN, 403, "Forbidden")                                                                 \
    X(NOT_FOUND, 404, "Not Found")                                                                 \
    X(METHOD_NOT_ALLOWED, 405, "Method Not Allowed")                                               \
    X(LENGTH_REQUIRED, 411, "Length Required")                                                     \
    X(CONTENT_TOO_LARGE, 413, "Content Too Large")                                                 \
    X(UNSUPPORTED_MEDIA_TYPE, 415, "Unsupported Media Type")                                       \
    X(UNPROCESSABLE_CONTENT, 422, "Unprocessable Content")                                         \
    X(TOO_MANY_REQUESTS, 429, "Too Many Requests")                                                 \
    X(HEADERS_TOO_LARGE, 431, "Request Header Fields Too Large")                                   \
    X(SERVICE_UNAVAILABLE, 503, "Service Unavailable")

enum http_status_code {
#define HTTP_STATUS_NUMBER(name, number, text) HTTP_##name = number,
    HTTP_STATUSES(HTTP_STATUS_NUMBER)
#undef HTTP_STATUS_NUMBER
};

#endif
