/* causeway-relay: between browsers and a UDP game relay. */
#include "net/descriptors.h"
#include "net/log.h"
#include "options.h"
#include "relay.h"

#include <signal.h>
#include <stdlib.h>

enum { EXIT_STOPPED = 0, EXIT_CANNOT_START = 1, EXIT_BAD_OPTION = 2 };

int main(int argc, char **argv)
{
    struct options options;
    signal(SIGPIPE, SIG_IGN);
    if (!descriptors_open_standard())
        return EXIT_CANNOT_START;
    switch (options_parse(argc, argv, &options)) {
    case OPTIONS_BAD:
        return EXIT_BAD_OPTION;
    case OPTIONS_DONE:
        return EXIT_STOPPED;
    case OPTIONS_RUN:
        break;
    }
    log_open();
    log_set_level(options.log_level);
    struct relay *relay = relay_create(&options);
    if (!relay)
        return EXIT_CANNOT_START;
    relay_run(relay);
    relay_destroy(relay);
    return EXIT_STOPPED;
}
