import { createInsight, type InsightSnapshot } from '@sluice/insight'
import { FakeClock, numberOfRuns } from '@sluice/testkit'
import { API, decisionOf, requestOf } from '../observed.ts'

/** With `SLUICE_RUNS` of the environment, this part of them. */
const KEYS: number = numberOfRuns(1_000_000)
const ROUTES = 100_000
const POLICIES = 100
const CAPS = 100

interface Crowd {
  readonly grownBytes: number
  readonly snapshot: InsightSnapshot
}

/** Creates the largest possible load. Returns the memory that is held afterwards, and the snapshot. */
export function crowd(): Crowd {
  const policies = Array.from({ length: POLICIES }, (_, at) => decisionOf({ policy: { ...API, name: `policy ${at}` } }))
  const before = heldBytes()
  const clock = new FakeClock()
  const insight = createInsight({ clock, unique: { per: 'route' } })
  for (let key = 0; key < KEYS; key++) {
    insight.decided(`\ud800<script>${key} ${'\u4e2d'.repeat(40)}`, policies[key % POLICIES])
    if (key % 10_000 === 0) clock.advance(10_000)
  }
  for (let route = 0; route < ROUTES; route++) {
    const { request, end } = requestOf(`/<script>/${route}/${'x'.repeat(200)}`)
    insight.decided('key', policies[0], request)
    end()
    if (route % 1_000 === 0) clock.advance(1_000)
  }
  for (let cap = 0; cap < CAPS; cap++) insight.permitReleased('key', 1, { name: `cap ${cap}`, limit: 1 })
  const megabyte = '\udc00'.repeat(2 ** 20)
  insight.decided(megabyte, policies[0], requestOf(megabyte).request)
  insight.event('hookFailed', { hook: megabyte, error: new Error(megabyte) })
  clock.advance(2_000)
  const snapshot = insight.snapshot()
  const grownBytes = heldBytes() - before
  void insight.close()
  return { grownBytes, snapshot }
}

function heldBytes(): number {
  gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Nanoseconds that a request with one policy costs, by how often keys repeat. */
export function costs(): { ofFewKeys: number; ofManyKeys: number; withResponse: number } {
  return { ofFewKeys: nanoseconds(1_000), ofManyKeys: nanoseconds(1_000_000), withResponse: responseNanoseconds() }
}

function nanoseconds(keys: number): number {
  const insight = createInsight({})
  const decision = decisionOf()
  const names = Array.from({ length: keys }, (_, key) => `198.51.${key >> 8}.${key & 255}`)
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5; run++) {
    const start = process.hrtime.bigint()
    for (let request = 0; request < 1_000_000; request++) insight.decided(names[request % keys], decision)
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1_000_000)
  }
  void insight.close()
  return best
}

function responseNanoseconds(): number {
  const insight = createInsight({})
  const decision = decisionOf()
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 8; run++) {
    const requests = Array.from({ length: 50_000 }, () => requestOf('/users/:id'))
    const start = process.hrtime.bigint()
    for (const { request } of requests) insight.decided('192.0.2.1', decision, request)
    for (const { end } of requests) end()
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 50_000)
  }
  void insight.close()
  return best
}
