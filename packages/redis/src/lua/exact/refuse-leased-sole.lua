-- Like `refuse-leased`, for `exact-sole`. KEYS: the cells and the leases.

if call('EXISTS', KEYS[2]) == 1 then return stamp .. ' !1\nLEASED units of the key are on lease' end
