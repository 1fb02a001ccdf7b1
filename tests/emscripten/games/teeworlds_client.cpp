// A player of Teeworlds without graphics: the network, the packing and the snapshots are the game's
// own, unchanged; it enters the game and prints how many of the server's 50 snapshots a second
// come. It knows nothing of pages.
//   teeworlds_client HOST PORT
#include <base/system.h>
#include <engine/message.h>
#include <engine/shared/compression.h>
#include <engine/shared/config.h>
#include <engine/shared/network.h>
#include <engine/shared/protocol.h>
#include <engine/shared/snapshot.h>
#include <generated/protocol.h>

#include <cstdio>
#include <cstdlib>

namespace
{

constexpr int snapshots_wanted = 400;
constexpr int client_version = 0x0705;
constexpr const char *net_version = "0.7 802f1be60a05665f";

CConfig config;
CNetClient net;
CSnapshotDelta delta;
CSnapshotStorage storage;
char incoming[CSnapshot::MAX_SIZE];
int incoming_tick = -1, incoming_parts = 0;
int first_tick = -1, acknowledged_tick = -1, snapshots = 0;

void fail(const char *what)
{
    std::printf("failed: %s\n", what);
    std::exit(1);
}

void send(const CMsgPacker &message, int flags)
{
    CNetChunk chunk = {};
    chunk.m_pData = message.Data();
    chunk.m_DataSize = message.Size();
    chunk.m_Flags = flags;
    net.Send(&chunk);
}

void send_vital(const CMsgPacker &message)
{
    send(message, NETSENDFLAG_VITAL | NETSENDFLAG_FLUSH);
}

void send_info()
{
    CMsgPacker message(NETMSG_INFO, true);
    message.AddString(net_version, 128);
    message.AddString("", 128);
    message.AddInt(client_version);
    send_vital(message);
}

void send_start()
{
    CNetMsg_Cl_StartInfo start = {};
    start.m_pName = "page";
    start.m_pClan = "";
    start.m_Country = -1;
    for (auto &part : start.m_apSkinPartNames)
        part = "standard";
    CMsgPacker message(start.MsgID());
    start.Pack(&message);
    send_vital(message);
    send_vital(CMsgPacker(NETMSG_ENTERGAME, true));
}

void send_input()
{
    CMsgPacker message(NETMSG_INPUT, true);
    message.AddInt(acknowledged_tick);
    message.AddInt(acknowledged_tick + 2);
    message.AddInt(sizeof(CNetObj_PlayerInput));
    for (unsigned i = 0; i < sizeof(CNetObj_PlayerInput) / sizeof(int); i++)
        message.AddInt(0);
    message.AddInt(0);
    send(message, NETSENDFLAG_FLUSH);
}

// Unpacks a snapshot whose parts have all come, and checks that it says what the server meant.
void unpack(int tick, int base_tick, int size, int crc)
{
    static CSnapshot empty;
    alignas(CSnapshot) static char unpacked[CSnapshot::MAX_SIZE];
    static int numbers[CSnapshot::MAX_SIZE / sizeof(int)];
    auto *snapshot = reinterpret_cast<CSnapshot *>(unpacked);
    CSnapshot *base = &empty;
    empty.Clear();
    if (base_tick >= 0 && storage.Get(base_tick, nullptr, &base, nullptr) < 0) {
        acknowledged_tick = -1; // the server then sends a whole one
        return;
    }
    const void *changes = delta.EmptyDelta();
    int changes_size = 3 * sizeof(int);
    if (size > 0) {
        changes_size = CVariableInt::Decompress(incoming, size, numbers, sizeof numbers);
        changes = numbers;
    }
    const int snapshot_size =
        delta.UnpackDelta(base, snapshot, const_cast<void *>(changes), changes_size);
    if (snapshot_size < 0 || (size > 0 && snapshot->Crc() != crc))
        fail("a snapshot is wrong");
    storage.PurgeUntil(base_tick);
    storage.Add(tick, time_get(), snapshot_size, snapshot, 0);
    acknowledged_tick = tick;
    if (first_tick < 0)
        first_tick = tick;
    snapshots++;
}

void take_snapshot(int type, CUnpacker &unpacker)
{
    const int tick = unpacker.GetInt(), base_tick = tick - unpacker.GetInt();
    const int parts = type == NETMSG_SNAP ? unpacker.GetInt() : 1;
    const int part = type == NETMSG_SNAP ? unpacker.GetInt() : 0;
    const int crc = type == NETMSG_SNAPEMPTY ? 0 : unpacker.GetInt();
    const int size = type == NETMSG_SNAPEMPTY ? 0 : unpacker.GetInt();
    const unsigned char *data = unpacker.GetRaw(size);
    if (unpacker.Error() || parts > CSnapshot::MAX_PARTS || part < 0 || part >= parts ||
        size > MAX_SNAPSHOT_PACKSIZE)
        fail("a message is wrong");
    if (tick < incoming_tick)
        return;
    if (tick != incoming_tick)
        incoming_parts = 0;
    incoming_tick = tick;
    mem_copy(incoming + part * MAX_SNAPSHOT_PACKSIZE, data, size);
    incoming_parts |= 1 << part;
    if (incoming_parts != (1 << parts) - 1)
        return;
    incoming_parts = 0;
    unpack(tick, base_tick, (parts - 1) * MAX_SNAPSHOT_PACKSIZE + size, crc);
}

void take(const CNetChunk &chunk)
{
    CUnpacker unpacker;
    unpacker.Reset(chunk.m_pData, chunk.m_DataSize);
    const int type = unpacker.GetInt();
    if (!(type & 1)) // the message is one of the game itself
        return;
    if (type >> 1 == NETMSG_MAP_CHANGE)
        send_vital(CMsgPacker(NETMSG_READY, true));
    else if (type >> 1 == NETMSG_CON_READY)
        send_start();
    else if (type >> 1 == NETMSG_SNAP || type >> 1 == NETMSG_SNAPSINGLE ||
             type >> 1 == NETMSG_SNAPEMPTY)
        take_snapshot(type >> 1, unpacker);
}

} // namespace

int main(int argc, char **argv)
{
    NETADDR any = {}, server = {};
    if (argc != 3 || net_addr_from_str(&server, argv[1]) != 0)
        return 1;
    server.port = static_cast<unsigned short>(std::atoi(argv[2]));
    any.type = NETTYPE_ALL;
    secure_random_init();
    storage.Init();
    CNetObjHandler handler;
    for (int i = 0; i < NUM_NETOBJTYPES; i++)
        delta.SetStaticsize(i, handler.GetObjSize(i));
    if (!net.Open(any, &config, nullptr, nullptr, NETCREATE_FLAG_RANDOMPORT))
        fail("no socket");
    net.Connect(&server);
    bool informed = false;
    int64 input_at = 0;
    while (snapshots < snapshots_wanted) {
        CNetChunk chunk;
        net.Update();
        while (net.Recv(&chunk))
            if (!(chunk.m_Flags & NETSENDFLAG_CONNLESS))
                take(chunk);
        if (net.State() == NETSTATE_OFFLINE)
            fail(net.ErrorString());
        if (net.State() == NETSTATE_ONLINE && !informed) {
            informed = true;
            send_info();
        }
        if (acknowledged_tick >= 0 && time_get() >= input_at) {
            input_at = time_get() + time_freq() / SERVER_TICK_SPEED;
            send_input();
        }
        thread_sleep(5);
    }
    net.Disconnect("done");
    std::printf("%d snapshots in %d ticks\ndone\n", snapshots, incoming_tick - first_tick + 1);
    return 0;
}
