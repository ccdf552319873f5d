-- A fixed window that is stored as an integer, for the command INCREX: the units used, in a key that expires at the end
-- of the window.

-- returns the start of the window and the units used, or nil if the value is of another form
local function readNative(key, value, windowMs)
  local units = #value < 16 and string.match(value, '^%d+$')
  local expiresAt = units and call('PEXPIRETIME', key)
  if not units or expiresAt < 0 then return nil end
  -- a key still exists in the millisecond at which it expires
  return expiresAt + 1 - expiryOffset - windowMs, tonumber(units)
end

local function storeNative(key, start, used, windowMs)
  local expiresAt = min(floor(start) + windowMs - 1, 2^52)
  if used > 0 and expiresAt >= floor(now) then
    -- 16 digits would look like two cells
    call('SET', key, format('%.0f', min(ceil(used), 1e15 - 1)), 'PXAT', format('%.0f', expiresAt + expiryOffset))
  else
    -- also if one of them is NaN
    call('UNLINK', key)
  end
end
