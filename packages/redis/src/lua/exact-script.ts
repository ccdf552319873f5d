import type { Script, Step, StepVariant } from '@sluice/limiter-core'
import { availableAfterMs } from './available-after-ms.ts'
import { exactDriver, unleasedDriver } from './exact-driver.ts'
import { exactHead, exactReader, exactStore } from './exact-head.ts'
import { firstWholeMs } from './first-whole-ms.ts'
import { fixedWindow } from './fixed-window.ts'
import { gcra } from './gcra.ts'
import type { LuaAlgorithm } from './lua-algorithm.ts'
import { makeGood, withoutMarks } from './make-good.ts'
import { runOnce } from './run-once.ts'
import { slicedWindow } from './sliced-window.ts'
import { slidingLog } from './sliding-log.ts'
import { severalDriver, soleDriver } from './sole-driver.ts'
import { tokenBucket } from './token-bucket.ts'
import { twoEpochWindow } from './two-epoch-window.ts'
import { refuseLeasedSole } from './unleased.ts'
import { variants } from './variants.ts'

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
type StepArgs = readonly [AlgorithmOfLua | 'variants', ...string[]]

const argsByStep = new WeakMap<Step, StepArgs>()
const scripts = new Map<string, Script>()

export function stepArgs(step: Step): StepArgs {
  let args = argsByStep.get(step)
  if (!args) {
    args = step.variants ? variantsArgs(step.variants) : plainArgs(step, false)
    argsByStep.set(step, args)
  }
  return args
}

function variantsArgs(all: readonly StepVariant[]): StepArgs {
  const each = all.flatMap(({ step, role, perMs, ceiling }) => [
    role,
    String(perMs),
    String(ceiling),
    ...plainArgs(step, true),
  ])
  return ['variants', String(all.length), ...each]
}

/** `beside`: others charge the same cells without asking. */
function plainArgs(step: Step, beside: boolean): StepArgs {
  const [algorithm, ...constants] = constantsOf(step, beside)
  return [algorithm, ...constants.map(String)]
}

function constantsOf(
  { policy, capacity, room = capacity }: Step,
  beside: boolean,
): readonly [AlgorithmOfLua, ...number[]] {
  const { algorithm, limit, windowMs, slices = 1 } = policy
  if (algorithm === 'sliding-log') return [algorithm, capacity, windowMs, room, beside ? 1 : 0]
  if (algorithm === 'token-bucket' || algorithm === 'gcra') return [algorithm, capacity, windowMs, limit]
  if (algorithm === 'fixed-window') return [algorithm, capacity, windowMs]
  return slices > 1 ? ['sliced-window', capacity, windowMs, slices] : ['two-epoch-window', capacity, windowMs]
}

/** The algorithms that the Lua of a step needs. */
function namesOf(step: Step): (AlgorithmOfLua | 'variants')[] {
  const [name] = stepArgs(step)
  return [name, ...(step.variants ?? []).flatMap((variant) => namesOf(variant.step))]
}

/** A driver behind the algorithms of these steps, which it makes as it reads them. */
export function scriptOver(driverName: string, steps: Iterable<Step>, driver: string): Script {
  const names = [...new Set(Array.from(steps, namesOf).flat())].sort()
  return scriptOf(`${driverName}:${names.join('+')}`, () =>
    [exactHead, exactReader, firstWholeMs, ...names.map(makerOf), availableAfterMs, driver].join(''),
  )
}

/** The script that decides batches over these steps, of which none knows more of a key nor gives units back. */
export function exactScript(steps: Iterable<Step>): Script {
  return scriptOver('exact', steps, exactStore + runOnce + withoutMarks + exactDriver)
}

/** The script that decides any batch over these steps. */
export function exactMindingScript(steps: Iterable<Step>): Script {
  return scriptOver('exact-minding', steps, exactStore + runOnce + makeGood + exactDriver)
}

/** The script that decides batches of takes over these steps, of keys that nobody has on lease. */
export function unleasedScript(steps: Iterable<Step>): Script {
  return scriptOver('unleased', steps, exactStore + runOnce + withoutMarks + unleasedDriver)
}

/** The script that takes one decision over these steps. */
export function severalScript(steps: readonly Step[]): Script {
  return scriptOver('exact-several', steps, exactStore + severalDriver)
}

/** The script that takes one decision of one step, which has no variants. ARGV from the second on: its constants, and its cost unless that is 1. */
export function soleScript(step: Step): Script {
  return soleBehind('exact-sole', '', step)
}

/** The same, of a key that nobody has on lease. */
export function unleasedSoleScript(step: Step): Script {
  return soleBehind('unleased-sole', refuseLeasedSole, step)
}

function soleBehind(driverName: string, refusal: string, step: Step): Script {
  const [name] = plainArgs(step, false) as readonly [AlgorithmOfLua]
  const { constants, cells, layout, takes } = algorithms[name]
  const values = constants.map((_, index) => `tonumber(ARGV[${index + 2}])`)
  const locals = `
local ${constants.join(', ')} = ${values.join(', ')}
local cost = tonumber(ARGV[${constants.length + 2}] or 1)
`
  const behind = `local cells, layout = ${cells}, ${layout}`
  return scriptOf(`${driverName}:${name}`, () =>
    [exactHead, refusal, firstWholeMs, locals, takes, exactStore, availableAfterMs, behind, soleDriver].join(''),
  )
}

/** What makes a step of the arguments that follow. */
function makerOf(name: AlgorithmOfLua | 'variants'): string {
  if (name === 'variants') return variants
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
