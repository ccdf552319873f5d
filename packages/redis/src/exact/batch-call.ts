import type { Charge, CompiledPolicy, Counter, Script } from '@sluice/limiter-core/backend'
import type { ScriptCall, TimeArg } from '../client/timed-calls.ts'
import { policyArgs } from '../lua/policy-args.ts'
import { type ReportedUsage, reportArgs } from '../lua/reported-usage.ts'
import { exactMindingScript, exactScript, severalScript, soleScript } from '../lua/scripts.ts'
import { isSameRequest, type RequestCharges, type ScriptRequest } from './script-request.ts'

export type Arg = string | number

/** How takes are called: by which scripts, and with which keys. */
export interface CallForm {
  /** A take of one charge that is not known from before. */
  sole(counter: Counter, cost: number, name: string, time: TimeArg): ScriptCall
  /** `server`: the number of the called server, if any of the requests needs it. */
  batch(requests: readonly ScriptRequest[], time: TimeArg, server: number | undefined): ScriptCall
}

/** Takes, reads and adjusts regardless of leases. */
export const exactForm: CallForm = {
  sole: ({ compiled }, cost, name, time) => soleCall(compiled, cost, [name], time),
  batch(requests, time, server) {
    if (requests.length === 1 && server === undefined && isPlainTake(requests[0])) return callOfOne(requests[0], time)
    return callOfMany(requests, time, server)
  },
}

function isPlainTake({ operation, names }: ScriptRequest): boolean {
  if (operation !== 'take') return false
  return names.length === 1 || new Set(names).size === names.length
}

function callOfOne({ charges, names }: ScriptRequest, time: TimeArg): ScriptCall {
  // a single charge behaves the same whether or not it is advisory
  if (charges.length === 1) return soleCall(charges[0].counter.compiled, charges[0].cost, names, time)
  const args: Arg[] = [time]
  for (const { counter, cost, advisory } of charges) args.push(...policyArgs(counter.compiled), cost, advisory ? 1 : 0)
  return { script: severalScript(charges.map(({ counter }) => counter.compiled)), keys: names, args }
}

/** The constant arguments of the single takes of a policy. */
interface Sole {
  readonly script: Script
  readonly constants: readonly string[]
  /** The script takes several, of which this is the only one. */
  readonly ofSeveral: boolean
}

const soles = new WeakMap<CompiledPolicy, Sole>()

/** A take of one charge that is not known from before. */
function soleCall(compiled: CompiledPolicy, cost: number, keys: readonly string[], time: TimeArg): ScriptCall {
  let sole = soles.get(compiled)
  if (!sole) {
    const [algorithm, ...constants] = policyArgs(compiled)
    sole = compiled.variants
      ? { script: severalScript([compiled]), constants: [algorithm, ...constants], ofSeveral: true }
      : { script: soleScript(compiled), constants, ofSeveral: false }
    soles.set(compiled, sole)
  }
  const args: Arg[] = [time, ...sole.constants]
  if (sole.ofSeveral) args.push(cost, 0)
  else if (cost !== 1) args.push(cost)
  return { script: sole.script, keys, args }
}

/** Returns one call for many requests, as `exact-batch.lua` reads it. */
function callOfMany(requests: readonly ScriptRequest[], time: TimeArg, server: number | undefined): ScriptCall {
  const args: Arg[] = server === undefined ? [time] : [time, server]
  const { keys, policies } = pushRuns(args, requests)
  const script = server === undefined ? exactScript(policies) : exactMindingScript(policies)
  return { script, keys, args }
}

/** Writes requests as `exact-batch.lua` reads them. Returns their keys and their policies. */
export function pushRuns(
  args: Arg[],
  requests: readonly RequestCharges[],
): { readonly keys: readonly string[]; readonly policies: readonly CompiledPolicy[] } {
  const keys: string[] = []
  const policies = new Map<CompiledPolicy, number>()
  let first: RequestCharges | undefined
  let countAt = 0
  let count = 0
  for (const request of requests) {
    for (const name of request.names) keys.push(name)
    if (first && isSameRequest(first, request)) {
      args[countAt] = ++count
    } else {
      first = request
      countAt = args.length
      count = 1
      pushRun(args, request, policies)
    }
  }
  return { keys, policies: [...policies.keys()] }
}

/** A run of one request. */
function pushRun(
  args: Arg[],
  { operation, takenAt, id, charges, reported }: RequestCharges,
  policies: Map<CompiledPolicy, number>,
): void {
  args.push(1, operation)
  if (operation === 'adjust') args.push(takenAt, id)
  args.push(charges.length)
  for (const [index, charge] of charges.entries()) pushCharge(args, charge, reported?.[index], policies)
}

function pushCharge(
  args: Arg[],
  { counter: { compiled }, cost, advisory }: Charge,
  reported: ReportedUsage | undefined,
  policies: Map<CompiledPolicy, number>,
): void {
  const met = policies.get(compiled)
  args.push(met ?? policies.size + 1)
  if (met === undefined) {
    policies.set(compiled, policies.size + 1)
    args.push(...policyArgs(compiled))
  }
  args.push(cost, (advisory ? 1 : 0) + (reported ? 2 : 0))
  if (reported) args.push(...reportArgs(reported))
}
