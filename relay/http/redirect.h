/* Plain HTTP beside HTTPS: every request is sent to the HTTPS listener. */
#ifndef CAUSEWAY_RELAY_REDIRECT_H
#define CAUSEWAY_RELAY_REDIRECT_H

#include <libwebsockets.h>

/* Returns the entry for the list of protocols of a vhost of its own. Its user pointer is the
   address of a variable that holds the port to which requests are sent. */
struct lws_protocols redirect_protocol(unsigned *port);

#endif
