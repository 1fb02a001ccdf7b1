/* SDP: the offers of browsers, offers that must be refused and why, and the answer. */
#include "fixture.h"

#include "relay/rtc/sdp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINGERPRINT                                                                                \
    "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:"   \
    "0f:10"

#define KEY     "AZaz09-_AZaz09-_AZaz09"
#define SESSION "a=x-causeway-session:" KEY

/* This has the shape of a Chromium offer. */
static const char chromium[] =
    "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
    "a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\n"
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n"
    "a=ice-ufrag:4ZcD\r\na=ice-pwd:2/1muCWoOi3uLifh0NuRHlVh\r\na=ice-options:trickle\r\n"
    "a=fingerprint:sha-256 " FINGERPRINT "\r\na=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\n"
    "a=max-message-size:262144\r\n";

/* This has the shape of a Firefox offer: the fingerprint belongs to the session. */
static const char firefox[] =
    "v=0\r\no=mozilla...THIS_IS_SDPARTA-99.0 1 0 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n"
    "a=fingerprint:sha-256 " FINGERPRINT "\r\na=group:BUNDLE 0\r\na=ice-options:trickle\r\n"
    "a=msid-semantic:WMS *\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"
    "c=IN IP4 0.0.0.0\r\na=sendrecv\r\na=ice-pwd:0123456789abcdef0123456789abcdef\r\n"
    "a=ice-ufrag:89abcdef\r\na=mid:0\r\na=setup:actpass\r\na=sctp-port:5000\r\n"
    "a=max-message-size:1073741823\r\n";

static enum sdp_error read_exactly(struct sdp_offer *offer, const char *text, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, text, size);
    const enum sdp_error error = sdp_read_offer(offer, copy, size);
    free(copy);
    return error;
}

/* Reads the offer with one line replaced by another text; NULL cuts it. */
static enum sdp_error read_changed(struct sdp_offer *offer, const char *line, const char *other)
{
    char text[4096];
    const char *at = strstr(chromium, line);
    assert_non_null(at);
    const size_t size = (size_t)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - chromium),
                                         chromium, other, at + strlen(line));
    return read_exactly(offer, text, size);
}

TEST(reads_the_offers_of_browsers)
{
    struct sdp_offer offer;
    assert_int_equal(read_exactly(&offer, chromium, strlen(chromium)), SDP_OK);
    assert_string_equal(offer.ufrag, "4ZcD");
    assert_string_equal(offer.mid, "0");
    assert_int_equal(offer.sctp_port, 5000);
    assert_int_equal(offer.max_message_size, 262144);
    assert_true(offer.bundle);
    assert_int_equal(offer.fingerprint[0], 0x00);
    assert_int_equal(offer.fingerprint[10], 0xaa);
    assert_int_equal(offer.fingerprint[31], 0x10);

    assert_int_equal(read_exactly(&offer, firefox, strlen(firefox)), SDP_OK);
    assert_string_equal(offer.ufrag, "89abcdef");
    assert_int_equal(offer.max_message_size, 1073741823);
    assert_int_equal(offer.fingerprint[31], 0x10);
}

/* Chromium offers its INIT with WebRTC-Sctp-Snap. One that cannot be used counts as none. */
TEST(an_offer_may_have_an_init)
{
    static const struct {
        const char *text;
        uint32_t tag;
    } cases[] = {
        {"AQAAHrCMTdEAUAAA/////0HUv9PAAAAEgAgABoLA", 0xb08c4dd1},
        {"AQAAHGVPFd8AEAAA/////9tAK2qACAAIgsBAwg==", 0x654f15df},
        {"", 0},
        {"AQAAHrCMTdEAUAAA/////0HUv9PAAAAEgAgABoLA=", 0},
        {"AQAAHrCMTdEAUAAA", 0},
        {"AQAAHgAAAAAAUAAA/////0HUv9PAAAAEgAgABoLA", 0},                     /* no tag */
        {"AQAAHrCMTdEAUAAAAAD//0HUv9PAAAAEgAgABoLA", 0},                     /* no streams */
        {"AQAAHrCMTdEAUAAA//8AAEHUv9PAAAAEgAgABoLA", 0},                     /* no streams back */
        {"AQAAFLCMTdEAUAAA/////0HUv9M=", 0},                                 /* no FORWARD-TSN */
        {"AgAAHrCMTdEAUAAA/////0HUv9PAAAAEgAgABoLA", 0},                     /* an INIT ACK */
        {"AQAAHrCMTdEAUAAA/////0HUv9PAAAAEgAgABoLA AQAAHrCMTdEAUAAA////", 0} /* two words */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200];
        struct sdp_offer offer;
        snprintf(line, sizeof line, "a=mid:0\r\na=sctp-init:%s", cases[i].text);
        assert_int_equal(read_changed(&offer, "a=mid:0", line), SDP_OK);
        if (offer.sctp_init.tag != cases[i].tag)
            fail_msg("%s: tag %x", cases[i].text, offer.sctp_init.tag);
    }
}

TEST(the_line_ends_may_be_bare)
{
    char text[4096];
    size_t size = 0;
    for (const char *at = chromium; *at; at++)
        if (*at != '\r')
            text[size++] = *at;
    struct sdp_offer offer;
    assert_int_equal(read_exactly(&offer, text, size), SDP_OK);
    assert_string_equal(offer.mid, "0");
}

TEST(a_fingerprint_of_the_media_goes_first)
{
    struct sdp_offer offer;
    assert_int_equal(read_changed(&offer, "a=group:BUNDLE 0\r\n",
                                  "a=fingerprint:sha-256 FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:"
                                  "FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF:FF\r\n"),
                     SDP_OK);
    assert_int_equal(offer.fingerprint[0], 0);
    assert_false(offer.bundle);
    /* A broken second fingerprint takes nothing from the first. */
    assert_int_equal(read_changed(&offer, "a=setup:actpass\r\n",
                                  "a=fingerprint:sha-256 77:77\r\na=setup:active\r\n"),
                     SDP_OK);
    assert_int_equal(offer.fingerprint[0], 0);
    /* Fingerprints by other hash functions may come along. */
    assert_int_equal(read_changed(&offer, "a=setup:actpass\r\n",
                                  "a=fingerprint:sha-1 00:11\r\na=setup:active\r\n"),
                     SDP_OK);
}

TEST(a_session_may_be_named_anywhere)
{
    struct sdp_offer offer;
    assert_int_equal(read_exactly(&offer, chromium, strlen(chromium)), SDP_OK);
    assert_string_equal(offer.session_key, "");
    assert_int_equal(read_changed(&offer, "t=0 0\r\n", "t=0 0\r\n" SESSION "\r\n"), SDP_OK);
    assert_string_equal(offer.session_key, KEY);
    assert_int_equal(read_changed(&offer, "a=max-message-size:262144\r\n", SESSION), SDP_OK);
    assert_string_equal(offer.session_key, KEY);
    assert_string_equal(offer.server, "");
    assert_int_equal(
        read_changed(&offer, "t=0 0\r\n", "t=0 0\r\na=x-causeway-server:10.0.0.5_7000\r\n"),
        SDP_OK);
    assert_string_equal(offer.server, "10.0.0.5_7000");
}

TEST(says_what_is_wrong)
{
    static const struct {
        const char *line;
        const char *other;
        enum sdp_error error;
    } cases[] = {
        {"v=0\r\n", "", SDP_MALFORMED},
        {"v=0\r\n", "v=1\r\n", SDP_MALFORMED},
        {"s=-\r\n", "nonsense\r\n", SDP_MALFORMED},
        {"s=-\r\n", "\r\n", SDP_MALFORMED},
        {"s=-\r\n", "A=1\r\n", SDP_MALFORMED},
        {"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n", "", SDP_NO_DATA_CHANNEL},
        {"m=application 9", "m=audio 9", SDP_NO_DATA_CHANNEL},
        {"a=mid:0\r\n", "a=mid:0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n", SDP_OTHER_MEDIA},
        {"UDP/DTLS/SCTP webrtc-datachannel", "DTLS/SCTP 5000", SDP_PROTOCOL},
        {"m=application 9", "m=application 99999", SDP_PROTOCOL},
        {"a=ice-ufrag:4ZcD\r\n", "", SDP_UFRAG},
        {"a=ice-ufrag:4ZcD\r\n", "a=ice-ufrag:4Zc\r\n", SDP_UFRAG},
        {"a=ice-ufrag:4ZcD\r\n", "a=ice-ufrag:4Z:D\r\n", SDP_UFRAG},
        {"a=ice-pwd:2/1muCWoOi3uLifh0NuRHlVh\r\n", "", SDP_PASSWORD},
        {"a=ice-pwd:2/1muCWoOi3uLifh0NuRHlVh\r\n", "a=ice-pwd:short\r\n", SDP_PASSWORD},
        {"a=fingerprint:sha-256", "a=fingerprint:sha-1", SDP_FINGERPRINT},
        {"00:11:22", "00:11:2g", SDP_FINGERPRINT},
        {"00:11:22", "00:11-22", SDP_FINGERPRINT},
        {":0f:10\r\n", ":0f\r\n", SDP_FINGERPRINT},
        {"a=setup:actpass", "a=setup:passive", SDP_SETUP},
        {"a=setup:actpass\r\n", "", SDP_SETUP},
        {"a=mid:0\r\n", "", SDP_MID},
        {"a=mid:0\r\n", "a=mid:\r\n", SDP_MID},
        {"a=mid:0\r\n", "a=mid:0 1\r\n", SDP_MID},
        {"a=mid:0\r\n", "a=mid:012345678901234567890123456789012\r\n", SDP_MID},
        {"a=sctp-port:5000\r\n", "", SDP_SCTP_PORT},
        {"a=sctp-port:5000\r\n", "a=sctp-port:0\r\n", SDP_SCTP_PORT},
        {"a=sctp-port:5000\r\n", "a=sctp-port:65536\r\n", SDP_SCTP_PORT},
        {"a=sctp-port:5000\r\n", "a=sctp-port:5000x\r\n", SDP_SCTP_PORT},
        {"a=max-message-size:262144\r\n", "a=max-message-size:99999999999\r\n", SDP_MALFORMED},
        {"a=setup:actpass\r\n", "a=setup:actpass\r\na=ice-lite\r\n", SDP_ICE_LITE},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-session:\r\n", SDP_SESSION_KEY},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-session:" KEY "A\r\n", SDP_SESSION_KEY},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-session:+" KEY "\r\n", SDP_SESSION_KEY},
        {"a=mid:0\r\n", "a=mid:0\r\n" SESSION "\r\n" SESSION "\r\n", SDP_SESSION_KEY},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-server:\r\n", SDP_SERVER},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-server:a b\r\n", SDP_SERVER},
        {"t=0 0\r\n",
         "t=0 0\r\na=x-causeway-server:"
         "0123456789012345678901234567890123456789012345678901\r\n",
         SDP_SERVER},
        {"t=0 0\r\n", "t=0 0\r\na=x-causeway-server:a\r\na=x-causeway-server:b\r\n", SDP_SERVER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sdp_offer offer;
        const enum sdp_error error = read_changed(&offer, cases[i].line, cases[i].other);
        if (error != cases[i].error)
            fail_msg("\"%s\" for \"%s\": %s", cases[i].other, cases[i].line,
                     sdp_error_string(error));
        assert_true(strlen(sdp_error_string(error)) > 20);
    }
}

TEST(bounds_the_size)
{
    char text[SDP_OFFER_MAX + 1];
    struct sdp_offer offer;
    size_t size = strlen(chromium);
    memcpy(text, chromium, size);
    while (size + 6 <= SDP_OFFER_MAX) {
        memcpy(text + size, "a=x:y\n", 6);
        size += 6;
    }
    assert_int_equal(read_exactly(&offer, text, size), SDP_OK);
    memset(text + size, 'z', sizeof text - size);
    assert_int_equal(read_exactly(&offer, text, sizeof text), SDP_TOO_LONG);
}

TEST(no_truncation_is_read_past_its_end)
{
    struct sdp_offer offer;
    const size_t whole = (size_t)(strstr(chromium, "sctp-port:") + 10 - chromium);
    for (size_t size = 0; size <= whole; size++)
        assert_int_not_equal(read_exactly(&offer, chromium, size), SDP_OK);
}

TEST(long_names_fit)
{
    struct sdp_offer offer;
    char line[300];
    char ufrag[SDP_UFRAG_MAX + 2];
    memset(ufrag, 'u', sizeof ufrag);
    ufrag[SDP_UFRAG_MAX] = '\0';
    snprintf(line, sizeof line, "a=ice-ufrag:%s", ufrag);
    assert_int_equal(read_changed(&offer, "a=ice-ufrag:4ZcD", line), SDP_OK);
    assert_string_equal(offer.ufrag, ufrag);
    snprintf(line, sizeof line, "a=ice-ufrag:%su", ufrag);
    assert_int_equal(read_changed(&offer, "a=ice-ufrag:4ZcD", line), SDP_UFRAG);
    assert_int_equal(read_changed(&offer, "a=mid:0", "a=mid:01234567890123456789012345678901"),
                     SDP_OK);
    assert_int_equal(strlen(offer.mid), SDP_MID_MAX);
}

TEST(writes_the_answer)
{
    uint8_t fingerprint[32];
    for (int i = 0; i < 32; i++)
        fingerprint[i] = (uint8_t)(i * 8);
    struct sdp_answer answer = {
        .session = UINT64_MAX,
        .ufrag = "abcd",
        .password = "0123456789012345678901",
        .fingerprint = fingerprint,
        .mid = "data",
        .bundle = true,
        .sctp_port = 5000,
        .max_message_size = 1400,
        .candidate_count = 2,
        .candidates = {{"192.0.2.1", 8081}, {"2001:db8::1", 8081}},
    };
    static const char expected[] =
        "v=0\r\no=- 9223372036854775807 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=ice-lite\r\n"
        "a=group:BUNDLE data\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"
        "c=IN IP4 0.0.0.0\r\na=mid:data\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\n"
        "a=fingerprint:sha-256 "
        "00:08:10:18:20:28:30:38:40:48:50:58:60:68:70:78:80:88:90:98:A0:A8:B0:B8:C0:C8:D0:D8:E0:E8:"
        "F0:F8\r\na=setup:passive\r\na=sctp-port:5000\r\na=max-message-size:1400\r\n"
        "a=candidate:1 1 udp 2130706431 192.0.2.1 8081 typ host\r\n"
        "a=candidate:2 1 udp 2130706175 2001:db8::1 8081 typ host\r\na=end-of-candidates\r\n";
    char out[2048];
    assert_int_equal(sdp_write_answer(out, sizeof out, &answer), strlen(expected));
    assert_string_equal(out, expected);
    char exact[sizeof expected];
    assert_int_equal(sdp_write_answer(exact, sizeof exact, &answer), strlen(expected));
    assert_int_equal(sdp_write_answer(exact, sizeof exact - 1, &answer), 0);
    answer.sctp_init = true;
    sdp_write_answer(out, sizeof out, &answer);
    /* Tag 1, 128 KiB, 65535 streams each way, TSN 0, RE-CONFIG and FORWARD-TSN. */
    assert_non_null(strstr(
        out, "\r\na=sctp-init:AQAAIAAAAAEAAgAA/////wAAAACACAAGgsAAAMAAAAQ=\r\na=candidate:1"));
    answer.sctp_init = false;
    answer.ticket = "TICKET KEY";
    sdp_write_answer(out, sizeof out, &answer);
    assert_string_equal(out + strlen(expected), "a=x-causeway-ticket:TICKET KEY\r\n");
}
