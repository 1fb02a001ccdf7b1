#include "http/response.h"

#include <unistd.h>

void response_add(struct http_response *response, const char *name, const char *value)
{
    for (const char *at = value; *at; at++) {
        if ((unsigned char)*at < ' ')
            return;
    }
    text_add(&response->head, "%s: %s\r\n", name, value);
}

void response_say(struct http_response *response, enum http_status_code status, const char *text)
{
    response->status = status;
    response->type = "text/plain";
    text_add(&response->body, "%s\n", text);
    if (status == HTTP_SERVICE_UNAVAILABLE)
        text_add(&response->head, "retry-after: 1\r\n");
}

static const char *status_text(enum http_status_code status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text)                                                            \
    case HTTP_##name:                                                                              \
        return text;
        HTTP_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "";
}

void response_write_head(const struct http_response *response, struct text *out)
{
    text_add(out, "HTTP/1.1 %d %s\r\n", (int)response->status, status_text(response->status));
    if (response->type) {
        const size_t size = response->file < 0 ? response->body.size : (size_t)response->file_size;
        text_add(out, "content-type: %s\r\ncontent-length: %zu\r\n", response->type, size);
    }
    if (response->cache)
        text_add(out, "cache-control: %s\r\n", response->cache);
    text_add(out, "%sx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
             response->head.size > 0 ? response->head.bytes : "");
    out->failed = out->failed || response->head.failed;
}

void response_free(struct http_response *response)
{
    text_free(&response->head);
    text_free(&response->body);
    if (response->file >= 0)
        close(response->file);
    response->file = -1;
}
