/* This module reads and answers the requests by which the operator sees sessions, ends them and
   blocks addresses: /sessions and /blocks. */
#ifndef CAUSEWAY_RELAY_COMMANDS_H
#define CAUSEWAY_RELAY_COMMANDS_H

#include "http/request.h"
#include "http/response.h"
#include "session/blocks.h"
#include "session/command.h"

#include <stdbool.h>

/* Reads the command of a request. Returns false after refusing it in the response. */
typedef bool command_reader(const struct http_request *request, struct command *command,
                            struct http_response *response);

command_reader commands_read_list;
command_reader commands_read_record;
command_reader commands_read_end;
command_reader commands_read_block;
command_reader commands_read_unblock;

/* Writes the result of a command; `page` has its summaries. */
void commands_answer(const struct command *command, const struct command_result *result,
                     const struct session_summary *page, struct http_response *response);

/* Writes the list of blocks. */
void commands_list_blocks(struct blocks *blocks, struct http_response *response);

#endif
