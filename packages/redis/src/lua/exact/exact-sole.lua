-- End of a script that runs one take of one charge: `exact-sole-load`, the text of a take, and this. Same result as
-- `exact-batch`.

if wait == 0 and cost > 0 then store(KEYS[1], c, layout, reset) end
return format('%s %d %d %.17g %d', stamp, left, wait < 2^53 and wait or -1, reset, grows < 2^53 and grows or -1)
