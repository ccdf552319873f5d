-- Returns the time of the server and its identity.
--
-- KEYS: any key of the server; not used.
--
-- Returns: seconds; microseconds; the eviction policy, or '' if memory is not limited; the identity, which is the run
-- id, the replication id and the numbers of FLUSHALL and FLUSHDB calls, or '' if INFO is not permitted.

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
