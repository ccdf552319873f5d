/** A protocol as data: its states, and everything that may happen next in each of them. */
export interface Model<State> {
  readonly start: State
  /** Yields every event that may happen in a state, with the state after it. */
  next(state: State): Iterable<Step<State>>
  /** Describes what is wrong with a state; undefined if it keeps the documented bound. */
  violation(state: State): string | undefined
  /** Returns a text that is equal for states with the same future, for example with processes in another order. */
  key(state: State): string
}

export type Step<State> = readonly [event: string, after: State]

export interface Exploration {
  /** Number of different states. */
  readonly states: number
  /** Number of steps between them. */
  readonly steps: number
  /** Number of events after which every state was visited. */
  readonly depth: number
  readonly violation?: string
  /** A shortest sequence of events that leads to the violation. */
  readonly trace?: readonly string[]
}

export interface ExploreOptions<State> {
  /** Number of states above which it throws. Default: 1,000,000. */
  readonly maxStates?: number
  /** Number of states after which it ends. Default: none. */
  readonly mostStates?: number
  /** Called with each state after the start, and with a function that returns a shortest trace to it. */
  readonly visited?: (state: State, traceOf: () => readonly string[]) => void
}

/**
 * Visits all states of a model in the order of their distance from the start, so that a trace to a violation is one of
 * the shortest. Ends at the first violation.
 */
export function explore<State>(
  model: Model<State>,
  { maxStates = 1_000_000, mostStates = Number.POSITIVE_INFINITY, visited }: ExploreOptions<State> = {},
): Exploration {
  const known = new Set([model.key(model.start)])
  // by number of the state: the state before it, and the event that led to it
  const before: number[] = [0]
  const events: string[] = ['']
  let steps = 0
  let level = [model.start]
  let first = 0
  const traceOf = (last: number): readonly string[] => {
    const trace: string[] = []
    for (let at = last; at > 0; at = before[at]) trace.push(events[at])
    return trace.reverse()
  }
  for (let depth = 0; ; depth++) {
    const next: State[] = []
    for (const [index, state] of level.entries()) {
      for (const [event, after] of model.next(state)) {
        steps++
        const key = model.key(after)
        if (known.has(key)) continue
        known.add(key)
        events.push(event)
        const number = before.push(first + index) - 1
        const violation = model.violation(after)
        if (violation) return { states: known.size, steps, depth: depth + 1, violation, trace: traceOf(number) }
        if (known.size > maxStates) throw new Error(`more than ${maxStates} states`)
        visited?.(after, () => traceOf(number))
        if (known.size >= mostStates) return { states: known.size, steps, depth }
        next.push(after)
      }
    }
    if (next.length === 0) return { states: known.size, steps, depth }
    first += level.length
    level = next
  }
}

const texts = new WeakMap<object, string>()

/** Returns a function that computes its result once for equal objects. They must have the same fields and never change. */
export function cached<Part extends object>(compute: (part: Part) => Part): (part: Part) => Part {
  const results = new Map<string, Part>()
  return (part) => {
    const text = textOf(part)
    const result = results.get(text) ?? compute(part)
    results.set(text, result)
    return result
  }
}

/** Returns a short text that is equal for objects with equal values. The objects must have the same fields and never change. */
export function textOf(part: object): string {
  const known = texts.get(part)
  if (known !== undefined) return known
  let text = Array.isArray(part) ? '[' : '{'
  for (const value of Object.values(part)) text += isObject(value) ? textOf(value) : `${value},`
  text += '}'
  texts.set(part, text)
  return text
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
