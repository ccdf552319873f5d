import { type Arg, type CallBuilder, isPlain, pushRuns, soleArgs, takeOf } from '../exact/batch-call.ts'
import type { RequestCharges } from '../exact/script-request.ts'
import { unleasedScript, unleasedTakeScript } from '../lua/scripts.ts'
import { leasesOf } from '../lua/side-keys.ts'
import type { ScriptCall, TimeArg } from '../server-time/timed-calls.ts'

/** Takes that fail with the code `LEASED`, and take nothing, if any process has leased units of the key. */
export const unleasedForm: CallBuilder = {
  single(counter, cost, name, time) {
    const { compiled } = counter
    if (!isPlain(compiled)) return callOf([takeOf(counter, cost, name)], time)
    const keys = [name, leasesOf(name)]
    return { script: unleasedTakeScript(compiled), keys, args: soleArgs(compiled, cost, time) }
  },
  batch: (requests, time) => callOf(requests, time),
}

function callOf(requests: readonly RequestCharges[], time: TimeArg): ScriptCall {
  const args: Arg[] = [time]
  const { keys, policies } = pushRuns(args, requests)
  return { script: unleasedScript(policies), keys: [...keys, ...keys.map(leasesOf)], args }
}
