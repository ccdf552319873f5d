import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects what is no longer reachable. Finalization callbacks run in a later turn. */
export const collectGarbage = runInNewContext('gc') as () => void
