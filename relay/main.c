/* causeway-relay forwards datagrams between browsers and UDP game servers. */
#include "causeway/base.h"
#include "http/descriptors.h"
#include "options/options.h"
#include "os/log.h"
#include "process/beside.h"
#include "process/certificates.h"
#include "process/supervisor.h"
#include "relay.h"
#include "rtc/dtls_memory.h"

#include <signal.h>
#include <stdio.h>
#ifdef CAUSEWAY_STATIC_RELAY
#include <nss.h>
#endif

/* A start that fails with EXIT_BAD_OPTION would fail again; the unit of systemd does not repeat it.
 */
enum { EXIT_STOPPED = 0, EXIT_CANNOT_START = 1, EXIT_BAD_OPTION = 2 };

static int run(const struct options *options, struct startup *startup)
{
    int code;
    log_set_level(options->log_level);
    log_set_format(options->log_format);
    log_set_worker(startup->worker);
    /* A worker gets the certificates of TLS from its supervisor. */
    if (startup->worker == 0 && !certificates_check(options))
        return EXIT_BAD_OPTION;
    if (options->check_config) {
        puts("ok");
        return EXIT_STOPPED;
    }
    /* A worker or a successor has a parent that has one beside it. */
    if (options->exec && startup->channel < 0 && !beside_begin(options->exec, &code))
        return code;
    if (options->workers > 0 && startup->worker == 0)
        return supervisor_run(options, startup) ? EXIT_STOPPED : EXIT_CANNOT_START;
    struct relay *relay = relay_create(options, startup);
    if (!relay)
        return EXIT_CANNOT_START;
    relay_run(relay);
    relay_destroy(relay);
    return EXIT_STOPPED;
}

int main(int argc, char **argv)
{
    struct startup startup;
    struct options options;
    struct options_error error;
    int result = EXIT_STOPPED;
#ifdef CAUSEWAY_STATIC_RELAY
    /* The other sources in /etc/nsswitch.conf are modules for the system's own C library, which may
       be of another version than the one in this program. */
    __nss_configure_lookup("hosts", "files dns");
#endif
    dtls_memory_use();
    signal(SIGPIPE, SIG_IGN);
    if (!descriptors_open_standard())
        return EXIT_CANNOT_START;
    log_open();
    if (!startup_receive(&startup))
        return EXIT_CANNOT_START;
    if (!options_load(argc, argv, startup.options, &options, &error)) {
        fprintf(stderr, "causeway-relay: %s (--help tells more)\n", error.text);
        return EXIT_BAD_OPTION;
    }
    if (options.help)
        options_print_usage();
    else if (options.version)
        puts("causeway-relay " CAUSEWAY_VERSION);
    else
        result = run(&options, &startup);
    options_free(&options);
    return result;
}
