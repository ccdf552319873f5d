import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { createInflightLimiter, type Permit } from '@sluice/limiter-core'
import { adaptive, prioritizedInflight } from '@sluice/overload'
import { FakeClock, numberOfRuns } from '@sluice/testkit'

const CLIENTS = numberOfRuns(1_000_000)
const MIB = 2 ** 20

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('many clients and keys need a bounded amount of memory', () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ clock })
  const cap = createInflightLimiter({ limit: adaptive({ min: 1, max: 8, initial: 4 }), backend, clock })
  const visit = (from: number, to: number): number => {
    let refused = 0
    for (let client = from; client < to; client++) {
      if (client % 100 === 0) clock.advance(1)
      const permit = cap.acquire(`key ${client}`, { client: `client ${client}` }) as Permit | undefined
      if (permit) permit.release()
      else refused++
    }
    return refused
  }
  visit(0, 50_000)
  const before = usedBytes()
  const refused = visit(50_000, CLIENTS)
  const grownMiB = (usedBytes() - before) / MIB
  process.stdout.write(`${grownMiB.toFixed(2)} MiB more after ${CLIENTS} clients\n`)
  expect(refused).toBe(0)
  expect(grownMiB).toBeLessThan(4)
})

test('many requests that wait and leave need no memory afterwards', async () => {
  const clock = new FakeClock()
  const backend = prioritizedInflight({ queue: { max: 1_000_000, maxWaitMs: '1h' }, clock })
  const cap = createInflightLimiter({ limit: 1, backend, clock })
  await cap.acquire()
  const visit = async (requests: number): Promise<void> => {
    const left = Array.from({ length: requests }, () => new AbortController())
    const answers = left.map(({ signal }, client) => cap.acquire('', { client: `${client}`, signal }))
    expect(clock.pending).toBe(1)
    for (const one of left) one.abort()
    expect(new Set(await Promise.all(answers))).toEqual(new Set([undefined]))
  }
  await visit(1_000)
  const before = usedBytes()
  const began = performance.now()
  for (let round = 0; round < numberOfRuns(10); round++) await visit(10_000)
  const grownMiB = (usedBytes() - before) / MIB
  process.stdout.write(`${grownMiB.toFixed(2)} MiB more, ${Math.round(performance.now() - began)} ms\n`)
  expect([clock.pending, cap.count()]).toEqual([0, 1])
  expect(grownMiB).toBeLessThan(4)
})
