#include "process/certificates.h"

#include "os/tls.h"
#include "rtc/webrtc.h"
#include "webtransport/webtransport.h"

bool certificates_check(const struct options *options)
{
    if (options->tls.certificate_count > 0) {
        struct tls *tls = tls_create(&options->tls);
        tls_destroy(tls);
        if (!tls)
            return false;
    }
    if (options->webtransport &&
        !webtransport_check(options->webtransport_certificate, options->webtransport_key))
        return false;
    if (!options->rtc_certificate)
        return true;
    struct dtls_identity *identity =
        webrtc_load_identity(options->rtc_certificate, options->rtc_key);
    dtls_identity_destroy(identity);
    return identity != NULL;
}
