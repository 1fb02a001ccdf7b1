/* A file on its way to a client. libwebsockets can send files too, but while it does, it looks over
   and over, at full load, at what the client sends without reading it. So the connection is put to
   sleep here, and the file is written to the socket directly. */
#ifndef CAUSEWAY_RELAY_DOWNLOAD_H
#define CAUSEWAY_RELAY_DOWNLOAD_H

#include "os/loop.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct download;

/* Sends a head of `head_size` bytes (copied), then `size` bytes of the file. The file is closed at
   the end, or at once if this fails. When everything has been sent, or cannot be, libwebsockets is
   made to close the connection, which must then call download_end. Returns NULL when the system
   refuses. */
struct download *download_begin(struct loop *loop, struct lws *wsi, const void *head,
                                size_t head_size, int file, off_t size);

/* Stops and frees the download. Returns true when everything had been sent. */
bool download_end(struct download *download);

#endif
