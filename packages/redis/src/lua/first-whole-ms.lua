-- `firstWholeMs` and `wholeMsUntil` of limiter-core in Lua. Most guesses are right, and are checked without a closure.

local function halfWay(low, high) return low + floor((high - low) / 2) end

local function firstWholeMs(guess, passes)
  local passing = max(1, ceil(guess))
  local failing = passing - 1
  local stride = 1
  while not passes(passing) do
    if not (passing < huge) then return huge end
    failing = passing
    passing = passing + stride
    stride = stride * 2
  end
  stride = 1
  while failing > 0 and passes(failing) do
    passing = failing
    failing = max(0, failing - stride)
    stride = stride * 2
  end
  local middle = halfWay(failing, passing)
  while middle > failing and middle < passing do
    if passes(middle) then passing = middle else failing = middle end
    middle = halfWay(failing, passing)
  end
  return passing
end

local function firstWholeFit(fits, c, now, cost, guess)
  local ms = max(1, ceil(guess))
  if fits(c, now + ms, cost) and (ms == 1 or not fits(c, now + ms - 1, cost)) then return ms end
  return firstWholeMs(guess, function(later) return fits(c, now + later, cost) end)
end

local function wholeMsUntil(instant, now)
  local guess = max(1, ceil(instant - now))
  if now + guess >= instant and (guess == 1 or now + (guess - 1) < instant) then return guess end
  return firstWholeMs(guess, function(ms) return now + ms >= instant end)
end
