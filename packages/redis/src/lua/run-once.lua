-- Records the result of a command for a key under its idempotency id, next to the key and in the same slot, for as long
-- as the command may arrive again.

-- results to store at the end of the script, by name
local done = {}
local function doneBefore(key, id)
  local name = key .. ':done:' .. id
  return done[name] or redis.pcall('GET', name)
end

local function isDone(key, id, result) done[key .. ':done:' .. id] = result end

local function storeDone()
  for name, result in pairs(done) do call('SET', name, result, 'PX', format('%d', REMEMBERED_MS + longer)) end
end
