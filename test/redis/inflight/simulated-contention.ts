import { createInflightLimiter, type InflightLimiter, type Script, type ScriptRunner } from '@sluice/limiter-core'
import { redisInflight } from '@sluice/redis'
import { FakeClock, type SeededRandom } from '@sluice/testkit'
import type { Contention, Division } from './contention.ts'
import { total } from './fairness.ts'

/** Latency from a process to the server and back. */
const WAY_MS = 0.25

/** A runner with simulated latency to a real server, which itself takes no time. */
class SlowWay implements ScriptRunner {
  calls = 0
  /** Calls that are in flight. */
  underWay = 0
  readonly #runner: ScriptRunner
  readonly #clock: FakeClock

  constructor(runner: ScriptRunner, clock: FakeClock) {
    this.#runner = runner
    this.#clock = clock
  }

  async run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    this.calls++
    await passing(this.#clock, WAY_MS)
    // a server reads its clock when it runs the script
    const [, ...rest] = args
    this.underWay++
    const reply = await this.#runner.run(script, keys, [`=${this.#clock.now()}`, ...rest])
    this.underWay--
    await passing(this.#clock, WAY_MS)
    return reply
  }
}

function passing(clock: FakeClock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve))
}

/** Simulates how the tasks of processes share the permits of one cap. `most` is the maximum number held at once. */
export async function contendInFakeTime(
  runner: ScriptRunner,
  random: SeededRandom,
  { tasks, limit, ms, holdMs, retryMs }: Contention,
): Promise<Division & { readonly most: number }> {
  const clock = new FakeClock({ nowMs: 1_000_000 })
  const endsAt = clock.now() + ms
  const ways = tasks.map(() => new SlowWay(runner, clock))
  const options = { clock, serverTime: () => clock.now(), deadlineMs: 10_000, leaseMs: 60_000 }
  const backends = ways.map((way) => redisInflight(way, options))
  const permits = tasks.map(() => 0)
  let [asks, held, most] = [0, 0, 0]
  const task = async (cap: InflightLimiter, process: number): Promise<void> => {
    while (clock.now() < endsAt) {
      asks++
      const permit = await cap.acquire('k')
      if (permit) {
        permits[process]++
        most = Math.max(most, ++held)
      }
      await passing(clock, (permit ? holdMs : retryMs) * (0.8 + 0.4 * random.next()))
      if (permit) held--
      permit?.release()
    }
  }
  for (const [process, backend] of backends.entries()) {
    const cap = createInflightLimiter({ name: 'contended', limit, backend, clock })
    for (let one = 0; one < tasks[process]; one++) void task(cap, process)
  }
  while (clock.now() < endsAt) {
    clock.advance(WAY_MS)
    for (let turn = 0; turn < 2 || ways.some(({ underWay }) => underWay > 0); turn++) {
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { permits, asks, calls: total(ways.map(({ calls }) => calls)), most }
}
