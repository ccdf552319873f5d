import type { Clock, Script, ScriptRunner } from '@sluice/limiter-core'
import type { SeededRandom } from '@sluice/testkit'

export interface WrongRunnerOptions {
  readonly runner: ScriptRunner
  readonly random: SeededRandom
  readonly clock: Clock
  /** Delay of late replies, in ms. */
  readonly lateMs: number
}

/** Fields that replace one field of a correct reply. */
const WRONG_FIELDS: readonly unknown[] = ['NaN', 'x', '', '-1', '-Infinity', '1e308', '9'.repeat(400), '!1', '!9', null]
const HUGE = Number.MAX_VALUE
const UNREADABLE = {
  toString(): string {
    throw new Error('no text')
  },
}
/** Replies without any relation to the call. */
const WRONG_REPLIES: readonly unknown[] = [
  null,
  undefined,
  0,
  -1,
  Number.NaN,
  HUGE,
  '',
  'OK',
  'late',
  'NaN NaN NaN NaN NaN',
  '9:9 NaN NaN NaN NaN',
  `${HUGE}:0 1 1 1 1`,
  'late 1e300',
  [],
  [null],
  [[[]], [['1', ['2']]]],
  ['1e308', '1e308', '1e308', '1e308'],
  ['NaN', 'NaN'],
  [0, HUGE, HUGE, HUGE, HUGE],
  [0, 0, Number.NaN, Number.NaN],
  {},
  Symbol('reply'),
  UNREADABLE,
]
const WRONG_ERRORS: readonly unknown[] = [
  undefined,
  null,
  'text',
  7,
  new Error(''),
  new Error('ERR wrong'),
  new Error('MOVED 1 127.0.0.1:1'),
  new Error('WRONGTYPE wrong'),
  new Error('CROSSSLOT wrong'),
  Object.assign(new Error('odd'), { code: 5 }),
  UNREADABLE,
]

/** A runner of a real Redis that gives wrong replies, by chance. */
export class WrongRunner implements ScriptRunner {
  /** Share of calls with a wrong reply, 0 to 1. */
  share = 0
  /** Calls that Redis has not answered yet. */
  underWay = 0
  /** Descriptions of the wrong replies so far. */
  readonly given: string[] = []
  readonly #options: WrongRunnerOptions
  readonly #earlier: unknown[] = []

  constructor(options: WrongRunnerOptions) {
    this.#options = options
  }

  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const { random } = this.#options
    if (random.next() >= this.share) return this.#real(script, keys, args)
    const kind = random.pick(['reply', 'error', 'throws', 'never', 'late', 'field', 'field', 'cut', 'other'] as const)
    this.given.push(`${script.name} ${kind}`)
    if (kind === 'reply') return Promise.resolve(random.pick(WRONG_REPLIES))
    if (kind === 'error') return Promise.reject(random.pick(WRONG_ERRORS))
    if (kind === 'throws') throw random.pick(WRONG_ERRORS)
    if (kind === 'never') return new Promise(() => {})
    return this.#changed(kind, this.#real(script, keys, args))
  }

  async #real(...call: Parameters<ScriptRunner['run']>): Promise<unknown> {
    this.underWay++
    try {
      const reply = await this.#options.runner.run(...call)
      this.#earlier.push(reply)
      return reply
    } finally {
      this.underWay--
    }
  }

  async #changed(kind: 'late' | 'field' | 'cut' | 'other', answer: Promise<unknown>): Promise<unknown> {
    const { random, clock, lateMs } = this.#options
    const reply = await answer
    if (kind === 'other') return random.pick(this.#earlier)
    if (kind === 'late') return new Promise((resolve) => void clock.after(lateMs, () => resolve(reply)))
    const fields: unknown[] = Array.isArray(reply) ? [...reply] : String(reply).split(' ')
    const at = random.whole(fields.length)
    if (kind === 'cut') fields.length = at
    else fields[at] = random.pick(WRONG_FIELDS)
    this.given.push(String(fields))
    return Array.isArray(reply) ? fields : fields.join(' ')
  }
}
