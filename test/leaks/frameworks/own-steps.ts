import type { Framework, Handler, Step } from './framework.ts'

type Name = 'inflightLimit' | 'rateLimit' | 'slowDown'

/** A handler with a limit around it. */
interface Wrapped<Limit> {
  readonly limit: Limit
  readonly handler: Handler
}

/** Steps that stand for the limits of a framework which runs them in a way of its own; nothing calls the steps. */
export class OwnSteps<Limit extends object> {
  readonly #limits = new WeakMap<Step, Limit>()
  readonly #wrapped = new WeakMap<Step, Wrapped<Limit>>()

  limitOf(step: Step): Limit | undefined {
    return this.#limits.get(step)
  }

  /** Returns what `wrap` of a limit made into a step. */
  wrappedBy(step: Step): Wrapped<Limit> | undefined {
    return this.#wrapped.get(step)
  }

  /** Returns the limits of a framework as steps. */
  makersOf(from: Readonly<Record<Name, (options: never) => Limit>>): Pick<Framework, Name> {
    return {
      inflightLimit: this.#maker(from.inflightLimit) as unknown as Framework['inflightLimit'],
      rateLimit: this.#maker(from.rateLimit) as unknown as Framework['rateLimit'],
      slowDown: this.#maker(from.slowDown) as unknown as Framework['slowDown'],
    }
  }

  #maker(make: (options: never) => Limit) {
    return (options: unknown) => {
      const [limit, step] = [make(options as never), asStep()]
      this.#limits.set(step, limit)
      const wrap = (handler: Handler): Step => {
        const wrapped = asStep()
        this.#wrapped.set(wrapped, { limit, handler })
        return wrapped
      }
      return Object.assign(step, limit, { wrap })
    }
  }
}

function asStep(): Step {
  return () => {
    throw new Error('the limits of this framework run in its own way alone')
  }
}
