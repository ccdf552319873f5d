import type { Policy } from '@sluice/limiter-core'
import type { History } from './history.ts'
import { pass } from './hold-steps.ts'
import { LATE_MS } from './storages.ts'

/** Longer than a breaker stays open after some failures. */
const RECOVERED_MS = 5_000
const SETTLED_MS = 10

/** The next requests also count what the process has admitted. */
function disturb(history: History, key: string): void {
  for (const account of history.accounts) {
    if (account.drawn.storage === 'server') account.disturb()
    else if (account.key === key) account.forget()
  }
}

/** Whether a policy on the server denies requests of a key. */
function isEnforcedOnServer(history: History, key: string): boolean {
  return history.plans[0].some(
    (one) => one.storage === 'server' && one.input.mode === undefined && history.counts(one, key),
  )
}

/** The server fails for some requests. */
export async function failure(history: History): Promise<void> {
  const { rule, storages, random, entrance } = history
  if (!history.plans[0].some(({ storage, input }) => storage === 'server' && input.mode !== 'off')) return
  const key = history.anyKey()
  await history.view(key)
  storages.server.state = 'fails'
  disturb(history, key)
  const admitted = new Map<string, number>()
  let requests = 1 + random.whole(2)
  history.log.push(`the server fails for ${requests} requests of ${key}`)
  for (; requests > 0; requests--) {
    const cost = 1 + random.whole(8)
    const decision = await entrance.limiter.take(key, cost)
    await history.settled()
    history.checkDecision(decision)
    const isAnswered = decision.source !== 'banned' && decision.source !== 'blocked'
    if (rule === 'deny' && isAnswered && !history.isControlled && isEnforcedOnServer(history, key)) {
      history.check('the rule denies', !decision.allowed, decision)
    }
    const allFit = decision.verdicts.every(({ allowed }) => allowed)
    for (const verdict of decision.verdicts) {
      const { name } = verdict.policy
      const drawn = history.policyOf(name)
      if (isAnswered && !verdict.allowed) history.account(name, key).strike(history.clock.now())
      if (drawn.storage === 'server') {
        if (rule === 'allow' && isAnswered && !drawn.input.ban)
          history.check('the rule allows', verdict.allowed, decision)
        if (decision.allowed && (!verdict.shadow || allFit)) admitted.set(name, (admitted.get(name) ?? 0) + cost)
      }
    }
  }
  storages.server.state = 'works'
  const answered = await recovered(history, key)
  const after = await history.view(key)
  for (const [name, seen] of after) {
    const drawn = history.policyOf(name)
    if (
      drawn.storage !== 'server' ||
      rule !== 'local' ||
      !answered.has(name) ||
      seen.isBanned ||
      drawn.limits ||
      drawn.windows
    )
      continue
    const least = Math.min(seen.capacity, leastKept(history.account(name, key).policy, admitted.get(name) ?? 0))
    history.check(
      'what the process admitted is counted',
      seen.capacity - seen.remaining >= least,
      name,
      key,
      seen,
      least,
    )
  }
  history.features.add('failure').add(rule)
}

/** Returns how many units of a policy are used at least some time after `units` were admitted. */
function leastKept({ algorithm, limit, windowMs, slices = 1 }: Policy, units: number): number {
  if (algorithm === 'sliding-log' || slices > 1) return units
  const drains = algorithm === 'token-bucket' || algorithm === 'gcra'
  // the other windows may end soon
  return drains ? units - Math.ceil((limit * 2 * RECOVERED_MS) / windowMs) - 1 : 0
}

/**
 * Lets the breaker close, and the process send what it has admitted, which the next take of a key does. Returns the
 * names of the policies whose storages have answered.
 */
async function recovered(history: History, key: string): Promise<ReadonlySet<string>> {
  const answered = new Set<string>()
  for (let request = 0; request < 2; request++) {
    await pass(history, RECOVERED_MS / 2)
    const decision = await history.entrance.limiter.take(key, 1)
    for (const [index, { allowed, policy }] of decision.verdicts.entries()) {
      if (!allowed) history.account(policy.name, key).strike(history.clock.now())
      if (decision.countedEach?.[index] ?? decision.counted) answered.add(policy.name)
    }
    await history.settled()
  }
  return answered
}

/** The server counts a request, and answers after its deadline. */
export async function lateReply(history: History): Promise<void> {
  const { storages, entrance, clock } = history
  if (!history.plans[0].some(({ storage, input }) => storage === 'server' && input.mode !== 'off')) return
  const key = history.anyKey()
  await history.view(key)
  storages.server.state = 'late'
  history.log.push(`a late reply to a request of ${key}`)
  disturb(history, key)
  let isOver = false
  const taken = Promise.resolve(entrance.limiter.take(key, 1)).finally(() => {
    isOver = true
  })
  for (let turn = 0; turn < 1_000 && !isOver; turn++) {
    await history.settled()
    if (!isOver) clock.advance(SETTLED_MS)
  }
  history.check('a late reply holds no request', isOver)
  const decision = await taken
  history.checkDecision(decision)
  for (const { allowed, policy } of decision.verdicts) {
    if (!allowed) history.account(policy.name, key).strike(history.clock.now())
  }
  storages.server.state = 'works'
  await pass(history, LATE_MS)
  await recovered(history, key)
  history.features.add('late reply').add(history.rule)
}
