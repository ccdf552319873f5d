if not inEpoch() then return { 'unfinished' } end
if ARGV[2] ~= '0' and not call('SET', KEYS[5], 1, 'NX', 'PX', ARGV[2]) then return { 'repeated' } end
local ids, values, versions, times, owes = tonumber(ARGV[6]), {}, {}, {}, {}
for i = 1, ids do
  local known, total, version, updatedAt = unpack(call('HMGET', KEYS[5 + i], 'epoch', 'total', 'version', 'updatedAt'))
  versions[i], times[i] = version or '', updatedAt or ''
  owes[i] = call('HGET', owed, ARGV[6 + i])
  if known == epoch then values[i] = tonumber(total) + tonumber(owes[i] or 0) end
end
local largest, room = tonumber(ARGV[5]), tonumber(ARGV[4]) - call('HLEN', owed)
local function refusal(amounts)
  local news = 0
  for _, one in ipairs(amounts) do
    local value = values[one[1]]
    if not value then return 'missing' end
    if math.abs(value + one[2]) > largest then return 'range' end
    if one[2] ~= 0 and call('HEXISTS', owed, ARGV[6 + one[1]]) == 0 then news = news + 1 end
  end
  if news > room then return 'full' end
  room = room - news
end
local function add(index, amount)
  if amount == 0 then return end
  call('HSETNX', state, 'since', text(now))
  call('HINCRBY', pending, ARGV[6 + index], text(amount))
  owe(ARGV[6 + index], amount)
  values[index] = values[index] + amount
  owes[index] = true
end
local answer, at = { epoch }, 7 + ids
while at <= #ARGV do
  local amounts = {}
  for i = 1, tonumber(ARGV[at]) do amounts[i] = { tonumber(ARGV[at + 2 * i - 1]), tonumber(ARGV[at + 2 * i]) } end
  at = at + 1 + 2 * #amounts
  local outcome = refusal(amounts)
  if not outcome then
    for _, one in ipairs(amounts) do add(one[1], one[2]) end
  end
  answer[#answer + 1] = outcome or 'counted'
end
for i = 1, ids do
  if values[i] and owes[i] then call('PEXPIRE', KEYS[5 + i], ARGV[3]) end
  local last = #answer
  answer[last + 1], answer[last + 2], answer[last + 3] = values[i] and text(values[i]) or '', versions[i], times[i]
end
return answer
