import type { MirrorStep } from './mirror-step.ts'

/** What a backend told of a key: at `now`, in answer to a call that was made in `generation`. */
export interface HeardAnswer {
  used: number
  resetAfterMs: number
  now: number
  generation: number
}

type Adopt = (key: string, step: MirrorStep, count: string, heard: HeardAnswer) => void

interface Heard {
  readonly step: MirrorStep
  readonly count: string
  readonly keys: Map<string, HeardAnswer>
}

/** So many keys take 0.2 ms to adopt. */
const MOST_KEYS = 512

/**
 * The last answers of a backend, which the mirror adopts when it is asked or when they are many: of a key that is asked
 * often only the last one is, and an adoption costs six times what a note costs.
 */
export class HeardAnswers {
  readonly #adopt: Adopt
  readonly #heard: Heard[] = []
  // most limiters have one policy
  #last: Heard | undefined
  #size = 0

  constructor(adopt: Adopt) {
    this.#adopt = adopt
  }

  note(key: string, step: MirrorStep, count: string, { used, resetAfterMs, now, generation }: HeardAnswer): void {
    const { keys } = this.#last?.step === step && this.#last.count === count ? this.#last : this.#of(step, count)
    const known = keys.get(key)
    if (known) {
      known.used = used
      known.resetAfterMs = resetAfterMs
      known.now = now
      known.generation = generation
      return
    }
    keys.set(key, { used, resetAfterMs, now, generation })
    if (++this.#size > MOST_KEYS) this.flush()
  }

  /** Has all of them adopted. */
  flush(): void {
    if (this.#size === 0) return
    this.#size = 0
    this.#last = undefined
    for (const { step, count, keys } of this.#heard.splice(0)) {
      for (const [key, heard] of keys) this.#adopt(key, step, count, heard)
    }
  }

  #of(step: MirrorStep, count: string): Heard {
    let heard = this.#heard.find((one) => one.step === step && one.count === count)
    if (!heard) {
      heard = { step, count, keys: new Map() }
      this.#heard.push(heard)
    }
    this.#last = heard
    return heard
  }
}
