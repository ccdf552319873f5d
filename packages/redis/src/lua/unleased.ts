/** The first word of what is answered of a key of which somebody has units on lease. */
const LEASED = 'LEASED'

const message = `${LEASED} units of the key are on lease`

/**
 * Before the batch of `exactDriver`: keys of which somebody has units on lease are refused, as those that are unusable
 * are. Leases stand beside the cells of their key, in its slot.
 */
export const refuseLeased: string = `
local leases = {}
for i = 1, #KEYS do leases[i] = KEYS[i] .. ':leases' end
if call('EXISTS', unpack(leases)) > 0 then
  messages[1] = '${message}'
  for i = 1, #KEYS do
    if call('EXISTS', leases[i]) == 1 then broken[KEYS[i]] = 1 end
  end
end
`

/** The same before `soleDriver`. */
export const refuseLeasedSole: string = `
if call('EXISTS', KEYS[1] .. ':leases') == 1 then return stamp .. ' !1\\n${message}' end
`
