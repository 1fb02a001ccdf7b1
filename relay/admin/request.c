#include "admin/request.h"

#include "os/socket_address.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The values of the headers that matter here. */
struct head {
    char host[SOCKET_ADDRESS_TEXT];
    size_t length; /* bytes of the body */
    unsigned hosts;
    unsigned lengths;
    bool origin;
    bool encoded;
};

static unsigned refuse(unsigned status, const char *reason, const char **why)
{
    *why = reason;
    return status;
}

static bool is_name(const char *name, const char *text, size_t size)
{
    return strlen(name) == size && strncasecmp(name, text, size) == 0;
}

/* Reads a header. A host that is too long is refused as one that is no address, and a length that
   is too long as one that is too much. */
static bool read_header(const char *line, size_t size, struct head *out)
{
    const char *colon = memchr(line, ':', size);
    const size_t name = colon ? (size_t)(colon - line) : 0;
    char value[SOCKET_ADDRESS_TEXT] = "";
    if (name == 0 || memchr(line, ' ', name) || memchr(line, '\t', name) || memchr(line, 0, size))
        return false;
    const char *from = colon + 1;
    const char *to = line + size;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    if ((size_t)(to - from) < sizeof value)
        memcpy(value, from, (size_t)(to - from));
    if (is_name("host", line, name)) {
        memcpy(out->host, value, sizeof out->host);
        out->hosts++;
    } else if (is_name("content-length", line, name)) {
        out->length = value[0] ? strtoul(value, NULL, 10) : ADMIN_REQUEST_MAX;
        out->lengths++;
        return value[strspn(value, "0123456789")] == '\0';
    } else if (is_name("transfer-encoding", line, name)) {
        out->encoded = true;
    } else if (is_name("origin", line, name)) {
        out->origin = true;
    }
    return true;
}

/* `at` is behind the first line, `end` behind the last one. */
static bool read_headers(const char *at, const char *end, struct head *out)
{
    while (at < end) {
        const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
        if (!line_end || !read_header(at, (size_t)(line_end - at), out))
            return false;
        at = line_end + 2;
    }
    return true;
}

/* Returns whether a host is an address. An attacker's page can make any name lead here (DNS
   rebinding), but no address. */
static bool is_address(const char *host)
{
    static const char local[] = "localhost";
    struct socket_address address;
    bool has_port;
    if (strncasecmp(host, local, sizeof local - 1) == 0)
        host = host[sizeof local - 1] == ':' || !host[sizeof local - 1] ? "127.0.0.1" : "";
    return socket_address_parse(host, &address, &has_port);
}

static bool read_method(const char *text, size_t size, enum admin_method *out)
{
    static const char *const names[] = {[ADMIN_GET] = "GET",
                                        [ADMIN_HEAD] = "HEAD",
                                        [ADMIN_POST] = "POST",
                                        [ADMIN_DELETE] = "DELETE"};
    for (int method = ADMIN_GET; method <= ADMIN_DELETE; method++) {
        if (strlen(names[method]) == size && memcmp(names[method], text, size) == 0) {
            *out = (enum admin_method)method;
            return true;
        }
    }
    return false;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %41, and in parameters + too, up to `size` or the capacity. Returns false when the text
   is malformed, holds a zero, or is too long. */
static bool decode(const char *text, size_t size, bool parameter, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = parameter && text[i] == '+' ? ' ' : text[i];
        if (c == '%') {
            if (size - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0)
                return false;
            c = (char)(digit(text[i + 1]) << 4 | digit(text[i + 2]));
            i += 2;
        }
        if (!c || used + 1 >= capacity)
            return false;
        out[used++] = c;
    }
    out[used] = '\0';
    return true;
}

/* Reads "GET /path?query HTTP/1.1". */
static unsigned read_first_line(char *line, size_t size, struct admin_request *out,
                                const char **why)
{
    char *space = memchr(line, ' ', size);
    char *target = space ? space + 1 : line + size;
    char *version = memchr(target, ' ', (size_t)(line + size - target));
    if (!version || memchr(line, 0, size) ||
        (!is_name(" HTTP/1.1", version, (size_t)(line + size - version)) &&
         !is_name(" HTTP/1.0", version, (size_t)(line + size - version))))
        return refuse(400, "This is not HTTP/1.1.", why);
    if (!read_method(line, (size_t)(space - line), &out->method))
        return refuse(405, "The methods here are GET, HEAD, POST and DELETE.", why);
    char *question = memchr(target, '?', (size_t)(version - target));
    char *path_end = question ? question : version;
    out->path = target;
    out->query = question ? question + 1 : version;
    *version = '\0';
    /* The target is decoded in place: decoded text is never longer. */
    if (*target != '/' || !decode(target, (size_t)(path_end - target), false, target,
                                  (size_t)(path_end - target) + 1))
        return refuse(400, "The path is malformed.", why);
    return 200;
}

unsigned admin_request_read(char *bytes, size_t size, struct admin_request *out, const char **why)
{
    struct head head = {0};
    char *head_end = memmem(bytes, size, "\r\n\r\n", 4);
    if (!head_end)
        return size < ADMIN_REQUEST_MAX ? 0 : refuse(431, "The headers are too long.", why);
    char *line_end = memmem(bytes, size, "\r\n", 2);
    if (!read_headers(line_end + 2, head_end + 2, &head) || head.hosts != 1 || head.lengths > 1)
        return refuse(400, "The headers are malformed.", why);
    if (head.encoded)
        return refuse(411, "A body needs a Content-Length, and no Transfer-Encoding.", why);
    if (head.origin || !is_address(head.host))
        return refuse(403,
                      "Pages may not ask this: no Origin header is allowed, and the host must be "
                      "an IP address or localhost.",
                      why);
    out->body = head_end + 4;
    if (head.length > (size_t)(bytes + ADMIN_REQUEST_MAX - out->body))
        return refuse(413, "The body is too long.", why);
    if (head.length > (size_t)(bytes + size - out->body))
        return 0;
    out->body[head.length] = '\0';
    return read_first_line(bytes, (size_t)(line_end - bytes), out, why);
}

bool admin_request_parameter(const char *text, const char *name, char *out, size_t capacity)
{
    const size_t name_size = strlen(name);
    for (const char *at = text; *at; at += strcspn(at, "&"), at += *at == '&') {
        const size_t size = strcspn(at, "&");
        if (size > name_size && memcmp(at, name, name_size) == 0 && at[name_size] == '=')
            return decode(at + name_size + 1, size - name_size - 1, true, out, capacity);
    }
    out[0] = '\0';
    return true;
}
