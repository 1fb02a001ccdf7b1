#include "options/options_internal.h"

#include <stdio.h>
#include <string.h>

/* Columns of the help. */
#define INDENT 26
#define WIDTH  92

static const char before[] =
    "Usage: causeway-relay --listen ADDRESS:PORT --upstream HOST:PORT [option...]\n"
    "\n"
    "Carries datagrams between browsers (WebSocket, subprotocol causeway.v1, and WebRTC data\n"
    "channels) and UDP game servers. Each browser gets a UDP socket of its own towards its\n"
    "game server.\n";

static const char after[] =
    "\n"
    "SIGTERM refuses newcomers and, after --drain-timeout or when the last session has gone,\n"
    "ends the relay. SIGINT, or a second SIGTERM, ends all sessions (close code 1001) and then\n"
    "the relay; one more ends it without waiting for them. SIGUSR1 logs the counters, which are\n"
    "also logged at the end. SIGUSR2 starts the program anew, with the same arguments, and hands\n"
    "it the ports and sessions; links are closed with the code 1012, and pages open new ones.\n"
    "Exit codes: 0 stopped, 1 cannot start (port in use, unknown host), 2 bad option.\n";

/* Prints text between the columns `indent`, where the cursor is, and WIDTH. */
static void print_wrapped(const char *text, int indent)
{
    int column = indent;
    while (*text) {
        const int size = (int)strcspn(text, " ");
        if (column > indent && column + 1 + size > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", size, text);
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
    print_wrapped(text, INDENT);
}

static void print_reloads(void)
{
    char text[1024] = "SIGHUP reads all options again and applies changes of";
    const char *comma = " ";
    for (const struct option_row *row = options_table; row->name; row++) {
        if (!row->reloads)
            continue;
        const size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s--%s", comma, row->name);
        comma = ", ";
    }
    putchar('\n');
    print_wrapped(text, 0);
}

void options_print_usage(void)
{
    fputs(before, stdout);
    for (const struct option_row *row = options_table; row->name; row++) {
        if (row->heading)
            printf("\n%s:\n", row->heading);
        print_row(row);
    }
    print_reloads();
    fputs(after, stdout);
}
