import type { Counter } from '@sluice/limiter-core'
import { type Arg, type CallBuilder, pushRuns } from '../exact/batch-call.ts'
import type { RequestCharges } from '../exact/script-request.ts'
import { policyArgs } from '../lua/policy-args.ts'
import { unleasedScript, unleasedSoleScript } from '../lua/scripts.ts'
import { leasesOf } from '../lua/side-keys.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'

/** Takes that fail with the code `LEASED`, and take nothing, if any process has leased units of the key. */
export const unleasedForm: CallBuilder = {
  single(counter, cost, name, time) {
    const { compiled } = counter
    if (compiled.variants) return callOf([takeOf(counter, cost, name)], time)
    const [, ...constants] = policyArgs(compiled)
    const args: Arg[] = [time, ...constants]
    if (cost !== 1) args.push(cost)
    return { script: unleasedSoleScript(compiled), keys: [name, leasesOf(name)], args }
  },
  batch: (requests, time) => callOf(requests, time),
}

function callOf(requests: readonly RequestCharges[], time: TimeArg): ScriptCall {
  const args: Arg[] = [time]
  const { keys, policies } = pushRuns(args, requests)
  return { script: unleasedScript(policies), keys: [...keys, ...keys.map(leasesOf)], args }
}

function takeOf(counter: Counter, cost: number, name: string): RequestCharges {
  const charges = [{ key: '', counter, cost }]
  return { operation: 'take', takenAt: 0, id: '', names: [name], charges, reported: undefined }
}
