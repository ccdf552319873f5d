import type { Backend, CountedKey, MaybePromise } from '@sluice/limiter-core'

/** Server-side result of a call, as far as it can be known. */
export type ServerSide = 'counted' | 'not counted' | 'unknown' | 'pending'

/** One backend call and its result, even if its caller did not wait for it. */
export interface Call {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly keys: readonly string[]
  serverSide: ServerSide
}

/**
 * A backend that delegates to `inner` and reports each call. `called` runs at the start of the call, in the same turn.
 */
export function observedBackend(inner: Backend, called: (call: Call) => void): Backend {
  const observed = <T>(
    operation: Call['operation'],
    keys: readonly string[],
    made: MaybePromise<T>,
  ): MaybePromise<T> => {
    const call: Call = { operation, keys, serverSide: 'pending' }
    called(call)
    Promise.resolve(made).then(
      (answer) => {
        call.serverSide = isCounted(answer) ? 'counted' : 'not counted'
      },
      (error) => {
        call.serverSide = error?.mayHaveCounted === true ? 'unknown' : 'not counted'
      },
    )
    return made
  }
  const namesOf = (keys: readonly CountedKey[]): string[] => keys.map(({ key }) => key)
  const { takeHeld, interrupted, mayHaveLost, mayCountUnanswered } = inner
  return {
    name: inner.name,
    open(compiled, name) {
      const counter = inner.open(compiled, name)
      // the inner backend accepts only its own counters
      return Object.create(counter, {
        take: { value: (key: string, ...rest: [number]) => observed('take', [key], counter.take(key, ...rest)) },
        close: { value: () => counter.close?.() },
      })
    },
    takeAll: (charges, moment) => observed('take', namesOf(charges), inner.takeAll(charges, moment)),
    peekAll: (charges, moment) => observed('peek', namesOf(charges), inner.peekAll(charges, moment)),
    adjustAll: (charges, at, moment) => observed('adjust', namesOf(charges), inner.adjustAll(charges, at, moment)),
    resetAll: (keys) => observed('reset', namesOf(keys), inner.resetAll(keys)),
    close: () => inner.close?.(),
    ...(takeHeld && { takeHeld: takeHeld.bind(inner) }),
    ...(interrupted && { interrupted: interrupted.bind(inner) }),
    ...(mayCountUnanswered && { mayCountUnanswered: mayCountUnanswered.bind(inner) }),
    ...(mayHaveLost && { mayHaveLost: mayHaveLost.bind(inner) }),
  }
}

/** A reset has no answer, and counts as applied. */
function isCounted(answer: unknown): boolean {
  const { allowed, verdicts } = (answer ?? { allowed: true }) as {
    readonly allowed?: boolean
    readonly verdicts?: readonly { readonly allowed: boolean }[]
  }
  return allowed ?? verdicts?.every((verdict) => verdict.allowed) === true
}
