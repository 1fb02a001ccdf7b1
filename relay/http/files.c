#include "http/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *suffix;
    const char *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".wasm", "application/wasm"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".txt", "text/plain; charset=utf-8"},
    {".md", "text/markdown; charset=utf-8"},
    {".xml", "application/xml"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
    {".avif", "image/avif"},
    {".ico", "image/x-icon"},
    {".woff", "font/woff"},
    {".woff2", "font/woff2"},
    {".ttf", "font/ttf"},
    {".mp3", "audio/mpeg"},
    {".ogg", "audio/ogg"},
    {".wav", "audio/wav"},
    {".mp4", "video/mp4"},
    {".webm", "video/webm"},
    {".glb", "model/gltf-binary"},
    {".gltf", "model/gltf+json"},
    {".pdf", "application/pdf"},
};

static const char *type_of(const char *path)
{
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof types / sizeof types[0]; i++) {
        if (strcasecmp(suffix, types[i].suffix) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Finds the real path of a file, without links or dots. Returns false when there is none below
   root. */
static bool find_path(const char *root, const char *path, const char *index, char out[PATH_MAX])
{
    char wanted[PATH_MAX];
    int length = snprintf(wanted, sizeof wanted, "%s%s%s", root, path, index);
    if (length < 0 || (size_t)length >= sizeof wanted || !realpath(wanted, out))
        return false;
    size_t root_size = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(out, root, root_size) == 0 && (out[root_size] == '/' || out[root_size] == '\0');
}

/* Returns whether a path has a hidden name in it. The one hidden directory that others expect to
   read (RFC 8615) does not count, because certificates are renewed by way of it. */
static bool is_hidden(const char *path)
{
    static const char well_known[] = "/.well-known/";
    const size_t size = sizeof well_known - 1;
    return strstr(strncmp(path, well_known, size) == 0 ? path + size - 1 : path, "/.") != NULL;
}

enum result {
    FOUND,
    MISSING,   /* there is no such file; also: it is outside the root, hidden, or not a file */
    DIRECTORY, /* the path needs a slash at its end */
    BUSY,      /* the system has no descriptor left for it */
};

struct file {
    int fd;
    struct stat status;
    const char *type;
};

/* Finds and opens the file for a decoded path that begins with '/'. */
static enum result find(const char *root, const char *path, struct file *out)
{
    char real[PATH_MAX];
    const size_t size = strlen(path);
    if (!root[0] || is_hidden(path))
        return MISSING;
    const char *index = path[size - 1] == '/' ? "index.html" : "";
    if (!find_path(root, path, index, real))
        return MISSING;
    /* O_NONBLOCK: opening a pipe would otherwise wait for its other end. */
    out->fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (out->fd < 0)
        return errno == EMFILE || errno == ENFILE ? BUSY : MISSING;
    const bool known = fstat(out->fd, &out->status) == 0;
    if (!known || !S_ISREG(out->status.st_mode)) {
        const bool directory = known && S_ISDIR(out->status.st_mode) && !index[0];
        close(out->fd);
        return directory ? DIRECTORY : MISSING;
    }
    out->type = type_of(real);
    return FOUND;
}

/* Writes a tag that changes with the file. */
static void write_etag(const struct stat *status, char *out, size_t size)
{
    snprintf(out, size, "\"%jx-%jx-%lx\"", (intmax_t)status->st_size,
             (intmax_t)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
}

/* Makes the file the body of the response, unless the client has it already. */
static void give(const struct http_request *request, const struct file *file,
                 struct http_response *response)
{
    char etag[48];
    write_etag(&file->status, etag, sizeof etag);
    response_add(response, "etag", etag);
    /* A browser keeps the file but asks each time whether it has changed. */
    response->cache = "no-cache";
    if (strstr(request->known_etag, etag)) {
        response->status = HTTP_NOT_MODIFIED;
        close(file->fd);
        return;
    }
    response->type = file->type;
    response->file = file->fd;
    response->file_size = file->status.st_size;
}

static void redirect(const struct http_request *request, struct http_response *response)
{
    response->status = HTTP_MOVED_PERMANENTLY;
    response->type = "text/plain";
    response->cache = NULL;
    text_add(&response->head, "location: ");
    request_encode(&response->head, request->path, strlen(request->path));
    text_add(&response->head, "/\r\n");
}

static bool answer(void *context, const struct http_request *request,
                   struct http_response *response)
{
    const struct files *files = context;
    struct file file;
    switch (find(files->root, request->path, &file)) {
    case FOUND:
        give(request, &file, response);
        break;
    case MISSING:
        response_say(response, HTTP_NOT_FOUND, "There is no such file.");
        break;
    case DIRECTORY:
        redirect(request, response);
        break;
    case BUSY:
        response_say(response, HTTP_SERVICE_UNAVAILABLE, "Too many files are open.");
        break;
    }
    return true;
}

bool files_open(struct files *files, const char *root)
{
    struct stat status;
    if (!root)
        return true;
    if (!realpath(root, files->root) || stat(files->root, &status) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
}

void files_add_route(struct files *files, struct http *http)
{
    const struct http_route route = {
        .path = "/", .methods = HTTP_GET, .handle = answer, .context = files};
    http_add_route(http, &route);
}
