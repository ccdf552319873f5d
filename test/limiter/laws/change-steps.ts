import type { Seen } from './account.ts'
import { KEYS, LONGEST_WINDOW_MS, otherTerms } from './drawn-setup.ts'
import { RULES } from './features.ts'
import type { History } from './history.ts'
import { settle } from './hold-steps.ts'

export async function reload(history: History): Promise<void> {
  const before = new Map<string, ReadonlyMap<string, Seen>>()
  for (const key of KEYS) before.set(key, await history.view(key))
  const next = history.plans[0].map((drawn) => otherTerms(history.random, drawn))
  const changed = next.filter((drawn, index) => drawn !== history.plans[0][index])
  const varying = new Set(
    history.plans[0].filter(({ limits, windows }) => limits || windows).map(({ input }) => input.name),
  )
  const olds = history.plans[0].filter((drawn, index) => drawn !== next[index])
  history.log.push(`reload ${[...olds, ...changed].map(({ input }) => JSON.stringify(input))}`)
  history.reload(next)
  history.declare([next])
  for (const drawn of changed) {
    for (const key of KEYS) {
      const account = history.account(drawn.input.name, key)
      account.drawn = drawn
      account.forget()
    }
  }
  for (const key of KEYS) {
    for (const [name, seen] of await history.view(key)) {
      const was = before.get(key)?.get(name)
      const drawn = history.policyOf(name)
      if (!was || was.isBanned || seen.isBanned || !history.isExact(drawn, key) || varying.has(name)) continue
      const used = was.capacity - was.remaining
      const kept = seen.capacity - seen.remaining
      const isKept = used === 0 || kept >= Math.min(used, seen.capacity) - 1
      history.check('what was used stays used', isKept, name, key, was, seen)
      history.checkModel(name, key, seen)
    }
  }
  history.features.add('reload')
}

/** Another process takes over, with another failure rule. */
export async function restart(history: History): Promise<void> {
  if (history.isControlled) history.release()
  for (const open of [...history.holds]) await settle(history, 0, open)
  history.taken.length = 0
  const before = new Map<string, ReadonlyMap<string, Seen>>()
  for (const key of KEYS) before.set(key, await history.view(key))
  const others = RULES.filter((one) => one !== history.rule)
  const rule = others.find((one) => !history.features.has(one)) ?? history.random.pick(others)
  history.restart(rule)
  history.log.push(`restart with ${rule}`)
  for (const account of history.accounts) {
    // a process restores what it knows, and takes booked turns for usage
    if (account.drawn.storage === 'server' && account.drawn.input.retry) account.disturb()
  }
  for (const key of KEYS) {
    const after = await history.reread(key)
    // a process that starts does not know the limits of earlier requests
    const plain = new Map(
      [...after].filter(([name]) => !history.policyOf(name).limits && !history.policyOf(name).windows),
    )
    history.check('a restart changes nothing', history.isSame(key, before.get(key) ?? new Map(), plain), key)
  }
  history.features.add('restart')
}

export async function setServerClockBack(history: History): Promise<void> {
  history.storages.serverClock.aheadMs -= history.random.whole(LONGEST_WINDOW_MS)
  history.log.push('set the clock of the server back')
  history.touch()
  for (const account of history.accounts) {
    if (account.drawn.storage !== 'server') continue
    account.disturb()
    // a ban lasts as long as the clock says
    account.ban(history.clock.now() + LONGEST_WINDOW_MS)
  }
  for (const key of KEYS) await history.view(key)
  history.features.add('server clock back')
}

export async function stepWallClock(history: History): Promise<void> {
  const key = history.anyKey()
  const before = await history.view(key)
  history.clock.stepWall(history.random.pick([-1, 1]) * history.random.whole(1e9))
  history.check('a step of the wall clock changes nothing', history.isSame(key, before, await history.reread(key)), key)
  history.features.add('wall clock')
}
