-- Returns the time; the eviction policy, if memory is limited; and the identity of the server: its run id, replication
-- history, and number of flushes. '' if that may not be read.

local t = redis.call('TIME')
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local memory, stats = info('memory'), info('commandstats')
local function calls(command) return string.match(stats, 'cmdstat_' .. command .. ':calls=(%d+)') or '0' end
local bounded = memory ~= '' and not string.find(memory, '\nmaxmemory:0\r', 1, true)
local run = string.match(info('server'), 'run_id:(%x+)')
local history = string.match(info('replication'), 'master_replid:(%x+)')
return {
  t[1], t[2], bounded and string.match(memory, 'maxmemory_policy:(%S+)') or '',
  run and history and run .. ' ' .. history .. ' ' .. calls('flushall') .. ' ' .. calls('flushdb') or '',
}
