import { expect } from '@jest/globals'
import { type ExploreOptions, explore, type Model } from './explorer.ts'

/** Expects that no state of a model violates its bound, and prints how many states there are. */
export function expectKept<State>(title: string, model: Model<State>, options?: ExploreOptions<State>): void {
  const before = process.cpuUsage()
  const { violation, trace, states, steps, depth } = explore(model, options)
  const cpuMs = Math.round(process.cpuUsage(before).user / 1_000)
  process.stdout.write(`${title}: ${states} states, ${steps} steps, depth ${depth}, ${cpuMs} ms of CPU time\n`)
  expect([violation, trace]).toEqual([undefined, undefined])
}

/** Expects that a model violates its bound, and prints a shortest trace. */
export function expectFound<State>(title: string, model: Model<State>): void {
  const { violation, trace = [], states } = explore(model)
  process.stdout.write(
    `${title}: found after ${states} states\n${trace.map((event) => `  ${event}\n`).join('')}  => ${violation}\n`,
  )
  expect(violation).toBeDefined()
}

/** Returns the states after each event of a trace, beginning with the start of the model. */
export function statesOf<State>(model: Model<State>, trace: readonly string[]): readonly State[] {
  const states = [model.start]
  for (const event of trace) {
    for (const [name, after] of model.next(states[states.length - 1])) {
      if (name !== event) continue
      states.push(after)
      break
    }
  }
  expect(states).toHaveLength(trace.length + 1)
  return states
}
