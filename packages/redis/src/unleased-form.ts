import type { Step } from '@sluice/limiter-core'
import { type Arg, type BatchCall, type CallForm, pushRuns, type TimeArg } from './batch-call.ts'
import { stepArgs, unleasedScript, unleasedSoleScript } from './lua/exact-script.ts'
import type { RequestCharges } from './script-request.ts'

/** Takes of keys that nobody has on lease: of others nothing is taken, and a failure `LEASED` says so. */
export const unleasedForm: CallForm = {
  sole(step, cost, name, time) {
    if (step.variants) return callOf([takeOf(step, cost, name)], time)
    const [, ...constants] = stepArgs(step)
    const args: Arg[] = [time, ...constants]
    if (cost !== 1) args.push(cost)
    return { script: unleasedSoleScript(step), keys: [name], args }
  },
  batch: (asks, time) => callOf(asks, time),
}

function callOf(asks: readonly RequestCharges[], time: TimeArg): BatchCall {
  const args: Arg[] = [time]
  const { keys, steps } = pushRuns(args, asks)
  return { script: unleasedScript(steps), keys, args }
}

function takeOf(step: Step, cost: number, name: string): RequestCharges {
  const charges = [{ key: '', step, count: '', cost }]
  return { operation: 'take', takenAt: 0, id: '', names: [name], charges, told: undefined }
}
