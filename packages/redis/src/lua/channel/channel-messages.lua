-- Adds a batch of messages to a topic, once, and returns the batches that other processes have added since.
--
-- KEYS: the two keys of `channel-once`; the stream.
-- ARGV: the seven arguments of `channel-once`; ms and bytes that the topic retains; number of bytes after which a reply
-- takes no further messages; the batch.
-- Fields of the topic: `last` and `lost`, the ids of the last added and the last discarded batch; `bytes`, its size.
--
-- Returns the birth of the topic, the new position of the reader, 1 if the reader missed messages, 1 if there are more;
-- then one string per batch.

local stream, batch = KEYS[3], ARGV[11]
local cutoff = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(ARGV[8])

local function parts(id)
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end

local function older(a, b)
  local aMs, aNumber = parts(a)
  local bMs, bNumber = parts(b)
  return aMs < bMs or (aMs == bMs and aNumber < bNumber)
end

local topic = redis.call('HMGET', KEYS[2], 'last', 'lost', 'bytes')
local last, lost, bytes = topic[1] or '0-0', topic[2] or '0-0', tonumber(topic[3] or 0)
-- the stream has expired, because nothing was added for longer than `retainMs`
if redis.call('EXISTS', stream) == 0 then lost, bytes = last, 0 end

-- ids increase even if the clock is set back
local function nextId()
  local ms, number = parts(last)
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if now > ms then return string.format('%.0f-0', now) end
  return string.format('%.0f-%.0f', ms, number + 1)
end

if fresh then
  count()
  last = nextId()
  redis.call('XADD', stream, last, 'writer', writer, 'batch', batch)
  bytes = bytes + #batch
  for _ = 1, 64 do
    local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
    if oldest[1] == last or (parts(oldest[1]) > cutoff and bytes <= tonumber(ARGV[9])) then break end
    lost = oldest[1]
    bytes = bytes - #oldest[2][4]
    redis.call('XDEL', stream, lost)
  end
  redis.call('HSET', KEYS[2], 'last', last, 'lost', lost, 'bytes', bytes)
  redis.call('PEXPIRE', stream, ARGV[8])
end

local missed = reborn or (known ~= '' and older(position, lost))
if older(position, lost) then position = lost end
-- a replica that was promoted had not received all batches
if older(last, position) then position, missed = last, true end
local reply = { born, position, missed and 1 or 0, 0 }
local size, enough = 0, tonumber(ARGV[10])
while wanted do
  local chunk = redis.call('XRANGE', stream, '(' .. position, '+', 'COUNT', 8)
  for _, entry in ipairs(chunk) do
    position = entry[1]
    if entry[2][2] ~= writer then
      reply[#reply + 1] = entry[2][4]
      size = size + #entry[2][4]
    end
  end
  wanted = #chunk == 8 and size < enough
  if #chunk == 8 and not wanted then reply[4] = 1 end
end
reply[2] = position
return reply
