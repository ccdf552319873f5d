import assert from 'node:assert/strict'
import type { SettleContext } from '@sluice/node-http'
import { type SeededRandom, until, Watcher } from '@sluice/testkit'
import type { Framework, Step } from '../frameworks/framework.ts'

const LIMIT = 1_000_000
/** Limits that are never reached, so that each request is charged. */
const POLICY = { limit: LIMIT, window: '1h' } as const

/** Limits in front of a cap, each present or not: rates whose costs are settled at the end of requests, and delays. */
export class LifeStack {
  readonly steps: readonly Step[]
  readonly #watcher = new Watcher()
  readonly #endings: SettleContext[] = []
  readonly #rates: ReturnType<Framework['rateLimit']> | undefined
  readonly #failures: ReturnType<Framework['rateLimit']> | undefined
  readonly #slow: ReturnType<Framework['slowDown']> | undefined

  constructor({ rateLimit, slowDown }: Framework, random: SeededRandom) {
    const [hasRates, hasDelays] = [random.whole(4) > 0, random.whole(2) === 0]
    const witness = (_req: unknown, _res: unknown, how: SettleContext): undefined => void this.#endings.push(how)
    this.#rates = hasRates
      ? rateLimit({
          key: () => 'all',
          observers: [this.#watcher],
          policies: [
            { name: 'witness', ...POLICY, cost: { reserve: 1, settle: witness, settleOn: 'always' } },
            { name: 'settled', ...POLICY, cost: { reserve: 2, settle: () => 1 } },
          ],
        })
      : undefined
    this.#failures = hasRates
      ? rateLimit({ name: 'failures', ...POLICY, key: () => 'all', countOnly: 'failures' })
      : undefined
    this.#slow = hasDelays
      ? slowDown({ key: () => 'all', after: 5, window: '1h', delayMs: 1, maxDelayMs: 3 })
      : undefined
    this.steps = [this.#rates, this.#failures, this.#slow].filter((step) => step !== undefined) as unknown as Step[]
  }

  /** Throws unless the life of each request has ended once, and the counts are the counts of the model. */
  async wasExact(): Promise<void> {
    if (this.#slow) await until(() => this.#slow?.waiting() === 0, { what: 'the end of all delays' })
    if (!this.#rates || !this.#failures) return
    const requests = this.#watcher.decisions.length
    await until(() => this.#endings.length >= requests, {
      what: `${requests} requests to end, of which ${this.#endings.length} have`,
    })
    await Promise.all([this.#rates.idle(), this.#failures.idle()])
    assert.equal(this.#endings.length, requests)
    const completed = this.#endings.filter((how) => how.completed)
    const refunded = completed.filter(({ status = 200 }) => status < 400)
    const peeked = await Promise.all([this.#rates, this.#failures].map(({ limiter }) => limiter.peek('all')))
    const verdicts = peeked.flatMap((decision) => decision.verdicts)
    const used = Object.fromEntries(verdicts.map(({ policy, remaining }) => [policy.name, LIMIT - remaining]))
    assert.deepEqual(used, {
      witness: requests,
      settled: 2 * requests - completed.length,
      failures: requests - refunded.length,
    })
  }
}
