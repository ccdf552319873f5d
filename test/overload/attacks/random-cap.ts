import assert from 'node:assert/strict'
import {
  type AcquireOptions,
  type CapHandle,
  createInflightLimiter,
  type InflightBackend,
  type InflightLimiter,
  type Permit,
  type Priority,
} from '@sluice/limiter-core'
import { adaptive, createPrioritizer, type Prioritizer, prioritizedInflight } from '@sluice/overload'
import { FakeClock, type SeededRandom } from '@sluice/testkit'

/** One `acquire` and what became of it. */
interface Asked {
  readonly key: string
  readonly weight: number
  readonly abort: () => void
  readonly atMs: number
  answers: number
  permit: Permit | undefined
}

const KEYS = ['', 'a', '__proto__']
const NAMES = [
  'critical',
  'high',
  'normal',
  'low',
  'sheddable',
  undefined,
  'urgent',
  '__proto__',
  '',
  '\u0000',
  'CRITICAL',
]
const [MIN, MAX] = [1, 12]

/** The permit of work that is not counted. */
const UNCOUNTED = uncounted()

/** Plays random commands on a cap with all options, and checks it against sums of weights after each of them. */
export class RandomCap {
  readonly #random: SeededRandom
  readonly #time = new FakeClock()
  #aheadMs = 1e6
  readonly #max: number
  readonly #maxWaitMs: number
  readonly #isAdaptive: boolean
  readonly #backend: InflightBackend
  readonly #cap: InflightLimiter
  readonly #prioritizer: Prioritizer
  #handle: CapHandle | undefined
  #asked: Asked[] = []
  #mode: 'enforce' | 'shadow' | 'off' = 'enforce'
  #wasSetBack = false
  waited = 0

  constructor(random: SeededRandom) {
    this.#random = random
    this.#max = random.pick([0, 1, 3, 1e6])
    this.#maxWaitMs = random.pick([1, 50, 1_000, 2 ** 31 - 1])
    this.#isAdaptive = random.whole(2) === 0
    const { clock } = this
    this.#prioritizer = createPrioritizer({ clock })
    const queue = this.#max === 0 ? undefined : { max: this.#max, maxWaitMs: this.#maxWaitMs }
    this.#backend = prioritizedInflight({ queue, prioritizer: this.#prioritizer, clock })
    const capOpened = (handle: CapHandle): void => {
      this.#handle = handle
    }
    const observers = [{ capOpened }]
    const limit = this.#isAdaptive ? adaptive({ min: MIN, max: MAX, initial: 4 }) : 4
    const maxHoldMs = random.pick([undefined, 5, 500])
    this.#cap = createInflightLimiter({ limit, backend: this.#backend, clock, maxHoldMs, observers })
  }

  get clock() {
    const time = this.#time
    return { now: () => time.now() + this.#aheadMs, wall: () => time.wall(), after: time.after.bind(time) }
  }

  async play(commands: number): Promise<void> {
    for (let command = 0; command < commands; command++) {
      const [before, limits] = [this.#counts(), this.#limits()]
      this.#command()
      await settled()
      this.#check(before, limits)
    }
    await this.#end()
  }

  #command(): void {
    const random = this.#random
    const choice = random.whole(100)
    if (choice < 45) this.#ask()
    else if (choice < 70) this.#release()
    else if (choice < 78) random.pick(this.#asked)?.abort()
    else if (choice < 84) this.#control()
    else if (choice < 98) this.#time.advance(random.pick([0, 0.5, 1, 10, 100, 1_000]))
    else if (choice < 99) this.#time.advance(1e9)
    else this.#setBack()
  }

  #ask(): void {
    const random = this.#random
    const left = new AbortController()
    const [key, weight] = [random.pick(KEYS), 1 + random.whole(random.pick([1, 3, 15]))]
    if (random.whole(10) === 0) left.abort()
    const options: AcquireOptions = {
      weight,
      signal: left.signal,
      priority: random.pick(NAMES) as Priority,
      client: random.pick([undefined, `client ${random.whole(1e6)}`, '', '__proto__', '\ud800']),
    }
    const abort = (): void => left.abort()
    const one: Asked = { key, weight, abort, atMs: this.clock.now(), answers: 0, permit: undefined }
    this.#asked.push(one)
    const answer = this.#cap.acquire(key, options)
    const answered = (permit: Permit | undefined): void => {
      one.answers++
      one.permit = permit
    }
    if (answer instanceof Promise) {
      this.waited++
      answer.then(answered)
    } else answered(answer as Permit | undefined)
  }

  #release(): void {
    const one = this.#random.pick(this.#asked.filter(({ permit }) => permit))
    if (!one) return
    one.permit?.release(this.#random.pick(['success', 'dropped']))
    if (this.#random.whole(3) === 0) one.permit?.release()
    this.#asked = this.#asked.filter((other) => other !== one)
  }

  #control(): void {
    const random = this.#random
    this.#mode = random.pick(['enforce', 'enforce', 'shadow', 'off'])
    const blockedMs = (key: string): number => (key === 'a' && this.#mode === 'enforce' ? random.pick([0, 0, 100]) : 0)
    if (random.whole(3) === 0) {
      this.#mode = 'enforce'
      this.#handle?.control(undefined)
    } else this.#handle?.control({ mode: this.#mode, limit: random.pick([undefined, 1, 2, 9, 30]), blockedMs })
  }

  #setBack(): void {
    this.#aheadMs -= this.#random.pick([1, 1_000, 1e5])
    this.#wasSetBack = true
  }

  #check(before: readonly number[], limits: readonly number[]): void {
    // lost permits have no places
    this.#asked = this.#asked.filter(({ permit, answers }) => !(answers > 0 && (!permit || permit.lost.aborted)))
    for (const { answers } of this.#asked) assert.ok(answers <= 1, `answered ${answers} times`)
    for (const [index, count] of this.#counts().entries()) {
      const key = KEYS[index]
      const of = this.#asked.filter((one) => one.key === key)
      const held = of.reduce((sum, one) => sum + (one.permit && one.permit !== UNCOUNTED ? one.weight : 0), 0)
      assert.equal(count, held, `places held for '${key}'`)
      const most = Math.max(limits[index], this.#cap.limitOf(key))
      assert.ok(count <= before[index] || count <= most, `${count} places of ${most} for '${key}'`)
      const waiting = of.filter(({ answers }) => answers === 0)
      assert.ok(waiting.length <= this.#max, `${waiting.length} of ${this.#max} wait for '${key}'`)
      if (count === 0 && before[index] > 0) assert.equal(waiting.length, 0, `requests that wait for a free '${key}'`)
      const now = this.clock.now()
      for (const { atMs } of this.#wasSetBack ? [] : waiting)
        assert.ok(now - atMs <= this.#maxWaitMs + 1, 'waits for too long')
    }
    const { level } = this.#prioritizer
    assert.ok(Number.isInteger(level) && level >= 0 && level < 640, `level ${level}`)
    for (const limit of this.#limits()) assert.ok(Number.isInteger(limit) && limit >= MIN && limit <= 30, `${limit}`)
  }

  /** Everything that waits is answered within `maxWaitMs` or on close, and nothing is left. */
  async #end(): Promise<void> {
    if (this.#random.whole(2) === 0) this.#time.advance(2 ** 31 + 1e9)
    else this.#backend.close?.()
    await settled()
    assert.deepEqual(
      this.#asked.filter(({ answers }) => answers !== 1),
      [],
    )
    for (const { permit } of this.#asked) permit?.release()
    await this.#cap.close()
    this.#backend.close?.()
    await settled()
    assert.deepEqual(this.#counts(), [0, 0, 0])
    assert.equal(this.#time.pending, 0, 'timers')
  }

  #count(key: string): number {
    return this.#cap.count(key) as number
  }

  #counts(): number[] {
    return KEYS.map((key) => this.#count(key))
  }

  #limits(): number[] {
    return KEYS.map((key) => this.#cap.limitOf(key))
  }
}

function uncounted(): unknown {
  const handles: CapHandle[] = []
  const observers = [{ capOpened: (handle: CapHandle) => void handles.push(handle) }]
  const cap = createInflightLimiter({ limit: 1, observers })
  handles[0].control({ mode: 'off', blockedMs: () => 0 })
  return cap.acquire()
}

/** Lets promises that are due settle. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await undefined
}
