import { LONGEST_WINDOW_MS } from './drawn-setup.ts'
import type { History } from './history.ts'
import { pass } from './hold-steps.ts'

export async function take(history: History): Promise<void> {
  const { random } = history
  await history.take(history.anyKey(), random.pick([0, 1, 1, 1, 2, 3, 1 + random.whole(20)]))
}

export async function takeTooMuch(history: History): Promise<void> {
  const { allowed } = await history.take(history.anyKey(), 1_000)
  const counting = history.plans[0].filter(({ input, limits }) => input.mode === undefined && !limits)
  history.features.add('too much')
  if (allowed) history.check('what never fits is denied', history.isControlled || counting.every(isExempting), counting)
}

function isExempting({ features }: { readonly features: readonly string[] }): boolean {
  return features.includes('exempt')
}

export async function peek(history: History): Promise<void> {
  const key = history.anyKey()
  const cost = history.random.pick([0, 1, 5, 1_000])
  const before = await history.view(key)
  history.checkDecision(await history.entrance.limiter.peek(key, cost))
  const after = await history.reread(key)
  for (const [name, seen] of after) {
    if (!history.isExact(history.policyOf(name), key)) continue
    history.check('a peek changes nothing', JSON.stringify(seen) === JSON.stringify(before.get(name)), name, key)
  }
  history.features.add('peek')
}

export async function charge(history: History): Promise<void> {
  const { random, entrance } = history
  const key = history.anyKey()
  const units = 1 + random.whole(4)
  const before = await history.view(key)
  await entrance.limiter.charge(key, units)
  await history.settled()
  history.log.push(`charge ${units} to ${key}`)
  for (const drawn of history.plans[0]) {
    if (!history.counts(drawn, key)) continue
    const account = history.account(drawn.input.name, key)
    const now = history.nowOf(drawn)
    account.adjust(now, units, now)
  }
  for (const [name, seen] of await history.view(key)) {
    if (!history.isExact(history.policyOf(name), key) || seen.isBanned) continue
    const was = before.get(name)?.remaining ?? 0
    history.check('a charge leaves at most what was left', seen.remaining <= was, name, key, was, seen)
    history.checkModel(name, key, seen)
  }
  history.features.add('charge')
}

export async function refund(history: History): Promise<void> {
  if (history.taken.length === 0) await history.take(history.anyKey(), 1)
  if (history.taken.length === 0) return
  const { key, plan, take: asked, spent } = history.random.pick(history.taken)
  const most = Math.min(...[...spent.values()].map(({ units }) => units))
  if (!Number.isFinite(most) || most === 0) return
  const units = 1 + history.random.whole(most)
  const before = await history.view(key, plan)
  await asked.charge(-units)
  await history.settled()
  history.log.push(`refund ${units} of ${key} under ${plan}`)
  const after = await history.view(key, plan)
  const { takenAts, takenAt, verdicts } = asked.decision
  for (const [index, verdict] of verdicts.entries()) {
    const { name } = verdict.policy
    const one = spent.get(name)
    const drawn = history.policyOf(name, plan)
    const account = history.account(name, key)
    if (one) {
      one.units -= units
      account.adjust(history.nowOf(drawn), -units, takenAts?.[index] ?? takenAt)
    }
    const seen = after.get(name)
    const was = before.get(name)
    if (!seen || !was || seen.isBanned || was.isBanned || !history.isExact(drawn, key)) continue
    const back = seen.remaining - was.remaining
    const details = [name, key, was, seen, one, units]
    // a unit of another limit has another weight
    if (drawn.limits) continue
    history.check('a refund returns at most what it names', back >= 0 && back <= units, ...details)
    history.check('a refund returns nothing that was not taken', one !== undefined || back === 0, ...details)
    history.checkModel(name, key, seen)
  }
  history.features.add('refund')
}

export async function retry(history: History): Promise<void> {
  const key = history.anyKey()
  const { limiter } = history.entrance
  const cost = 1 + history.random.whole(8)
  // until it is denied
  for (let request = 0; request < 3; request++) if (!(await history.take(key, cost)).allowed) break
  const denial = await limiter.peek(key, cost)
  history.features.add('retry')
  if (denial.allowed || !Number.isFinite(denial.retryAfterMs) || denial.retryAfterMs > 4 * LONGEST_WINDOW_MS) return
  const isExact = denial.verdicts.every((one) => one.allowed || history.isExact(history.policyOf(one.policy.name), key))
  // turns are whole seconds; the denial of a ban also waits for other policies
  const isBooked = (name: string): boolean => history.policyOf(name).input.retry === 'booked'
  const booked = denial.verdicts.some((one) => !one.allowed && isBooked(one.policy.name))
  const isBanned = denial.source === 'banned' && history.plans[0].some(({ input }) => isBooked(input.name))
  if (!isExact || booked || isBanned || history.holds.length > 0) return
  history.log.push(`retry ${cost} of ${key} after ${denial.retryAfterMs}, denied by ${denial.source}`)
  await pass(history, denial.retryAfterMs - 1)
  const soon = await limiter.peek(key, cost)
  history.check('a request is denied until its wait is over', !soon.allowed, key, cost, denial, soon)
  await pass(history, 1)
  const then = await limiter.peek(key, cost)
  const others = then.verdicts.some((one) => !history.isExact(history.policyOf(one.policy.name), key))
  history.check('a request is allowed after its wait', then.allowed || others, key, cost, denial, then)
}
