/* Tests of the datagrams of two connections, which are as they were when the vectors said that they
   were right. */
#include "fixture.h"

#include "connections.h"
#include "golden.h"
#include "rich_schema.h"

static uint8_t block[950];

static void send_message(struct cw_connection *from, uint32_t channel, uint32_t type, uint32_t i,
                         double now)
{
    struct cw_message *message;
    assert_int_equal(cw_connection_create_message(from, type, &message), CW_OK);
    if (type == RICH_STATE) {
        struct rich_state *state = message->data;
        state->alive = i % 2;
        state->health = (int32_t)(i * 37 % 201) - 100;
        state->score = i * 12345 % 1000001;
        state->far = (int64_t)i * 123456789 - 5000000000;
        state->id = 0x123456789ABCu ^ i;
        state->x = (float)i / 8;
        state->y = (double)i / 1024;
        state->angle = (float)(i * 10 % 360) - 180;
        state->target.present = i % 3 == 0;
        state->target.value = state->target.present ? i * 7 % 4096 : 0;
        state->path.count = i % 17;
        for (uint32_t j = 0; j < state->path.count; j++)
            state->path.items[j] = (int32_t)(i * j % 201) - 100;
    } else if (type == RICH_CHAT) {
        struct rich_chat *chat = message->data;
        snprintf(chat->text, sizeof chat->text, "message %u \xC3\xA9", i);
        chat->voice.size = i * 11 % 201;
        memset(chat->voice.data, (int)i, chat->voice.size);
        chat->names.count = i % 5;
        for (uint32_t j = 0; j < chat->names.count; j++)
            snprintf(chat->names.items[j], sizeof chat->names.items[j], "n%u", i + j);
    } else if (type == RICH_STEPS) {
        struct rich_steps *steps = message->data;
        steps->count = i % 9;
        for (uint32_t j = 0; j < steps->count; j++)
            steps->steps[j] = (j > 0 ? steps->steps[j - 1] : 0) + 1 + (i + j) * (i + j) * j;
    } else if (type == RICH_FILE) {
        snprintf(((struct rich_file *)message->data)->name, 20, "file %u", i);
        cw_message_attach(message, block, 1 + i * 97 % 950, NULL, NULL);
    }
    assert_int_equal(cw_connection_send(from, channel, message, now), CW_OK);
}

TEST(test_datagrams_are_as_they_were)
{
    struct golden golden = golden_open(CAUSEWAY_GOLDEN "/connection.txt", 8);
    struct cw_schema *schema = own(rich_schema(), schema_end);
    struct cw_connection_config config = rich_config(schema);
    for (uint32_t i = 0; i < config.channel_count; i++)
        config.channels[i].max_message_size = 0; /* the datagrams are older */
    struct cw_connection *sides[2] = {connection_with(&config), connection_with(&config)};
    char fingerprint[17];
    snprintf(fingerprint, sizeof fingerprint, "%016llx",
             (unsigned long long)cw_connection_fingerprint(&config));
    assert_true(golden_bytes(&golden, "fingerprint", fingerprint, 16));
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = block_byte(9, i);
    for (uint32_t i = 0; i < 30; i++) {
        const double now = i * TICK;
        for (uint32_t side = 0; side < 2; side++) {
            static const uint32_t types[] = {RICH_STATE, RICH_CHAT, RICH_STEPS, RICH_PING};
            struct cw_connection *from = sides[side];
            if (i % (2 + side) == 0)
                send_message(from, 0, types[i / 2 % 4], i, now);
            if (i % 3 == side)
                send_message(from, 1, types[i % 4], i, now);
            if (i % 8 == side)
                send_message(from, 2, RICH_FILE, i, now);
            if (i % 5 == 2)
                send_message(from, 3, RICH_FILE, i, now);
            uint8_t datagram[2048];
            uint32_t number = 0;
            cw_connection_update(from, now);
            for (size_t size; (size = transmit(from, datagram, now)) > 0; number++) {
                char name[32];
                snprintf(name, sizeof name, "tick_%u_side_%u_packet_%u", i, side, number);
                assert_true(golden_bytes(&golden, name, datagram, size));
                if ((i + side) % 5 != 3)
                    assert_int_equal(receive_exact(sides[!side], datagram, size, now), CW_OK);
            }
            drain(sides[!side]);
        }
    }
    assert_true(golden_close(&golden));
}
