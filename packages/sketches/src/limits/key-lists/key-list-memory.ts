import type { Clock } from '@sluice/limiter-core'
import type { KeyListPlan } from './key-list-options.ts'

interface Remembered {
  readonly answer: boolean
  readonly untilMs: number
}

/** Longer keys are looked up every time: clients choose keys, and a million long ones would fill the memory. */
const LONGEST_KEY = 256

/** Recent answers for a bounded number of keys. The oldest answer is evicted first. */
export class KeyListMemory {
  readonly #clock: Clock
  readonly #forMs: number
  readonly #keys: number
  readonly #answers = new Map<string, Remembered>()

  constructor({ clock, rememberMs, rememberedKeys }: Pick<KeyListPlan, 'clock' | 'rememberMs' | 'rememberedKeys'>) {
    this.#clock = clock
    this.#forMs = rememberMs
    this.#keys = rememberedKeys
  }

  recall(key: string): boolean | undefined {
    const remembered = this.#answers.get(key)
    if (remembered === undefined) return undefined
    if (this.#clock.now() < remembered.untilMs) return remembered.answer
    this.#answers.delete(key)
    return undefined
  }

  remember(key: string, answer: boolean): void {
    if (this.#forMs === 0 || key.length > LONGEST_KEY) return
    // to the end of the line
    this.#answers.delete(key)
    this.#answers.set(key, { answer, untilMs: this.#clock.now() + this.#forMs })
    if (this.#answers.size <= this.#keys) return
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest)
      return
    }
  }

  forget(key: string): void {
    this.#answers.delete(key)
  }

  clear(): void {
    this.#answers.clear()
  }
}
