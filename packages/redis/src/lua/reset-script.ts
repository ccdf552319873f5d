import type { Script } from '@sluice/limiter-core'
import { exactHead } from './exact-head.ts'
import { runOnce } from './run-once.ts'

/**
 * Forgets KEYS, once for each id.
 *
 * ARGV: as `exactHead` says, then the id. Answers 'late' and the time where the deadline had passed, else the time.
 */
export const resetScript: Script = {
  name: 'reset',
  text: `${exactHead}${runOnce}
for _, key in ipairs(KEYS) do
  if not doneBefore(key, ARGV[2]) then
    call('UNLINK', key)
    isDone(key, ARGV[2], '1')
  end
end
storeDone()
return stamp
`,
}
