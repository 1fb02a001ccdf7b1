#include "options_internal.h"

#include <stdio.h>
#include <string.h>

/* Of the help. */
#define INDENT 26
#define WIDTH  92

static const char before[] =
    "Usage: causeway-relay --listen ADDRESS:PORT --upstream HOST:PORT [option...]\n"
    "\n"
    "Carries datagrams between browsers (WebSocket, subprotocol causeway.v1, and WebRTC data\n"
    "channels) and one UDP game server. Each browser gets a UDP socket of its own towards the\n"
    "server.\n";

static const char after[] =
    "\n"
    "SIGTERM, SIGINT and SIGHUP end all sessions (close code 1001) and then the relay; a\n"
    "second one does not wait for them. SIGUSR1 logs the counters, which are also logged at\n"
    "the end.\n"
    "Exit codes: 0 stopped, 1 cannot start (port in use, unknown host), 2 bad option.\n";

/* Prints text between INDENT and WIDTH. The cursor is at INDENT before and after. */
static void print_wrapped(const char *text)
{
    int column = INDENT;
    while (*text) {
        const int size = (int)strcspn(text, " ");
        if (column > INDENT && column + 1 + size > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        }
        column += printf("%s%.*s", column > INDENT ? " " : "", size, text);
        text += size + (text[size] == ' ');
    }
    putchar('\n');
}

static void print_row(const struct option_row *row)
{
    char text[1024];
    char repeats[40] = "";
    char initial[120] = "";
    const int used =
        printf("  --%s%s%s", row->name, row->value ? " " : "", row->value ? row->value : "");
    if (used > INDENT - 2)
        printf("\n%*s", INDENT, "");
    else
        printf("%*s", INDENT - used, "");
    if (row->repeats > 0)
        snprintf(repeats, sizeof repeats, " (up to %u times)", row->repeats);
    if (row->initial)
        snprintf(initial, sizeof initial, " (default %s%s%s)", row->initial,
                 row->zero ? "; 0 = " : "", row->zero ? row->zero : "");
    snprintf(text, sizeof text, "%s%s%s", row->help, repeats, initial);
    print_wrapped(text);
}

void options_print_usage(void)
{
    fputs(before, stdout);
    for (const struct option_row *row = options_table; row->name; row++) {
        if (row->heading)
            printf("\n%s:\n", row->heading);
        print_row(row);
    }
    fputs(after, stdout);
}
