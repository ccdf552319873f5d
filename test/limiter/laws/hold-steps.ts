import type { Decision } from '@sluice/limiter-core'
import type { DrawnPolicy } from './drawn-setup.ts'
import type { History } from './history.ts'
import type { OpenHold } from './open-units.ts'

/** Moves the clock, and returns units whose hold is over when the process does. */
export async function pass(history: History, ms: number): Promise<void> {
  const until = history.clock.now() + ms
  const nextOf = (): OpenHold | undefined => history.holds.toSorted((a, b) => a.dueAt - b.dueAt)[0]
  for (let next = nextOf(); next && next.dueAt <= until; next = nextOf()) {
    history.clock.advance(Math.max(0, next.dueAt - history.clock.now()))
    await history.settled()
    giveBack(history, next)
  }
  history.clock.advance(until - history.clock.now())
  await history.settled()
  history.log.push(`pass ${ms}, now ${history.clock.now()}`)
}

/** Returns units that were only taken, because the storage does not hold units. */
function giveBack(history: History, open: OpenHold): void {
  open.dueAt = Number.POSITIVE_INFINITY
  for (const [name, taken] of open.taken) {
    const drawn = history.policyOf(name)
    let returned = open.returned.get(name) ?? 0
    for (const { units, takenAt } of taken.splice(0)) {
      history.account(name, open.key).adjust(history.nowOf(drawn), -units, takenAt)
      returned += units
    }
    open.returned.set(name, returned)
    open.spent.delete(name)
  }
}

/** Whether the storage of a policy holds units. */
function isHeld(history: History, { input }: DrawnPolicy, decision: Decision, index: number): boolean {
  const { storage } = history.policyOf(input.name)
  const isCounted = decision.countedEach?.[index] ?? decision.counted
  return input.maxHoldMs !== undefined && (storage === 'memory' || storage === 'server') && isCounted
}

/** Returns an open hold. If nothing fits, keys are reset. */
async function anyHold(history: History): Promise<OpenHold | undefined> {
  if (history.holds.length > 0) return history.random.pick(history.holds)
  const made = await hold(history)
  if (made || !history.plans[0].some(({ input }) => input.maxHoldMs !== undefined)) return made
  await reset(history)
  return hold(history)
}

/** Holds units of a key. Returns undefined if no policy can hold units, or if they do not fit. */
export async function hold(history: History): Promise<OpenHold | undefined> {
  const longest = history.plans[0].flatMap(({ input }) =>
    input.maxHoldMs === undefined ? [] : Number(input.maxHoldMs),
  )
  if (longest.length === 0) return undefined
  const key = history.anyKey()
  const forMs = 500 + history.random.whole(Math.min(...longest) - 500)
  const units = 1 + history.random.whole(4)
  const before = await history.view(key)
  const made = await history.entrance.limiter.hold(key, { reserve: units, maxMs: forMs })
  await history.settled()
  history.log.push(`hold ${units} of ${key} for ${forMs}: ${made.allowed} by ${made.decision.source}`)
  const open: OpenHold = {
    key,
    hold: made,
    forMs,
    spent: new Map(),
    decided: new Set(),
    taken: new Map(),
    returned: new Map(),
    units: 0,
    dueAt: Number.POSITIVE_INFINITY,
  }
  history.checkDecision(made.decision)
  if (made.allowed) record(history, open, units)
  else strikes(history, open, made.decision)
  for (const [name, seen] of await history.view(key)) {
    const was = before.get(name)
    const drawn = history.policyOf(name)
    if (!was || was.isBanned || seen.isBanned || !history.isExact(drawn, key)) continue
    const left = Math.max(0, was.remaining - (open.spent.has(name) ? units : 0))
    history.check('a hold takes its units, or nothing', history.isLeft(drawn, seen, left), name, key, units, was, seen)
    history.checkModel(name, key, seen)
  }
  history.features.add('hold')
  if (made.allowed) history.holds.push(open)
  return made.allowed ? open : undefined
}

function strikes(history: History, { key }: OpenHold, { verdicts, source }: Decision): void {
  if (source === 'blocked') return
  for (const { allowed, policy } of verdicts) {
    const account = history.account(policy.name, key)
    if (source === 'banned') account.ban(history.clock.now())
    else if (!allowed) account.strike(history.clock.now())
    if (allowed) account.undo()
  }
}

/** Records what an allowed hold, or an extension of it, has taken. */
function record(history: History, open: OpenHold, more: number): void {
  const { key, forMs } = open
  const { decision } = open.hold
  // no policy has decided
  if (decision.source === 'off' || decision.source === 'exempt') return
  const allFit = decision.verdicts.every(({ allowed }) => allowed)
  let mustReturn = false
  open.units += more
  for (const [index, verdict] of decision.verdicts.entries()) {
    const { name } = verdict.policy
    const drawn = history.policyOf(name)
    const account = history.account(name, key)
    const now = history.nowOf(drawn)
    open.decided.add(name)
    if (!verdict.allowed) account.strike(history.clock.now())
    if (verdict.shadow && !allFit) {
      if (verdict.allowed) account.undo()
      continue
    }
    if (isHeld(history, drawn, decision, index)) {
      const held = (open.spent.get(name)?.units ?? 0) + more
      account.hold(open, held, now + forMs)
      open.spent.set(name, { at: history.clock.now(), units: held })
      continue
    }
    const units = more + (open.returned.get(name) ?? 0)
    open.returned.set(name, 0)
    account.take(now, units)
    const takenAt = decision.takenAts?.[index] ?? decision.takenAt
    open.taken.set(name, [...(open.taken.get(name) ?? []), { units, takenAt }])
    open.spent.set(name, { at: history.clock.now(), units: (open.spent.get(name)?.units ?? 0) + units })
  }
  for (const taken of open.taken.values()) mustReturn ||= taken.length > 0
  open.dueAt = mustReturn ? history.clock.now() + forMs : Number.POSITIVE_INFINITY
}

export async function extend(history: History): Promise<void> {
  const open = await anyHold(history)
  if (!open) return
  const units = history.random.whole(4)
  const before = await history.view(open.key)
  const fits = await open.hold.extend(units)
  await history.settled()
  history.log.push(`extend the hold of ${open.key} by ${units}: ${fits}`)
  history.features.add('extend')
  if (fits) record(history, open, units)
  else strikes(history, open, open.hold.decision)
  for (const [name, seen] of await history.view(open.key)) {
    const was = before.get(name)
    if (!was || was.isBanned || seen.isBanned || !history.isExact(history.policyOf(name), open.key)) continue
    const isSame = fits || seen.remaining === was.remaining
    history.check('a denied extension changes nothing', isSame, name, open.key, was, seen)
    history.check('an extension returns nothing', seen.remaining <= was.remaining, name, open.key, was, seen)
    history.checkModel(name, open.key, seen)
  }
}

/** Settles a hold: the rest of its units return. */
export async function settle(history: History, actual: number, chosen?: OpenHold): Promise<void> {
  const open = chosen ?? (await anyHold(history))
  if (!open) return
  const { key } = open
  const before = await history.view(key)
  await (actual === 0 ? open.hold.release() : open.hold.settle(actual))
  await history.settled()
  history.log.push(`settle the hold of ${open.units} of ${key} by ${actual}`)
  history.holds.splice(history.holds.indexOf(open), 1)
  for (const name of open.decided) spend(history, open, name, actual)
  for (const [name, seen] of await history.view(key)) {
    const was = before.get(name)
    if (!was || was.isBanned || seen.isBanned || !history.isExact(history.policyOf(name), key)) continue
    const back = seen.remaining - was.remaining
    // a unit of another limit has another weight
    if (history.policyOf(name).limits) continue
    const most = Math.max(0, (open.spent.get(name)?.units ?? 0) - actual)
    history.check('a settlement returns at most the rest', back <= most, name, key, was, seen, actual, open.units)
    history.checkModel(name, key, seen)
  }
  history.features.add(actual === 0 ? 'release' : 'settle')
}

function spend(history: History, open: OpenHold, name: string, actual: number): void {
  const account = history.account(name, open.key)
  const now = history.nowOf(history.policyOf(name))
  const taken = open.taken.get(name) ?? []
  let spent = actual
  for (const { units, takenAt } of taken) {
    account.adjust(now, spent - units, takenAt)
    spent = 0
  }
  account.release(open)
  account.adjust(now, spent, now)
}

/** Lets the time of a hold pass. */
export async function expire(history: History): Promise<void> {
  const open = await anyHold(history)
  if (!open) return
  const longest = Math.max(...history.plans[0].map(({ input }) => Number(input.maxHoldMs ?? 0)))
  await pass(history, open.forMs + Math.ceil(longest / 8) + 1)
  for (const [name, seen] of await history.view(open.key)) {
    if (history.isExact(history.policyOf(name), open.key)) history.checkModel(name, open.key, seen)
  }
  history.features.add('expire')
}

/** Makes a key unused. */
export async function reset(history: History): Promise<void> {
  const key = history.anyKey()
  for (const open of history.holds.filter((one) => one.key === key)) await settle(history, 0, open)
  history.taken.splice(0, history.taken.length, ...history.taken.filter((one) => one.key !== key))
  await history.entrance.limiter.reset(key)
  await history.settled()
  history.log.push(`reset ${key}`)
  for (const drawn of history.plans[0]) history.account(drawn.input.name, key).reset(history.hasModel(drawn))
  for (const [name, { remaining, capacity, isBanned, resetAfterMs }] of await history.view(key)) {
    const isFree = remaining === capacity && !isBanned && resetAfterMs === 0
    history.check('a reset makes a key unused', isFree, name, key, remaining, capacity, resetAfterMs)
  }
  history.features.add('reset')
}
