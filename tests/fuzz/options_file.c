/* Any bytes stand in the file of --config. They become options within their bounds, or one
   printable line that says where the file is wrong. The copy that workers get says the same as the
   file. */
#include "options/options_internal.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_error(const struct options_error *error)
{
    const size_t size = strnlen(error->text, sizeof error->text);
    expect(size > 0 && size < sizeof error->text);
    for (size_t i = 0; i < size; i++)
        expect((unsigned char)error->text[i] >= ' ' && error->text[i] != 127);
}

static void check_options(const struct options *options)
{
    expect(options->listen_count >= 1 && options->listen_count <= OPTIONS_LISTEN_MAX);
    expect(options->upstreams.count >= 1 && options->upstreams.count <= UPSTREAM_LIST_MAX);
    expect(options->tls.certificate_count == options->tls.key_count);
    expect(options->max_sessions >= 1 && options->max_sessions <= 1000000);
    expect(options->queue_age_seconds >= 0.0 && options->queue_age_seconds <= 60.0);
    expect(options->resume_seconds >= 0.0 && options->resume_seconds <= 1e6);
    expect(options->workers <= OPTIONS_WORKERS_MAX);
    expect(options->workers >= 1 || !options_given(options, "workers"));
    expect(!options->help && !options->version && !options->check_config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *argv[] = {"causeway-relay", "--config", "relay.conf", NULL};
    struct options options;
    struct options again;
    struct options_error error = {{0}};
    const int file = memfd_create("options", MFD_CLOEXEC);
    expect(file >= 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    const bool good = options_load(3, argv, file, &options, &error);
    close(file);
    if (!good) {
        check_error(&error);
        return 0;
    }
    check_options(&options);
    const int copy = options_copy_file(&options);
    expect(copy >= 0 && options_load(3, argv, copy, &again, &error));
    expect(!options_next_fixed(&options, &again, NULL));
    close(copy);
    options_free(&again);
    options_free(&options);
    return 0;
}
