-- Start of each script: the functions used by the algorithms, with the same names as in TypeScript, then the time and
-- the deadline. ARGV[1] is the deadline, or `=` and a time to use instead of the server's, or ''. After the deadline
-- the script returns 'late' and the time, and does nothing. `stamp` is the time in replies, seconds:microseconds of the
-- server: an existing string, while a number would have to be formatted.

local KEYS, ARGV, call, format = KEYS, ARGV, redis.call, string.format
local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
local EPSILON_MS = 0.001

local time = call('TIME')
local now, stamp = time[1] * 1000 + time[2] / 1000, time[1] .. ':' .. time[2]
local longer = 0
local deadline = tonumber(ARGV[1])
if deadline then
  if now > deadline then return 'late ' .. stamp end
elseif ARGV[1] ~= '' then
  now = tonumber(string.sub(ARGV[1], 2))
  stamp = format('%.17g', now)
  -- keys must not expire by the server's time
  longer = 600000
end
