import type { DrawnPolicy } from './drawn-setup.ts'
import type { History } from './history.ts'

const MODES = ['enforce', 'shadow', 'off'] as const

export async function controlMode(history: History): Promise<void> {
  const key = history.anyKey()
  if (history.isControlled) history.release()
  else {
    const before = await history.view(key)
    const modes = history.plans[0].map(({ input }) => [input.name, { mode: history.random.pick(MODES) }])
    history.operator.setControls(Object.fromEntries(modes))
    history.log.push(`control ${JSON.stringify(modes)}`)
    history.isControlled = true
    history.touch()
    if (history.random.whole(2) === 0) await history.take(key, 1)
    else {
      await history.view(key)
      history.release()
      const after = await history.view(key)
      history.check('undone modes change nothing', history.isSame(key, before, after), key)
    }
  }
  history.features.add('mode control')
}

export async function controlLimit(history: History): Promise<void> {
  if (history.isControlled) return
  const key = history.anyKey()
  const before = await history.view(key)
  const limits = history.plans[0].map(({ input: { name } }) => {
    // a log has room for its own limit
    const logs = history.plans.map((_, plan) => history.policyOf(name, plan)).filter(isLog)
    return [name, { limit: 1 + history.random.whole(Math.min(20, ...logs.map(({ input }) => input.limit))) }]
  })
  history.operator.setControls(Object.fromEntries(limits))
  history.log.push(`control ${JSON.stringify(limits)} for ${key}`)
  history.isControlled = history.hasChangedLimits = true
  await history.reread(key)
  if (history.random.whole(2) === 0) {
    // units of another limit weigh differently
    for (const { input } of history.plans[0]) history.account(input.name, key).forget()
    const { allowed } = await history.take(key, 1)
    if (allowed) history.taken.pop()
    for (const { input } of history.plans[0]) history.account(input.name, key).forget()
    history.release()
  } else {
    history.release()
    history.check('an undone limit changes nothing', history.isSame(key, before, await history.view(key)), key)
  }
  history.features.add('limit control')
}

function isLog({ input }: DrawnPolicy): boolean {
  return input.algorithm === 'sliding-log'
}

export async function block(history: History): Promise<void> {
  if (history.isControlled) return
  const key = history.anyKey()
  history.operator.setControls({}, { [key]: 5_000 })
  history.isControlled = true
  history.log.push(`block ${key}`)
  const { allowed, source, retryAfterMs } = await history.take(key, 1)
  const isBlocked = !allowed && source === 'blocked' && retryAfterMs === 5_000
  const enforced = history.plans[0].some((one) => one.input.mode === undefined && history.counts(one, key))
  history.check('a blocked key is denied', isBlocked || !enforced, key, source)
  history.release()
  history.features.add('block')
}
