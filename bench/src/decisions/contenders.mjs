import { mapContenders, yardstick } from './map-contenders.mjs'
import { peerContenders } from './peer-contenders.mjs'
import { sluiceContenders } from './sluice-contenders.mjs'

const contenders = [...mapContenders, ...peerContenders, ...sluiceContenders]

/** Contenders whose name contains `only`, and always the one that ratios divide by. */
export function chooseContenders(only = '') {
  return contenders.filter(({ name }) => name.includes(only) || name === yardstick)
}

/** `promise`: `{ limit, windowMs, capacity, maxBytes }`; contenders that need a smaller limit get one. */
export async function openContender(name, promise) {
  const contender = contenders.find((candidate) => candidate.name === name)
  const limit = Math.min(promise.limit, contender.maxLimit ?? Infinity)
  return { contender, limit, ...(await contender.open({ ...promise, limit })) }
}

/** Result of one call, whether it was returned, awaited or thrown as a denial. */
export async function ask({ take, allowed }, key) {
  try {
    return allowed(await take(key))
  } catch (denial) {
    if (denial instanceof Error) throw denial
    return false
  }
}

/** Throws unless the contender denies one key above its limit and does not affect another. */
export async function proveCounting(name) {
  const limit = 5
  const opened = await openContender(name, { limit, windowMs: 60_000, capacity: 1_000, maxBytes: 1 << 20 })
  if (opened.contender.counts !== false) await proveDenial(name, opened, limit)
}

/** Throws unless one key is denied once `limit` decisions were allowed, and another is not. */
export async function proveDenial(name, opened, limit) {
  const answers = []
  for (let call = 0; call < limit + 2; call++) answers.push(await ask(opened, 'attacker'))
  answers.push(await ask(opened, 'neighbour'))
  const expected = [...Array(limit).fill(true), false, false, true]
  if (answers.join() !== expected.join()) throw new Error(`${name} does not count: ${answers.join()}`)
}
