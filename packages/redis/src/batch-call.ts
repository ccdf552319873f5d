import type { Charge, Script, Step } from '@sluice/limiter-core'
import { exactMindingScript, exactScript, severalScript, soleScript, stepArgs } from './lua/exact-script.ts'
import { isSameRequest, type RequestCharges, type ScriptRequest } from './script-request.ts'
import type { ReportedUsage } from './usage-reports.ts'

export type Arg = string | number

/** One script call for many asks, as `exactDriver` reads it. */
export interface BatchCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly Arg[]
}

/** How takes are asked for: by which scripts, and with which keys. */
export interface CallForm {
  /** A take of one charge that is not known from before. */
  sole(step: Step, cost: number, name: string, time: TimeArg): BatchCall
  /** `server`: the number of the server that the call goes to, where that matters to any of the asks. */
  batch(asks: readonly ScriptRequest[], time: TimeArg, server: number | undefined): BatchCall
}

/** The first argument: the deadline in ms of the server, `=` and the time that the script takes for now, or ''. */
export type TimeArg = string | number

export function timeArg(deadline: number | undefined, now: number | undefined): TimeArg {
  return deadline ?? (now === undefined ? '' : `=${now}`)
}

/** Takes, looks and adjusts whatever anybody has on lease. */
export const exactForm: CallForm = {
  sole: (step, cost, name, time) => soleCall(step, cost, [name], time),
  batch(asks, time, server) {
    if (asks.length === 1 && server === undefined && isPlainTake(asks[0])) return callOfOne(asks[0], time)
    return callOfMany(asks, time, server)
  },
}

function isPlainTake({ operation, names }: ScriptRequest): boolean {
  if (operation !== 'take') return false
  return names.length === 1 || new Set(names).size === names.length
}

function callOfOne({ charges, names }: ScriptRequest, time: TimeArg): BatchCall {
  // alone it is no matter whether one is advisory
  if (charges.length === 1) return soleCall(charges[0].step, charges[0].cost, names, time)
  const args: Arg[] = [time]
  for (const { step, cost, advisory } of charges) args.push(...stepArgs(step), cost, advisory ? 1 : 0)
  return { script: severalScript(charges.map(({ step }) => step)), keys: names, args }
}

/** What is said of every sole take of a step. */
interface Sole {
  readonly script: Script
  readonly constants: readonly string[]
  /** The script takes several, of which this is the only one. */
  readonly ofSeveral: boolean
}

const soles = new WeakMap<Step, Sole>()

/** A take of one charge that is not known from before. */
function soleCall(step: Step, cost: number, keys: readonly string[], time: TimeArg): BatchCall {
  let sole = soles.get(step)
  if (!sole) {
    const [algorithm, ...constants] = stepArgs(step)
    sole = step.variants
      ? { script: severalScript([step]), constants: [algorithm, ...constants], ofSeveral: true }
      : { script: soleScript(step), constants, ofSeveral: false }
    soles.set(step, sole)
  }
  const args: Arg[] = [time, ...sole.constants]
  if (sole.ofSeveral) args.push(cost, 0)
  else if (cost !== 1) args.push(cost)
  return { script: sole.script, keys, args }
}

function callOfMany(asks: readonly ScriptRequest[], time: TimeArg, server: number | undefined): BatchCall {
  const args: Arg[] = server === undefined ? [time] : [time, server]
  const { keys, steps } = pushRuns(args, asks)
  const script = server === undefined ? exactScript(steps) : exactMindingScript(steps)
  return { script, keys, args }
}

/** Writes asks as `exactDriver` reads them. Answers their keys and their steps. */
export function pushRuns(
  args: Arg[],
  asks: readonly RequestCharges[],
): { readonly keys: readonly string[]; readonly steps: readonly Step[] } {
  const keys: string[] = []
  const steps = new Map<Step, number>()
  let first: RequestCharges | undefined
  let countAt = 0
  let count = 0
  for (const ask of asks) {
    for (const name of ask.names) keys.push(name)
    if (first && isSameRequest(first, ask)) {
      args[countAt] = ++count
    } else {
      first = ask
      countAt = args.length
      count = 1
      pushRun(args, ask, steps)
    }
  }
  return { keys, steps: [...steps.keys()] }
}

/** A run of one ask. */
function pushRun(
  args: Arg[],
  { operation, takenAt, id, charges, told }: RequestCharges,
  steps: Map<Step, number>,
): void {
  args.push(1, operation)
  if (operation === 'adjust') args.push(takenAt, id)
  args.push(charges.length)
  for (const [index, charge] of charges.entries()) pushCharge(args, charge, told?.[index], steps)
}

function pushCharge(
  args: Arg[],
  { step, cost, advisory }: Charge,
  told: ReportedUsage | undefined,
  steps: Map<Step, number>,
): void {
  const met = steps.get(step)
  args.push(met ?? steps.size + 1)
  if (met === undefined) {
    steps.set(step, steps.size + 1)
    args.push(...stepArgs(step))
  }
  args.push(cost, (advisory ? 1 : 0) + (told ? 2 : 0))
  if (told) args.push(...toldArgs(told))
}

/** As `makeGood` of the scripts reads them. */
export function toldArgs({ used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt }: ReportedUsage): number[] {
  return [used, resetAfterMs, usedAt, uncounted, unsure, upTo, admittedAt]
}
