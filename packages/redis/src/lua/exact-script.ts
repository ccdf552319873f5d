import type { Script, Step } from '@sluice/limiter-core'
import { exactDriver } from './exact-driver.ts'
import { exactHead, exactReader, exactStore } from './exact-head.ts'
import { firstWholeMs } from './first-whole-ms.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import type { LuaAlgorithm } from './lua-algorithm.ts'
import { slicedWindow } from './sliced-window.ts'
import { slidingLog } from './sliding-log.ts'
import { severalDriver, soleDriver } from './sole-driver.ts'
import { tokenBucket } from './token-bucket.ts'
import { twoEpochWindow } from './two-epoch-window.ts'

/** The algorithms as Lua tells them apart. */
type AlgorithmOfLua = 'fixed-window' | 'two-epoch-window' | 'sliced-window' | 'sliding-log' | 'token-bucket' | 'gcra'

const algorithms: Readonly<Record<AlgorithmOfLua, LuaAlgorithm>> = {
  'fixed-window': fixedWindow,
  'two-epoch-window': twoEpochWindow,
  'sliced-window': slicedWindow,
  'sliding-log': slidingLog,
  'token-bucket': tokenBucket,
  gcra,
}

/** An algorithm and the constants of a step, in the order in which its Lua reads them. */
type StepArgs = readonly [AlgorithmOfLua, ...string[]]

const argsByStep = new WeakMap<Step, StepArgs>()
const scripts = new Map<string, Script>()

export function stepArgs(step: Step): StepArgs {
  let args = argsByStep.get(step)
  if (!args) {
    const [algorithm, ...constants] = constantsOf(step)
    args = [algorithm, ...constants.map(String)]
    argsByStep.set(step, args)
  }
  return args
}

function constantsOf({ policy, capacity, cells }: Step): readonly [AlgorithmOfLua, ...number[]] {
  const { algorithm, limit, windowMs, slices = 1 } = policy
  // two cells of a log are no room
  if (algorithm === 'sliding-log') return [algorithm, capacity, windowMs, cells - 2]
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return [algorithm, capacity, windowMs, limit]
  if (algorithm === 'fixed-window') return [algorithm, capacity, windowMs]
  return slices > 1 ? ['sliced-window', capacity, windowMs, slices] : ['two-epoch-window', capacity, windowMs]
}

/** A driver behind the algorithms of these steps, which it makes as it reads them. */
export function scriptOver(driverName: string, steps: Iterable<Step>, driver: string): Script {
  const names = [...new Set(Array.from(steps, (step) => stepArgs(step)[0]))].sort()
  return scriptOf(`${driverName}:${names.join('+')}`, () =>
    [exactHead, exactReader, firstWholeMs, ...names.map(makerOf), driver].join(''),
  )
}

/** The script that decides batches over these steps. */
export function exactScript(steps: Iterable<Step>): Script {
  return scriptOver('exact', steps, exactStore + exactDriver)
}

/** The script that takes one decision over these steps. */
export function severalScript(steps: readonly Step[]): Script {
  return scriptOver('exact-several', steps, exactStore + severalDriver)
}

/** The script that takes one decision of one step. ARGV from the second on: its constants, and its cost unless that is 1. */
export function soleScript(step: Step): Script {
  const [name] = stepArgs(step)
  const { constants, cells, layout, takes } = algorithms[name]
  const values = constants.map((_, index) => `tonumber(ARGV[${index + 2}])`)
  const locals = `
local ${constants.join(', ')} = ${values.join(', ')}
local cost = tonumber(ARGV[${constants.length + 2}] or 1)
`
  const behind = `local cells, layout = ${cells}, ${layout}`
  return scriptOf(`exact-sole:${name}`, () =>
    [exactHead, firstWholeMs, locals, takes, exactStore, behind, soleDriver].join(''),
  )
}

/** What makes a step of the arguments that follow. */
function makerOf(name: AlgorithmOfLua): string {
  const { constants, cells, layout, takes, moves } = algorithms[name]
  return `
algorithms['${name}'] = function()
local ${constants.join(', ')} = ${constants.map(() => 'number()').join(', ')}
${takes}${moves}
return {
  capacity = capacity, cells = ${cells}, layout = ${layout}, waitMs = waitMs, spend = spend, adjust = adjust,
  remaining = remaining, resetAfterMs = resetAfterMs, adopt = adopt,
}
end
`
}

/** One name has always one text. */
function scriptOf(name: string, text: () => string): Script {
  const script = scripts.get(name) ?? { name, text: text() }
  scripts.set(name, script)
  return script
}
