/* A file on its way to a client. libwebsockets can send files too, but for as long as that takes it
   looks over and over at what the client sends meanwhile and takes none of it, at full load. So
   here its connection is put to sleep, and the file goes to the socket directly. */
#ifndef CAUSEWAY_RELAY_DOWNLOAD_H
#define CAUSEWAY_RELAY_DOWNLOAD_H

#include "net/loop.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct download;

/* Sends a head of `head_size` bytes (copied), then `size` bytes of the file, which is closed at the
   end, and by a failure. When all is sent, or cannot be, libwebsockets is made to close the
   connection, which must then call download_end. NULL when the system refuses. */
struct download *download_begin(struct loop *loop, struct lws *wsi, const void *head,
                                size_t head_size, int file, off_t size);

/* Stops it, and frees it. True when all had been sent. */
bool download_end(struct download *download);

#endif
