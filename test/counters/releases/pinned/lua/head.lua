local call = redis.call
local state, pending, owed, closed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local server = redis.pcall('INFO', 'server')
local run = type(server) == 'string' and string.match(server, 'run_id:(%x+)') or ''
local epoch, number, lastRun = unpack(call('HMGET', state, 'epoch', 'number', 'run'))
number = tonumber(number or 0)
local function text(whole) return string.format('%.0f', whole) end
local function isClosed() return call('EXISTS', closed) == 1 end
local function isPending() return call('EXISTS', pending) == 1 end
local function owe(id, amount)
  if call('HINCRBY', owed, id, text(amount)) == 0 then call('HDEL', owed, id) end
end
local function shut()
  number = number + 1
  local since = call('HGET', state, 'since') or text(now)
  call('HSET', state, 'number', number, 'closedEpoch', epoch, 'closedNumber', number, 'closedSince', since, 'heldUntil', 0)
  call('HDEL', state, 'since')
  call('RENAME', pending, closed)
end
local function learn(key, at, keptMs)
  call('HSET', key, 'epoch', epoch, 'total', ARGV[at], 'version', ARGV[at + 1], 'updatedAt', ARGV[at + 2])
  call('PEXPIRE', key, keptMs)
end
local function begin()
  epoch, number = ARGV[1], 0
  call('HSET', state, 'epoch', epoch, 'run', run, 'number', 0)
end
local function inEpoch()
  if epoch and lastRun == run then return true end
  if epoch and isPending() then
    if isClosed() then return false end
    shut()
  end
  begin()
  return true
end
