import { ask, openContender } from './contenders.mjs'
import { openLoad } from './loads.mjs'

const limit = 10

/** Returns the units admitted above the limit, in percent, if 10,000 keys take twice their limit in turn. */
export async function excessPercent(name, smoke) {
  const { keys } = openLoad('uni10k', { smoke })
  const opened = await openContender(name, { limit, windowMs: 3_600_000, capacity: keys.length, maxBytes: 64 << 20 })
  let admitted = 0
  for (let take = 0; take < 2 * limit; take++) {
    for (const key of keys) if (await ask(opened, key)) admitted++
  }
  return (admitted / (limit * keys.length) - 1) * 100
}
