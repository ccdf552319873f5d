import type { Charge, CompiledPolicy, Counter, Script } from '@sluice/limiter-core/backend'
import { policyArgs } from '../lua/policy-args.ts'
import { type ReportedUsage, reportArgs } from '../lua/reported-usage.ts'
import { exactRestoringScript, exactScript, severalScript, soleScript } from '../lua/scripts.ts'
import { reportKeysOf, resultsOf } from '../lua/side-keys.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'
import { isSameRequest, type RequestCharges, type ScriptRequest } from './script-request.ts'

export type Arg = string | number

/** Builds the script calls for requests. `exactForm` and `unleasedForm` use different scripts and keys. */
export interface CallBuilder {
  /** Builds the call for a take of one charge without prior usage. */
  single(counter: Counter, cost: number, name: string, time: TimeArg): ScriptCall
  /** Builds one call for several requests. `server` is the number of the server; undefined if no request needs it. */
  batch(requests: readonly ScriptRequest[], time: TimeArg, server: number | undefined): ScriptCall
}

/** Calls that ignore leases. */
export const exactForm: CallBuilder = {
  single: ({ compiled }, cost, name, time) => soleCall(compiled, cost, [name], time),
  batch(requests, time, server) {
    if (requests.length === 1 && server === undefined && isPlainTake(requests[0])) return callOfOne(requests[0], time)
    return callOfMany(requests, time, server)
  },
}

function isPlainTake({ operation, names, charges }: ScriptRequest): boolean {
  if (operation !== 'take' || charges.some(({ hold }) => hold !== undefined)) return false
  return names.length === 1 || new Set(names).size === names.length
}

function callOfOne({ charges, names }: ScriptRequest, time: TimeArg): ScriptCall {
  const [{ counter: first, cost: firstCost, advisory: isAdvisory }] = charges
  // a single charge behaves the same whether or not it is advisory, except that only an enforced one books a turn
  const isSole = charges.length === 1 && !(isAdvisory && first.compiled.bookings)
  if (isSole) return soleCall(first.compiled, firstCost, names, time)
  const args: Arg[] = [time]
  for (const { counter, cost, advisory } of charges) args.push(...policyArgs(counter.compiled), cost, advisory ? 1 : 0)
  return { script: severalScript(charges.map(({ counter }) => counter.compiled)), keys: names, args }
}

/** Script and constant arguments of all single takes of a policy. */
interface Sole {
  readonly script: Script
  readonly constants: readonly string[]
  /** Whether the script is one for several charges. */
  readonly ofSeveral: boolean
}

const soles = new WeakMap<CompiledPolicy, Sole>()

function soleCall(compiled: CompiledPolicy, cost: number, keys: readonly string[], time: TimeArg): ScriptCall {
  let sole = soles.get(compiled)
  if (!sole) {
    const [algorithm, ...constants] = policyArgs(compiled)
    sole =
      compiled.variants || compiled.holds || compiled.bookings
        ? { script: severalScript([compiled]), constants: [algorithm, ...constants], ofSeveral: true }
        : { script: soleScript(compiled), constants, ofSeveral: false }
    soles.set(compiled, sole)
  }
  const args: Arg[] = [time, ...sole.constants]
  if (sole.ofSeveral) args.push(cost, 0)
  else if (cost !== 1) args.push(cost)
  return { script: sole.script, keys, args }
}

/** Builds one call for several requests in the argument format of `exact-batch.lua`. */
function callOfMany(requests: readonly ScriptRequest[], time: TimeArg, server: number | undefined): ScriptCall {
  const args: Arg[] = server === undefined ? [time] : [time, server]
  const { keys: cells, policies } = pushRuns(args, requests)
  // most batches contain takes only, which use no other keys
  const others = requests.filter(({ operation, reported }) => operation === 'adjust' || reported !== undefined)
  const keys = others.length === 0 ? cells : [...cells, ...others.flatMap((request) => sideKeysOf(request, server))]
  const script = server === undefined ? exactScript(policies) : exactRestoringScript(policies)
  return { script, keys, args }
}

/** Returns the keys beside its cells that an adjustment, or a request with reports, may read or write. */
function sideKeysOf({ operation, id, names }: RequestCharges, server: number | undefined): string[] {
  const results = operation === 'adjust' ? resultsOf(names, id) : []
  return server === undefined ? results : [...results, ...names.flatMap((name) => reportKeysOf(name, server))]
}

/**
 * Appends requests to `args` in the format of `exact-batch.lua`: consecutive requests that differ only in their keys
 * form one run. Returns the keys and the policies of all requests.
 */
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

/** Appends a run that contains one request so far. */
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
  charge: Charge,
  reported: ReportedUsage | undefined,
  policies: Map<CompiledPolicy, number>,
): void {
  const { compiled } = charge.counter
  const { cost, advisory, hold } = charge
  const met = policies.get(compiled)
  args.push(met ?? policies.size + 1)
  if (met === undefined) {
    policies.set(compiled, policies.size + 1)
    args.push(...policyArgs(compiled))
  }
  args.push(cost, (advisory ? 1 : 0) + (reported ? 2 : 0) + (hold ? 4 : 0))
  if (reported) args.push(...reportArgs(reported))
  if (hold) args.push(hold.forMs, hold.from?.units ?? 0, hold.from?.endsAt ?? 0)
}
