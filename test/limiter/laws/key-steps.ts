import type { History } from './history.ts'

const BAN_MS = 5_000

export async function ban(history: History): Promise<void> {
  const banning = history.plans[0].filter(({ input }) => input.ban && input.mode !== 'off')
  if (banning.length === 0) return
  const key = history.anyKey()
  await history.entrance.limiter.ban(key, BAN_MS)
  await history.settled()
  history.log.push(`ban ${key}`)
  const denying = banning.filter((one) => history.counts(one, key))
  for (const { input } of denying) history.account(input.name, key).ban(history.clock.now())
  const { source, allowed } = await history.take(key, 1)
  const isDenied = denying.some(({ input }) => input.mode === undefined)
  const isBanned = !allowed && (source === 'banned' || source === 'blocked')
  history.check('a banned key is denied', !isDenied || history.isControlled || isBanned, key, source)
  history.features.add('ban key')
}

export async function report(history: History): Promise<void> {
  const outcome = history.random.pick(['success', 'failure'] as const)
  const key = history.anyKey()
  history.log.push(`report ${outcome} of ${key}`)
  for (const { input } of history.plans[0]) {
    if (input.ban?.strikes === 'failures' && outcome === 'failure') {
      history.account(input.name, key).strike(history.clock.now())
    }
  }
  await history.entrance.limiter.report(key, outcome)
  await history.settled()
  await history.view(key)
  history.features.add('report')
}

export async function lift(history: History): Promise<void> {
  const key = history.anyKey()
  const [handle] = history.operator.limiters
  history.log.push(`lift the bans of ${key}`)
  for (const [index, { policy, ban: terms }] of handle.policies.entries()) {
    if (!terms) continue
    await handle.lift(index, key)
    await history.settled()
    history.account(policy.name, key).lift()
    history.check('a lifted ban is over', (await history.view(key)).get(policy.name)?.isBanned === false, key)
    history.features.add('lift')
  }
}
