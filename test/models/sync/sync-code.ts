import {
  MemorySyncLedger,
  type SyncAnswer,
  type SyncBatch,
  SyncingBackend,
  type SyncLedger,
  syncTermsOf,
} from '@sluice/fleet/sync'
import { createLimiter, type Decision, type Limiter, type SyncLimiterOptions } from '@sluice/limiter-core'
import { afterThisTurn } from '@sluice/limiter-core/backend'
import { FakeClock, NodeClock } from '@sluice/testkit'
import type { SyncSize, SyncState } from './sync-state.ts'

const TICK_MS = 1_000
const TERMS = { tickMs: TICK_MS, nodes: 1, floor: 0, silentMs: 600_000 }

interface Call {
  readonly batch: SyncBatch
  readonly answered: (answer: SyncAnswer) => void
  readonly failed: (error: unknown) => void
}

interface Process {
  readonly clock: NodeClock
  readonly limiter: Limiter<Decision>
  readonly joined: SyncLedger
  /** Calls on their way to the ledger, in the order of the model. */
  calls: Call[]
  isAlive: boolean
}

/** The code of synced limits, which follows the events of the model. A process runs only when it sends. */
export class SyncCode {
  readonly #clock = new FakeClock({ nowMs: 1_000_000 })
  readonly #ledger = new MemorySyncLedger(this.#clock)
  readonly #processes: readonly Process[]

  constructor({ processes, limit }: SyncSize) {
    this.#processes = Array.from({ length: processes }, () => this.#start(limit))
  }

  /** Applies an event. Returns the numbers of the code that `expectedOfSync` returns for the model. */
  async apply(event: string, after: SyncState): Promise<readonly unknown[]> {
    if (event === 'the ledger restarts empty') {
      this.#ledger.loseData()
      for (const process of this.#processes) for (const call of process.calls.splice(0)) call.failed(late())
    } else await this.#act(this.#processes[Number.parseInt(event, 10)], event, after)
    await settled()
    return this.#numbers()
  }

  async #act(process: Process, event: string, after: SyncState): Promise<void> {
    const at = this.#processes.indexOf(process)
    if (event.includes('takes')) process.limiter.take('a')
    else if (event.includes('sends')) await this.#send(process)
    else if (event.includes('killed')) process.isAlive = false
    else if (event.includes('gives up')) process.calls.at(-1)?.failed(late())
    else {
      const index = Number(/batch (\d+)/.exec(event)?.[1])
      const call = process.calls[index]
      const answer = await process.joined.exchange(call.batch, 0)
      if (!event.endsWith('again')) process.calls.splice(index, 1)
      if (event.endsWith('lost')) call.failed(late())
      else call.answered(answer)
    }
    await settled()
    // the model drops batches without effects
    process.calls = process.calls.slice(process.calls.length - after.processes[at].batches.length)
  }

  /** Lets a process run until it has sent a batch. */
  async #send(process: Process): Promise<void> {
    const before = process.calls.length
    // a process asks about a key again when its last reply is old
    this.#clock.advance(3 * TICK_MS)
    process.limiter.take('a', 0)
    process.clock.resume()
    for (let tick = 0; tick < 4 && process.calls.length === before; tick++) {
      this.#clock.advance(TICK_MS)
      await settled()
    }
    process.clock.stop()
  }

  #numbers(): readonly unknown[] {
    return this.#processes.map(({ limiter, calls, isAlive }) => {
      const sent = calls.map(({ batch: { takes, afterLoss = false } }) => {
        const [{ known, takes: units }] = takes
        return [units.reduce((sum, one, index) => (index % 2 === 1 ? sum + one : sum), 0), known?.used, afterLoss]
      })
      return isAlive ? [limiter.peek('a').verdicts[0].remaining, sent] : sent
    })
  }

  #start(limit: number): Process {
    const clock = new NodeClock(this.#clock)
    const joined = this.#ledger.join()
    const calls: Call[] = []
    const ledger: SyncLedger = {
      ...joined,
      exchange: (batch) =>
        // the code may change the batch later
        new Promise((answered, failed) => process.calls.push({ batch: copyOf(batch), answered, failed })),
    }
    const terms = syncTermsOf('model', TERMS)
    const backend = new SyncingBackend({
      name: 'synced',
      ledger,
      terms,
      rule: { source: 'local' },
      clock,
      random: () => 0.5,
    })
    const policies = [{ name: 'model', algorithm: 'fixed-window', limit, window: '1d', backend }] as const
    const limiter = createLimiter({
      policies,
      clock,
      scope: 'default',
    } as unknown as SyncLimiterOptions) as Limiter<Decision>
    const process: Process = { clock, limiter, joined, calls, isAlive: true }
    clock.stop()
    return process
  }
}

function late(): Error {
  return Object.assign(new Error('late'), { code: 'LATE' })
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise<void>((resolve) => afterThisTurn(resolve))
}

function copyOf(batch: SyncBatch): SyncBatch {
  const takes = batch.takes.map(({ key, counter, known, takes: units }) => ({ key, counter, known, takes: [...units] }))
  return { ...batch, takes }
}

/** Returns the numbers of the model that `SyncCode.apply` returns for the code. */
export function expectedOfSync(after: SyncState, limit: number): readonly unknown[] {
  return after.processes.map(({ isAlive, used, batches }) => {
    const sent = batches.map(({ units, known, isAfterLoss }) => [units, known?.used, isAfterLoss])
    return isAlive ? [Math.max(0, limit - used), sent] : sent
  })
}
