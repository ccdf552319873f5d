-- Start of most scripts: functions that the algorithms use, with the same names as in TypeScript; the time; and the
-- check of the deadline.
--
-- ARGV[1]: the deadline in ms of server time, or `=` and a time in ms to use instead of the server's, or ''.
--
-- After the deadline the script returns 'late' and the time, and does nothing. `stamp` is the time in replies, in the
-- form seconds:microseconds, because concatenating the strings of TIME is faster than formatting a number.

local KEYS, ARGV, call, format = KEYS, ARGV, redis.call, string.format
local floor, ceil, min, max, huge = math.floor, math.ceil, math.min, math.max, math.huge
local WRONGTYPE = 'WRONGTYPE the value is no count of Sluice'

local time = call('TIME')
local now, stamp = time[1] * 1000 + time[2] / 1000, time[1] .. ':' .. time[2]
local longer, expiryOffset = 0, 0
local deadline = tonumber(ARGV[1])
if deadline then
  if now > deadline then return 'late ' .. stamp end
elseif ARGV[1] ~= '' then
  now = tonumber(string.sub(ARGV[1], 2))
  stamp = format('%.17g', now)
  -- with another clock, keys must not expire early by the server's clock: they live ten minutes longer
  longer = 600000
  -- the end of a window that is stored as the expiry of its key must be in the future by both clocks
  expiryOffset = 2^50
end
