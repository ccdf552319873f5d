import { type Backend, isPromise } from '@sluice/limiter-core/backend'

/** A backend, and a function that resolves when all of its calls have been answered. */
export interface AnsweredCalls {
  readonly backend: Backend
  readonly answered: () => Promise<void>
}

/** Observes the calls of a backend, so that a test can wait for a server before it moves its clock. */
export function answeredCalls(inner: Backend): AnsweredCalls {
  const pending = new Set<Promise<unknown>>()
  const backend = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const result: unknown = value.apply(target, args)
        if (isPromise(result)) {
          pending.add(result)
          const forget = (): unknown => pending.delete(result)
          result.then(forget, forget)
        }
        return result
      }
    },
  })
  const answered = async (): Promise<void> => {
    while (pending.size > 0) await Promise.allSettled(pending)
  }
  return { backend, answered }
}
