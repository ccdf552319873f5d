-- Like `refuse-leased`, for `exact-sole`.

if call('EXISTS', KEYS[1] .. ':leases') == 1 then return stamp .. ' !1\nLEASED units of the key are on lease' end
