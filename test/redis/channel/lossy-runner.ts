import type { Script, ScriptRunner } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'

type Call = () => Promise<unknown>

/** A runner that loses, delays and duplicates requests and answers at random, until it is `calm`. */
export class LossyRunner implements ScriptRunner {
  calm = false
  /** How often each fault occurred. */
  readonly struck: Record<string, number> = {}
  readonly #runner: ScriptRunner
  readonly #random: SeededRandom
  readonly #underWay = new Set<Promise<unknown>>()
  #late: Call[] = []

  constructor(runner: ScriptRunner, random: SeededRandom) {
    this.#runner = runner
    this.#random = random
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const call = (): Promise<unknown> => this.#tracked(this.#runner.run(script, keys, args))
    if (this.calm) return call()
    const fault = this.#random.pick(['none', 'request', 'answer', 'late', 'silence', 'double'] as const)
    this.struck[fault ?? ''] = (this.struck[fault ?? ''] ?? 0) + 1
    if (fault === 'request') return Promise.reject(new Error('lost'))
    if (fault === 'answer') return call().then(() => Promise.reject(new Error('lost')))
    if (fault === 'double') return call().then(call)
    if (fault === 'silence') {
      void call()
      return new Promise(() => {})
    }
    if (fault === 'late') {
      this.#late.push(call)
      return Promise.reject(new Error('given up'))
    }
    return call()
  }

  /** Resolves when everything sent has been answered. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  /** Delivers abandoned requests in random order. */
  async arrive(): Promise<void> {
    const late = this.#late.filter(() => this.calm || this.#random.next() < 0.3)
    this.#late = this.#late.filter((call) => !late.includes(call))
    await Promise.all(late.reverse().map((call) => call()))
  }

  #tracked(answer: Promise<unknown>): Promise<unknown> {
    this.#underWay.add(answer)
    const done = (): boolean => this.#underWay.delete(answer)
    answer.then(done, done)
    return answer
  }
}
