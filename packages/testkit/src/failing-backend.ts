import { PlainCounter } from '@sluice/fleet/backend'
import type { Backend } from '@sluice/limiter-core/backend'

/** A backend of which every call throws, rejects or stays silent, as `fail` does. */
export function failingBackend(fail: () => never | Promise<never>, name = 'dead'): Backend {
  const backend: Backend = {
    name,
    open: (compiled, count) => new PlainCounter(backend, compiled, count),
    takeAll: fail,
    peekAll: fail,
    adjustAll: fail,
    resetAll: fail,
  }
  return backend
}
