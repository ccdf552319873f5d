import type { Backend, Charge, MaybePromise } from '@sluice/limiter-core'

/** What the server made of a call, as far as anybody can know. */
export type ServerSide = 'counted' | 'not counted' | 'unknown' | 'pending'

/** One call of a backend: what became of it, also where its caller did not wait for that. */
export interface Call {
  readonly operation: 'take' | 'peek' | 'adjust' | 'reset'
  readonly keys: readonly string[]
  serverSide: ServerSide
}

/** A backend that does as `inner`, and shows each call. `called` hears of it when it begins, in the turn of its caller. */
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
  const namesOf = (charges: readonly Pick<Charge, 'key'>[]): string[] => charges.map(({ key }) => key)
  const { takeOne, takeHeld, prepare, interrupted, mayHaveLost, mayCountUnanswered } = inner
  return {
    name: inner.name,
    take: (charges, moment) => observed('take', namesOf(charges), inner.take(charges, moment)),
    peek: (charges, moment) => observed('peek', namesOf(charges), inner.peek(charges, moment)),
    adjust: (charges, at, moment) => observed('adjust', namesOf(charges), inner.adjust(charges, at, moment)),
    reset: (targets) => observed('reset', namesOf(targets), inner.reset(targets)),
    close: () => inner.close?.(),
    ...(takeOne && {
      takeOne: (key, ...rest) => observed('take', [key], takeOne.call(inner, key, ...rest)),
    }),
    ...(takeHeld && { takeHeld: takeHeld.bind(inner) }),
    ...(prepare && { prepare: prepare.bind(inner) }),
    ...(interrupted && { interrupted: interrupted.bind(inner) }),
    ...(mayCountUnanswered && { mayCountUnanswered: mayCountUnanswered.bind(inner) }),
    ...(mayHaveLost && { mayHaveLost: mayHaveLost.bind(inner) }),
  }
}

/** A reset answers nothing, and is done. */
function isCounted(answer: unknown): boolean {
  const { allowed, verdicts } = (answer ?? { allowed: true }) as {
    readonly allowed?: boolean
    readonly verdicts?: readonly { readonly allowed: boolean }[]
  }
  return allowed ?? verdicts?.every((verdict) => verdict.allowed) === true
}
