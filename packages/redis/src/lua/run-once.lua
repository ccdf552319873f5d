-- What was done to a key under an id is remembered next to it, in its slot, until the last moment at which the command
-- may arrive.

-- by name: what is to be remembered
local done = {}
local function doneBefore(key, id)
  local name = key .. ':done:' .. id
  return done[name] or redis.pcall('GET', name)
end

local function isDone(key, id, result) done[key .. ':done:' .. id] = result end

local function storeDone()
  for name, result in pairs(done) do call('SET', name, result, 'PX', format('%d', REMEMBERED_MS + longer)) end
end
