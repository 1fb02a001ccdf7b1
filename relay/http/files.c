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

enum file_result file_find(const char *root, const char *path, struct file *out)
{
    char real[PATH_MAX];
    size_t size = strlen(path);
    if (size == 0 || path[0] != '/' || is_hidden(path))
        return FILE_MISSING;
    const char *index = path[size - 1] == '/' ? "index.html" : "";
    if (!find_path(root, path, index, real))
        return FILE_MISSING;
    /* O_NONBLOCK: opening a pipe would otherwise wait for its other end. */
    out->fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (out->fd < 0)
        return errno == EMFILE || errno == ENFILE ? FILE_BUSY : FILE_MISSING;
    bool known = fstat(out->fd, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
        bool directory = known && S_ISDIR(status.st_mode) && !index[0];
        close(out->fd);
        return directory ? FILE_DIRECTORY : FILE_MISSING;
    }
    out->size = status.st_size;
    out->type = type_of(real);
    snprintf(out->etag, sizeof out->etag, "\"%jx-%jx-%lx\"", (intmax_t)status.st_size,
             (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    return FILE_FOUND;
}
