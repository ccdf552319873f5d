import type { CountedKey } from '../contracts.ts'
import type { MirrorCounter } from './failover-counter.ts'

/** What a backend told of a key: at `now`, in answer to a call that was made at `askedAt`. */
export interface BufferedAnswer {
  used: number
  resetAfterMs: number
  now: number
  askedAt: number
}

type Adopt = (counted: CountedKey<MirrorCounter>, buffered: BufferedAnswer) => void

/** An answer with its place in the order in which they came. */
interface Noted extends BufferedAnswer {
  order: number
}

interface BufferedKeys {
  readonly counter: MirrorCounter
  readonly keys: Map<string, Noted>
}

/** So many keys take 0.2 ms to adopt. */
const MOST_KEYS = 512

/**
 * The last answers of a backend, which the mirror adopts when it is asked or when they are many: of a key that is asked
 * often only the last one is, and an adoption costs six times what a note costs.
 */
export class MirrorBuffer {
  readonly #adopt: Adopt
  readonly #buffered: BufferedKeys[] = []
  // most limiters have one policy
  #last: BufferedKeys | undefined
  #size = 0
  #order = 0

  constructor(adopt: Adopt) {
    this.#adopt = adopt
  }

  note({ key, counter }: CountedKey<MirrorCounter>, { used, resetAfterMs, now, askedAt }: BufferedAnswer): void {
    const { keys } = this.#last?.counter === counter ? this.#last : this.#of(counter)
    const known = keys.get(key)
    if (known) {
      known.used = used
      known.resetAfterMs = resetAfterMs
      known.now = now
      known.askedAt = askedAt
      known.order = ++this.#order
      return
    }
    keys.set(key, { used, resetAfterMs, now, askedAt, order: ++this.#order })
    if (++this.#size > MOST_KEYS) this.flush()
  }

  /** Has all of them adopted. */
  flush(): void {
    if (this.#size === 0) return
    this.#size = 0
    this.#last = undefined
    const buffered = this.#buffered.splice(0)
    if (new Set(buffered.map(({ counter }) => counter.name)).size < buffered.length) {
      this.#adoptInOrder(buffered)
      return
    }
    for (const { counter, keys } of buffered) {
      for (const [key, answer] of keys) this.#adopt({ key, counter }, answer)
    }
  }

  /** Plans share counts: of a key that is asked under several the last answer has the last word. */
  #adoptInOrder(buffered: readonly BufferedKeys[]): void {
    const answers = buffered.flatMap(({ counter, keys }) =>
      [...keys].map(([key, answer]) => ({ counter, key, answer })),
    )
    answers.sort((a, b) => a.answer.order - b.answer.order)
    for (const { key, counter, answer } of answers) this.#adopt({ key, counter }, answer)
  }

  #of(counter: MirrorCounter): BufferedKeys {
    let buffered = this.#buffered.find((one) => one.counter === counter)
    if (!buffered) {
      buffered = { counter, keys: new Map() }
      this.#buffered.push(buffered)
    }
    this.#last = buffered
    return buffered
  }
}
