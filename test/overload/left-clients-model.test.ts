import { expect, test } from '@jest/globals'
import { InflightGate } from '@sluice/http'
import { adaptive } from '@sluice/overload'
import { eachSeed, FakeClock, type SeededRandom, WorkerModel } from '@sluice/testkit'
import { HeldPermits } from '../../packages/http/src/lifecycle/held-permits.ts'

const [WORKERS, SERVICE_MS, SECONDS] = [12, 100, 60]
const view = { ip: '192.0.2.1', method: 'GET', route: '/', header: () => undefined, raw: {} }

/** Clients that send requests and leave after some milliseconds. */
interface Storm {
  readonly perSecond: number
  readonly leaveMs: number
  readonly ip: string
}

/** Part of 60 requests per second that are answered within their 400 ms. */
function answeredOf(random: SeededRandom, storm: Storm): number {
  const clock = new FakeClock()
  const gate = new InflightGate<object, never>({ limit: adaptive(), clock, observers: [] })
  const server = new WorkerModel(WORKERS, clock)
  let [asked, answered] = [0, 0]
  const arrive = (leaveMs: number, ip: string, done: () => void): void => {
    const check = gate.check({ ...view, ip })
    if (check instanceof Promise || !check?.permit) return
    const held = new HeldPermits()
    held.add(check)
    let hasLeft = false
    clock.after(leaveMs, () => {
      hasLeft = true
      held.end('dropped', true)
    })
    server.serve(SERVICE_MS, () => {
      held.end('success')
      if (!hasLeft) done()
    })
  }
  const send = (perSecond: number, run: () => void): void => {
    clock.after((-Math.log(1 - random.next()) * 1_000) / perSecond, () => {
      send(perSecond, run)
      run()
    })
  }
  send(storm.perSecond, () => arrive(storm.leaveMs, storm.ip, () => {}))
  send(60, () => {
    asked++
    arrive(400, view.ip, () => answered++)
  })
  clock.advance(SECONDS * 1_000)
  return answered / asked
}

test.each([100, 300, 600])('%i requests per second of clients that leave do not displace the others', (perSecond) =>
  eachSeed(3, (random, seed) => {
    const answered = answeredOf(random, { perSecond, leaveMs: 30, ip: '198.51.100.1' })
    process.stdout.write(`seed ${seed}: ${(100 * answered).toFixed(1)} % answered\n`)
    expect(answered).toBeGreaterThan(0.75)
  }),
)
