import { reload, restart, setServerClockBack, stepWallClock } from './change-steps.ts'
import { block, controlLimit, controlMode } from './control-steps.ts'
import { LONGEST_WINDOW_MS } from './drawn-setup.ts'
import { failure, lateReply } from './fault-steps.ts'
import type { StepKind } from './features.ts'
import type { History } from './history.ts'
import { expire, extend, hold, pass, reset, settle } from './hold-steps.ts'
import { ban, lift, report } from './key-steps.ts'
import { charge, peek, refund, retry, take, takeTooMuch } from './request-steps.ts'

type Step = (history: History) => Promise<void>

/** What happens in each kind of step. */
export const steps: Readonly<Record<StepKind, Step>> = {
  take,
  pass: (history) => pass(history, history.random.pick([1, 1_000, history.random.whole(LONGEST_WINDOW_MS)])),
  'too much': takeTooMuch,
  peek,
  charge,
  refund,
  hold: async (history) => {
    await hold(history)
  },
  extend,
  settle: (history) => settle(history, history.random.whole(6)),
  release: (history) => settle(history, 0),
  expire,
  'ban key': ban,
  report,
  lift,
  reset,
  reload,
  restart,
  'mode control': controlMode,
  'limit control': controlLimit,
  block,
  failure,
  'late reply': lateReply,
  retry,
  'server clock back': setServerClockBack,
  'wall clock': stepWallClock,
}
