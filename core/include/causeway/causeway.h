/* The whole core. */
#ifndef CAUSEWAY_H
#define CAUSEWAY_H

#include "causeway/address.h"
#include "causeway/allocator.h"
#include "causeway/bits.h"
#include "causeway/blend.h"
#include "causeway/channel.h"
#include "causeway/client.h"
#include "causeway/clock_sync.h"
#include "causeway/congestion.h"
#include "causeway/connection.h"
#include "causeway/crypto.h"
#include "causeway/endpoint.h"
#include "causeway/error.h"
#include "causeway/history.h"
#include "causeway/interpolation.h"
#include "causeway/key.h"
#include "causeway/message.h"
#include "causeway/prediction.h"
#include "causeway/schema.h"
#include "causeway/schema_bytes.h"
#include "causeway/secure_packet.h"
#include "causeway/sequence.h"
#include "causeway/sequence_buffer.h"
#include "causeway/server.h"
#include "causeway/simulator.h"
#include "causeway/snapshot.h"
#include "causeway/stream.h"
#include "causeway/token.h"
#include "causeway/version.h"

#endif
