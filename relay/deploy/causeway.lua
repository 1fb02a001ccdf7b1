-- This is a dissector for Wireshark 4.0 or later: it shows the packets of netcode 1.02 between a relay, or a native
-- client, and a game server, and those of reliable 1.0 in them. OPERATING.md says how to use it.

local netcode = Proto("netcode", "netcode 1.02")
local reliable = Proto("reliable", "reliable 1.0")

local VERSION = "NETCODE 1.02\0"
local REQUEST_SIZE, TAG_SIZE = 1078, 16
local TYPES = { [0] = "request", "denied", "challenge", "response", "keep-alive", "payload", "disconnect" }
local BODY_SIZES = { 0, 308, 308, 8, nil, 0 }

local fields = {
  type = ProtoField.uint8("netcode.type", "Type", base.DEC, TYPES, 0x0f),
  sequence_bytes = ProtoField.uint8("netcode.sequence_bytes", "Bytes of the sequence", base.DEC, nil, 0xf0),
  sequence = ProtoField.uint64("netcode.sequence", "Sequence"),
  size = ProtoField.uint16("netcode.size", "Bytes of the body"),
  sealed = ProtoField.bytes("netcode.sealed", "Sealed body"),
  tag = ProtoField.bytes("netcode.tag", "Tag"),
  opened = ProtoField.bytes("netcode.opened", "Opened body, without a check of the tag"),
  protocol = ProtoField.uint64("netcode.protocol", "Protocol id", base.HEX),
  expires = ProtoField.uint64("netcode.expires", "Token expires, in seconds since 1970"),
  nonce = ProtoField.bytes("netcode.nonce", "Token nonce"),
  token = ProtoField.bytes("netcode.token", "Sealed part of the token"),
}
netcode.fields = fields
netcode.prefs.client_key = Pref.string("Client-to-server key", "", "64 hexadecimal digits, from the connect token")
netcode.prefs.server_key = Pref.string("Server-to-client key", "", "64 hexadecimal digits, from the connect token")

local parts = {
  fragment = ProtoField.bool("reliable.fragment", "Fragment", 8, nil, 0x01),
  sequence = ProtoField.uint16("reliable.sequence", "Sequence"),
  ack = ProtoField.uint16("reliable.ack", "Ack"),
  ack_bits = ProtoField.uint32("reliable.ack_bits", "Acks: bit n is packet ack - n", base.HEX),
  fragment_id = ProtoField.uint8("reliable.fragment_id", "Fragment id"),
  fragments = ProtoField.uint16("reliable.fragments", "Fragments"),
  payload = ProtoField.bytes("reliable.payload", "Payload"),
}
reliable.fields = parts

-- Shows the header that a regular packet and a first fragment have. Returns where it ends; nil when it is cut off.
local function show_header(buffer, tree)
  local size = buffer:len()
  if size < 4 then return nil end
  local prefix, sequence, at = buffer(0, 1):uint(), buffer(1, 2):le_uint(), 3
  tree:add_le(parts.sequence, buffer(1, 2))
  if bit32.btest(prefix, 0x20) then
    tree:add(parts.ack, buffer(at, 1), (sequence - buffer(at, 1):uint()) % 65536)
    at = at + 1
  else
    if size < at + 2 then return nil end
    tree:add_le(parts.ack, buffer(at, 2))
    at = at + 2
  end
  local bits, first = 0, at
  for i = 0, 3 do
    local byte = 0xff
    if bit32.btest(prefix, bit32.lshift(2, i)) then
      if size <= at then return nil end
      byte = buffer(at, 1):uint()
      at = at + 1
    end
    bits = bits + byte * 256 ^ i
  end
  tree:add(parts.ack_bits, at > first and buffer(first, at - first) or buffer(0, 1), bits)
  return at
end

function reliable.dissector(buffer, pinfo, root)
  local size = buffer:len()
  if size < 4 then return 0 end
  local tree = root:add(reliable, buffer())
  local fragment = bit32.btest(buffer(0, 1):uint(), 1)
  tree:add(parts.fragment, buffer(0, 1))
  local at = 0
  if fragment then
    if size < 5 then return 0 end
    tree:add_le(parts.sequence, buffer(1, 2))
    tree:add(parts.fragment_id, buffer(3, 1))
    tree:add(parts.fragments, buffer(4, 1), buffer(4, 1):uint() + 1)
    at = 5
  end
  if not fragment or buffer(3, 1):uint() == 0 then
    local header = size > at and show_header(buffer(at):tvb(), tree)
    if not header then return 0 end
    at = at + header
  end
  if at < size then tree:add(parts.payload, buffer(at)) end
  pinfo.cols.protocol = "reliable"
  return size
end

-- Returns the 64 bytes of ChaCha20 (RFC 8439) for a block: state has the key and the nonce as 32-bit words.
local function chacha20_block(state)
  local x = { table.unpack(state) }
  local function mix(a, b, c, left)
    x[a] = (x[a] + x[b]) % 2 ^ 32
    x[c] = bit32.lrotate(bit32.bxor(x[c], x[a]), left)
  end
  local function quarter(a, b, c, d)
    mix(a, b, d, 16)
    mix(c, d, b, 12)
    mix(a, b, d, 8)
    mix(c, d, b, 7)
  end
  for _ = 1, 10 do
    for i = 1, 4 do quarter(i, i + 4, i + 8, i + 12) end
    for i = 0, 3 do quarter(1 + i, 5 + (i + 1) % 4, 9 + (i + 2) % 4, 13 + (i + 3) % 4) end
  end
  local bytes = {}
  for i = 0, 63 do
    local word = (x[1 + bit32.rshift(i, 2)] + state[1 + bit32.rshift(i, 2)]) % 2 ^ 32
    bytes[i] = bit32.extract(word, i % 4 * 8, 8)
  end
  return bytes
end

-- Opens a body with the key, of 64 hexadecimal digits. The nonce is 4 zero bytes and the sequence.
local function open(sealed, key, sequence)
  local state = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }
  for word in key:gmatch("%x%x%x%x%x%x%x%x") do
    local d, c, b, a = word:match("(..)(..)(..)(..)")
    state[#state + 1] = tonumber(a .. b .. c .. d, 16)
  end
  for _, word in ipairs({ 0, 0, sequence:lower(), sequence:higher() }) do state[#state + 1] = word end
  local opened, block = ByteArray.new(), nil
  opened:set_size(sealed:len())
  for i = 0, sealed:len() - 1 do
    if i % 64 == 0 then
      state[13] = i / 64 + 1 -- block 0 makes the key of the tag
      block = chacha20_block(state)
    end
    opened:set_index(i, bit32.bxor(sealed(i, 1):uint(), block[i % 64]))
  end
  return opened
end

-- The ports to which requests went are those of servers.
local servers = {}

local function show_request(buffer, pinfo, tree)
  servers[pinfo.dst_port] = true
  tree:add_le(fields.protocol, buffer(14, 8))
  tree:add_le(fields.expires, buffer(22, 8))
  tree:add(fields.nonce, buffer(30, 24))
  tree:add(fields.token, buffer(54))
  pinfo.cols.info = "request"
end

local function show_sealed(buffer, pinfo, tree, root)
  local kind, count = buffer(0, 1):uint() % 16, bit32.rshift(buffer(0, 1):uint(), 4)
  local size = buffer:len() - 1 - count - TAG_SIZE
  local sequence = buffer(1, count):le_uint64()
  tree:add(fields.sequence_bytes, buffer(0, 1))
  tree:add_le(fields.sequence, buffer(1, count))
  tree:add(fields.size, buffer(0, 1), size):set_generated()
  tree:add(fields.tag, buffer(buffer:len() - TAG_SIZE))
  pinfo.cols.info = string.format("%s, sequence %s, %d bytes", TYPES[kind], tostring(sequence), size)
  if size == 0 then return end
  local sealed = buffer(1 + count, size)
  local key = servers[pinfo.src_port] and netcode.prefs.server_key or netcode.prefs.client_key
  tree:add(fields.sealed, sealed)
  if not key:match("^" .. ("%x"):rep(64) .. "$") then return end
  local opened = open(sealed, key, sequence):tvb("Opened body")
  tree:add(fields.opened, opened())
  if kind == 5 then reliable.dissector(opened, pinfo, root) end
end

local function is_request(buffer)
  return buffer:len() == REQUEST_SIZE and buffer(0, 1):uint() == 0 and buffer(1, #VERSION):raw() == VERSION
end

-- Returns whether a packet has the form of a sealed one.
local function is_sealed(buffer)
  if buffer:len() < 2 + TAG_SIZE then return false end
  local kind, count = buffer(0, 1):uint() % 16, bit32.rshift(buffer(0, 1):uint(), 4)
  local size = buffer:len() - 1 - count - TAG_SIZE
  return TYPES[kind] and kind > 0 and count >= 1 and count <= 8 and size >= 0 and size == (BODY_SIZES[kind] or size)
end

function netcode.dissector(buffer, pinfo, root)
  local requests = is_request(buffer)
  if not requests and not is_sealed(buffer) then return 0 end
  pinfo.cols.protocol = "netcode"
  local tree = root:add(netcode, buffer())
  tree:add(fields.type, buffer(0, 1))
  if requests then
    show_request(buffer, pinfo, tree)
  else
    show_sealed(buffer, pinfo, tree, root)
  end
  return buffer:len()
end

-- A request shows that the packets between its two ports are netcode's.
netcode:register_heuristic("udp", function(buffer, pinfo, root)
  if not is_request(buffer) then return false end
  pinfo.conversation = netcode
  netcode.dissector(buffer, pinfo, root)
  return true
end)
DissectorTable.get("udp.port"):add_for_decode_as(netcode)
DissectorTable.get("udp.port"):add_for_decode_as(reliable)
