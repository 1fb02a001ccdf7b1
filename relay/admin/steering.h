/* What the operator sees of single sessions, and does to them: /sessions and /blocks. */
#ifndef CAUSEWAY_RELAY_STEERING_H
#define CAUSEWAY_RELAY_STEERING_H

#include "admin/request.h"
#include "admin/server.h"
#include "session/session.h"

/* Each answers a request. `rest` is what follows the path of its route. */
void steering_list_sessions(struct sessions *sessions, const struct admin_request *request,
                            const char *rest, struct admin_reply *reply);
void steering_end_session(struct sessions *sessions, const struct admin_request *request,
                          const char *rest, struct admin_reply *reply);
void steering_list_blocks(struct sessions *sessions, const struct admin_request *request,
                          const char *rest, struct admin_reply *reply);
void steering_block(struct sessions *sessions, const struct admin_request *request,
                    const char *rest, struct admin_reply *reply);
void steering_unblock(struct sessions *sessions, const struct admin_request *request,
                      const char *rest, struct admin_reply *reply);

#endif
