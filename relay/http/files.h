/* The files of --root: which file a path stands for, and the route that sends it. */
#ifndef CAUSEWAY_RELAY_FILES_H
#define CAUSEWAY_RELAY_FILES_H

#include "http/http.h"

#include <limits.h>
#include <stdbool.h>

struct files {
    char root[PATH_MAX]; /* a real path; "" = no files are served */
};

/* Sets the root, which must be an existing directory, or NULL to serve no files. Returns false,
   with errno, when it is not. */
bool files_open(struct files *files, const char *root);

/* Adds the route of all paths that have no other. A path that ends with '/' stands for its
   index.html. Nothing outside the root is ever found, not even through links, and nothing whose
   name begins with a dot, except /.well-known/ (RFC 8615). */
void files_add_route(struct files *files, struct http *http);

#endif
