import type { Script, Step } from '@sluice/limiter-core'
import { exactDriver, exactHead, exactStore, soleDriver } from './exact-driver.ts'
import { firstWholeMs } from './first-whole-ms.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import { slicedWindow } from './sliced-window.ts'
import { slidingLog } from './sliding-log.ts'
import { tokenBucket } from './token-bucket.ts'
import { twoEpochWindow } from './two-epoch-window.ts'

/** The algorithms as Lua tells them apart. */
type LuaAlgorithm = 'fixed-window' | 'two-epoch-window' | 'sliced-window' | 'sliding-log' | 'token-bucket' | 'gcra'

const texts: Readonly<Record<LuaAlgorithm, string>> = {
  'fixed-window': fixedWindow,
  'two-epoch-window': twoEpochWindow,
  'sliced-window': slicedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  gcra,
}

/** An algorithm and the constants of a step, in the order in which its Lua reads them. */
type StepArgs = readonly [LuaAlgorithm, ...number[]]

const scripts = new Map<string, Script>()

export function stepArgs({ policy, capacity, cells }: Step): StepArgs {
  const { algorithm, limit, windowMs, slices = 1 } = policy
  // two cells of a log are no room
  if (algorithm === 'sliding-log') return [algorithm, capacity, windowMs, cells - 2]
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return [algorithm, capacity, windowMs, limit]
  if (algorithm === 'fixed-window') return [algorithm, capacity, windowMs]
  return slices > 1 ? ['sliced-window', capacity, windowMs, slices] : ['two-epoch-window', capacity, windowMs]
}

/** A driver behind the algorithms of these steps. One name has always one driver. */
export function scriptOver(driverName: string, steps: Iterable<Step>, driver: string): Script {
  const names = [...new Set(Array.from(steps, (step) => stepArgs(step)[0]))].sort()
  const name = `${driverName}:${names.join('+')}`
  const known = scripts.get(name)
  if (known) return known
  const text = [exactHead, firstWholeMs, ...names.map((algorithm) => texts[algorithm]), driver].join('')
  const script: Script = { name, text }
  scripts.set(name, script)
  return script
}

/** The script that decides batches over these steps. */
export function exactScript(steps: Iterable<Step>): Script {
  return scriptOver('exact', steps, exactStore + exactDriver)
}

const soles = new WeakMap<Step, Script>()

/** The script that takes one decision over these steps, one or more. */
export function soleScript(steps: readonly Step[]): Script {
  // most requests have one policy: its script without a search
  const known = steps.length === 1 ? soles.get(steps[0]) : undefined
  if (known) return known
  const script = scriptOver('exact-sole', steps, exactStore + soleDriver)
  if (steps.length === 1) soles.set(steps[0], script)
  return script
}
