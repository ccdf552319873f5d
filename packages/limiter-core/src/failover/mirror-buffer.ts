import type { CountedKey } from '../contracts.ts'
import type { MirrorCounter } from './failover-counter.ts'
import type { BufferedAnswer } from './mirror-policy.ts'

type Adopt = (counted: CountedKey<MirrorCounter>, buffered: BufferedAnswer) => void

/** An answer with its position in the order of arrival. */
interface Noted {
  answer: BufferedAnswer
  order: number
}

interface BufferedKeys {
  readonly counter: MirrorCounter
  readonly keys: Map<string, Noted>
}

/** Largest number of buffered keys. Adopting all of them takes 0.2 ms. */
const MAX_KEYS = 512

/**
 * Buffers the latest answers of a backend until the mirror is read or the buffer is full. Only the last answer for each
 * key is then adopted, because an adoption costs six times as much as storing an answer.
 */
export class MirrorBuffer {
  readonly #adopt: Adopt
  readonly #buffered: BufferedKeys[] = []
  // fast path, because most limiters have one policy
  #last: BufferedKeys | undefined
  #size = 0
  #order = 0

  constructor(adopt: Adopt) {
    this.#adopt = adopt
  }

  note({ key, counter }: CountedKey<MirrorCounter>, answer: BufferedAnswer): void {
    const { keys } = this.#last?.counter === counter ? this.#last : this.#of(counter)
    const known = keys.get(key)
    if (known) {
      known.answer = answer
      known.order = ++this.#order
      return
    }
    keys.set(key, { answer, order: ++this.#order })
    if (++this.#size > MAX_KEYS) this.flush()
  }

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
      for (const [key, { answer }] of keys) this.#adopt({ key, counter }, answer)
    }
  }

  /** If plans share a count, several counters buffer answers of one key, and the newest must be adopted last. */
  #adoptInOrder(buffered: readonly BufferedKeys[]): void {
    const answers = buffered.flatMap(({ counter, keys }) =>
      [...keys].map(([key, noted]) => ({ counter, key, ...noted })),
    )
    answers.sort((a, b) => a.order - b.order)
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
