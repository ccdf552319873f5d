import type { MirrorStep } from './mirror-step.ts'

/** What a backend told of a key: at `now`, in answer to a call that was made at `heardAt`. */
export interface BufferedAnswer {
  used: number
  resetAfterMs: number
  now: number
  heardAt: number
}

type Adopt = (key: string, step: MirrorStep, count: string, buffered: BufferedAnswer) => void

/** An answer with its place in the order in which they came. */
interface Noted extends BufferedAnswer {
  order: number
}

interface BufferedKeys {
  readonly step: MirrorStep
  readonly count: string
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
  readonly #heard: BufferedKeys[] = []
  // most limiters have one policy
  #last: BufferedKeys | undefined
  #size = 0
  #order = 0

  constructor(adopt: Adopt) {
    this.#adopt = adopt
  }

  note(key: string, step: MirrorStep, count: string, { used, resetAfterMs, now, heardAt }: BufferedAnswer): void {
    const { keys } = this.#last?.step === step && this.#last.count === count ? this.#last : this.#of(step, count)
    const known = keys.get(key)
    if (known) {
      known.used = used
      known.resetAfterMs = resetAfterMs
      known.now = now
      known.heardAt = heardAt
      known.order = ++this.#order
      return
    }
    keys.set(key, { used, resetAfterMs, now, heardAt, order: ++this.#order })
    if (++this.#size > MOST_KEYS) this.flush()
  }

  /** Has all of them adopted. */
  flush(): void {
    if (this.#size === 0) return
    this.#size = 0
    this.#last = undefined
    const buffered = this.#heard.splice(0)
    if (new Set(buffered.map(({ count }) => count)).size < buffered.length) {
      this.#adoptInOrder(buffered)
      return
    }
    for (const { step, count, keys } of buffered) {
      for (const [key, answer] of keys) this.#adopt(key, step, count, answer)
    }
  }

  /** Plans share counts: of a key that is asked under several the last answer has the last word. */
  #adoptInOrder(buffered: readonly BufferedKeys[]): void {
    const answers = buffered.flatMap(({ step, count, keys }) =>
      [...keys].map(([key, answer]) => ({ step, count, key, answer })),
    )
    answers.sort((a, b) => a.answer.order - b.answer.order)
    for (const { key, step, count, answer } of answers) this.#adopt(key, step, count, answer)
  }

  #of(step: MirrorStep, count: string): BufferedKeys {
    let buffered = this.#heard.find((one) => one.step === step && one.count === count)
    if (!buffered) {
      buffered = { step, count, keys: new Map() }
      this.#heard.push(buffered)
    }
    this.#last = buffered
    return buffered
  }
}
