import type { Charge, Script, Step } from '@sluice/limiter-core'
import { type Ask, asksAlike } from './ask.ts'
import { exactScript, soleScript, stepArgs } from './lua/exact-script.ts'

type Arg = string | number

/** One script call for many asks, as `exactDriver` reads it. */
export interface BatchCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly Arg[]
}

export interface BatchTimes {
  /** In ms of the server, undefined for none. */
  readonly deadline: number | undefined
  /** What the script takes for now, undefined for the time of the server. */
  readonly now: number | undefined
}

export function batchCall(asks: readonly Ask[], times: BatchTimes): BatchCall {
  const [ask] = asks
  return asks.length === 1 && isPlainTake(ask) ? callOfOne(ask, times) : callOfMany(asks, times)
}

function isPlainTake({ operation, charges, names }: Ask): boolean {
  if (operation !== 'take' || charges.some(({ known }) => known !== undefined)) return false
  return names.length === 1 || new Set(names).size === names.length
}

function callOfOne({ charges, names }: Ask, { deadline, now }: BatchTimes): BatchCall {
  const args: Arg[] = [deadline ?? '', now ?? '']
  for (const { step, cost, advisory } of charges) args.push(...stepArgs(step), cost, advisory ? 1 : 0)
  return { script: soleScript(charges.map(({ step }) => step)), keys: names, args }
}

function callOfMany(asks: readonly Ask[], { deadline, now }: BatchTimes): BatchCall {
  const keys: string[] = []
  const args: Arg[] = [deadline ?? '', now ?? '']
  const steps = new Map<Step, number>()
  let first: Ask | undefined
  let countAt = 0
  let count = 0
  for (const ask of asks) {
    for (const name of ask.names) keys.push(name)
    if (first && asksAlike(first, ask)) {
      args[countAt] = ++count
    } else {
      first = ask
      countAt = args.length
      count = 1
      pushRun(args, ask, steps)
    }
  }
  return { script: exactScript(steps.keys()), keys, args }
}

/** A run of one ask. */
function pushRun(args: Arg[], { operation, takenAt, charges }: Ask, steps: Map<Step, number>): void {
  args.push(1, operation)
  if (operation === 'adjust') args.push(takenAt)
  args.push(charges.length)
  for (const charge of charges) pushCharge(args, charge, steps)
}

function pushCharge(args: Arg[], { step, cost, advisory, known }: Charge, steps: Map<Step, number>): void {
  const met = steps.get(step)
  args.push(met ?? steps.size + 1)
  if (met === undefined) {
    steps.set(step, steps.size + 1)
    args.push(...stepArgs(step))
  }
  args.push(cost, (advisory ? 1 : 0) + (known ? 2 : 0))
  if (known) args.push(known.used, known.resetAfterMs)
}
