import { SluiceError } from '@sluice/limiter-core/http'

/** How a framework mounts a middleware: its method, and properties that it reads from each function it mounts. */
interface Mounting {
  readonly method: string
  readonly properties: readonly PropertyKey[]
}

type Maker = (...args: readonly never[]) => unknown
type Makers = Readonly<Record<string, unknown>>

/** Names of functions that create limits, each with the name of its decorator. */
const MAKERS = { rateLimit: 'RateLimit', inflightLimit: 'InflightLimit', slowDown: 'SlowDown', shed: 'Shed' } as const

/**
 * Makes functions that create limits throw when they are mounted without being called, and decorators when they are
 * mounted at all: with `app.use(rateLimit)` or `app.use(RateLimit({ … }))`, every request would receive a 500. Also
 * applies to the results of `createSluice`.
 */
export function rejectUncalled<T extends object>(makers: T, mounting: Mounting): T {
  const given = makers as Makers
  const rejecting: Record<string, unknown> = { ...given }
  for (const [name, word] of Object.entries(MAKERS)) {
    rejectMounted(given[name], mounting, `the result of ${name}({ … })`, `the function ${name} itself`)
    if (given[word]) rejecting[word] = rejectDecorator(given[word] as Maker, word, mounting)
  }
  const { createSluice } = given as { readonly createSluice?: Maker }
  if (createSluice) {
    rejecting.createSluice = (...args: readonly never[]) => rejectUncalled(createSluice(...args) as object, mounting)
  }
  return rejecting as T
}

/** Returns a function that creates decorators, which throw when they are mounted as a middleware. */
export function rejectDecorator<T extends Maker>(decoratorOf: T, word: string, mounting: Mounting): T {
  const [name] = Object.entries(MAKERS).find(([, decorator]) => decorator === word) ?? []
  const reject = <D>(decorator: D): D =>
    rejectMounted(decorator, mounting, `the result of ${name}({ … })`, `the decorator @${word}`)
  const make = (...args: readonly never[]): unknown => reject(decoratorOf(...args))
  return reject(Object.defineProperty(make, 'name', { value: word })) as T
}

/** Makes `made` throw when a framework mounts it. Returns `made`. */
export function rejectMounted<T>(made: T, { method, properties }: Mounting, expected: string, received: string): T {
  for (const property of properties) {
    Object.defineProperty(made, property, {
      configurable: true,
      get() {
        throw new SluiceError('SLUICE_BAD_OPTION', `${method}: expected ${expected}, received ${received}`)
      },
    })
  }
  return made
}
