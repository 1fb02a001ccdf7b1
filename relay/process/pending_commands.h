/* This module has the operator's commands that workers are carrying out. Each command goes to all
   workers that it concerns, and their results are added up. */
#ifndef CAUSEWAY_RELAY_PENDING_COMMANDS_H
#define CAUSEWAY_RELAY_PENDING_COMMANDS_H

#include "http/descriptors.h"
#include "options/options.h"
#include "os/loop.h"
#include "process/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PENDING_COMMANDS_MAX DESCRIPTORS_ADMIN

/* The way in which commands reach the workers, of which the first has the number 1. */
struct pending_commands_config {
    struct loop *loop;
    unsigned workers;
    /* Returns false when a worker serves nobody now, so that a command does not concern it. */
    bool (*serves)(void *context, unsigned worker);
    /* Returns false when the worker does not take the message; fd stays the caller's. */
    bool (*send)(void *context, unsigned worker, const struct command_message *message, int fd);
    /* Takes the result of a command; `page` has its summaries. */
    void (*finish)(void *context, uint64_t ticket, const struct command *command,
                   const struct command_result *result, const struct session_summary *page);
    void *context;
};

struct pending_commands {
    struct pending_commands_config config;
    struct pending_command {
        struct pending_commands *owner;
        uint64_t ticket; /* 0 = this place has no command */
        struct command command;
        struct command_result result;              /* the sum of the answers so far */
        bool is_awaited[OPTIONS_WORKERS_MAX];      /* the worker has not answered */
        unsigned page_counts[OPTIONS_WORKERS_MAX]; /* the number of sessions in the worker's page */
        /* the pages of all workers; NULL when the command has none */
        struct session_summary *pages;
        size_t pages_size;
        struct loop_timer timer;
    } list[PENDING_COMMANDS_MAX];
};

/* Sends a command to the workers. `done` tells that the supervisor has carried out its own part
   with success. */
void pending_commands_start(struct pending_commands *commands, const struct command *command,
                            uint64_t ticket, bool done);

/* Takes a struct command_reply from a worker. */
void pending_commands_take(struct pending_commands *commands, unsigned worker, const void *data,
                           size_t size);

/* Goes on without a worker that has died, which counts as silent: its sessions wait for a link at
   another, and are in no list meanwhile. */
void pending_commands_forgo(struct pending_commands *commands, unsigned worker);

/* Drops all commands without a result. */
void pending_commands_drop(struct pending_commands *commands);

#endif
