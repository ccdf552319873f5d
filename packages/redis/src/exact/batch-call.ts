import type { Charge, CompiledPolicy, Counter } from '@sluice/limiter-core/backend'
import { policyArgs } from '../lua/policy-args.ts'
import { type ReportedUsage, reportArgs } from '../lua/reported-usage.ts'
import { exactRestoringScript, exactScript, takeScript } from '../lua/scripts.ts'
import { reportKeysOf, resultsOf } from '../lua/side-keys.ts'
import { MOST_TAKEN } from '../lua/take-text.ts'
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
  single: (counter, cost, name, time) =>
    isPlain(counter.compiled)
      ? { script: takeScript([counter.compiled]), keys: [name], args: soleArgs(counter.compiled, cost, time) }
      : callOfMany([takeOf(counter, cost, name)], time, undefined),
  batch(requests, time, server) {
    const [first] = requests
    const isAlike = server === undefined && isPlainTake(first) && requests.every((one) => isSameRequest(first, one))
    return isAlike && requests.every(hasOwnKeys) ? callOfAlike(requests, time) : callOfMany(requests, time, server)
  },
}

/** Returns the arguments of a script of one policy. */
export function soleArgs(compiled: CompiledPolicy, cost: number, time: TimeArg): Arg[] {
  const [, ...constants] = policyArgs(compiled)
  return cost === 1 ? [time, ...constants] : [time, ...constants, cost]
}

/** Returns a request that takes one charge. */
export function takeOf(counter: Counter, cost: number, name: string): RequestCharges {
  const charges = [{ key: '', counter, cost }]
  return { operation: 'take', takenAt: 0, id: '', names: [name], charges, reported: undefined }
}

/** Whether a policy is not made of other policies. */
export function isPlain({ variants, holds, bookings }: CompiledPolicy): boolean {
  return !variants && !holds && !bookings
}

/** Whether a request is a take over plain policies. */
function isPlainTake({ operation, charges }: ScriptRequest): boolean {
  return (
    operation === 'take' && charges.length <= MOST_TAKEN && charges.every(({ counter }) => isPlain(counter.compiled))
  )
}

/** Whether the charges of a request have different keys. */
function hasOwnKeys({ names }: ScriptRequest): boolean {
  return names.length === 1 || new Set(names).size === names.length
}

/** Builds the call for takes that differ only in their keys. */
function callOfAlike(requests: readonly ScriptRequest[], time: TimeArg): ScriptCall {
  const [{ charges, names }] = requests
  const [{ counter, cost: soleCost }] = charges
  const script = takeScript(charges.map((charge) => charge.counter.compiled))
  const keys = requests.length === 1 ? names : requests.flatMap((request) => request.names)
  // a single charge is decided the same whether or not it is advisory
  if (charges.length === 1) return { script, keys, args: soleArgs(counter.compiled, soleCost, time) }
  const args: Arg[] = [time]
  for (const { counter: one, cost, advisory } of charges) {
    const [, ...constants] = policyArgs(one.compiled)
    args.push(...constants, cost, advisory ? 1 : 0)
  }
  return { script, keys, args }
}

/** Builds one call for several requests in the argument format of `exact-batch.lua`. */
function callOfMany(requests: readonly RequestCharges[], time: TimeArg, server: number | undefined): ScriptCall {
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
