/* Static files: which file a path stands for, and its type. */
#ifndef CAUSEWAY_RELAY_FILES_H
#define CAUSEWAY_RELAY_FILES_H

#include <stdbool.h>
#include <sys/types.h>

struct file {
    int fd; /* open for reading; the caller closes it */
    off_t size;
    const char *type; /* the value of Content-Type */
    char etag[48];    /* the value of ETag, with its quotes; changes with the file */
};

enum file_result {
    FILE_FOUND,
    FILE_MISSING,   /* there is no such file; also: it is outside the root, hidden, or not a file */
    FILE_DIRECTORY, /* the path needs a slash at its end */
    FILE_BUSY,      /* the system has no descriptor left for it */
};

/* Finds and opens the file for a decoded path that begins with '/'. A path that ends with '/'
   stands for its index.html. root is a real path. Nothing outside root is ever found, not even
   through links, and nothing whose name begins with a dot, except /.well-known/ (RFC 8615). */
enum file_result file_find(const char *root, const char *path, struct file *out);

#endif
