import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { type EntryList, type LoadedList, listFile } from '@sluice/policies'
import { baseSeed, seededRandom } from '@sluice/testkit'
import { memoryFolder } from '../../services/memory-folder.ts'

const ENTRIES = 5_000_000
const ASKS = 1_000_000
const folder = memoryFolder('sluice-lists-')

afterAll(() => rm(folder, { recursive: true }))

const random = seededRandom(baseSeed())
const v4Text = (bits: number): string => `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`
const scattered = (n: number): number => Math.imul(n, 0x9e3779b1) >>> 0

/** Entry number n of a kind; each number has another entry. */
const kinds: Readonly<Record<string, (n: number) => string>> = {
  'IPv4 addresses': (n) => v4Text(scattered(n)),
  'IPv4 ranges /24': (n) => `${v4Text((scattered(n) & 0xffffff00) >>> 0)}/24`,
  'IPv6 addresses': (n) =>
    `2001:db8:${(n >>> 16).toString(16)}:${(n & 0xffff).toString(16)}::${scattered(n).toString(16).slice(0, 4)}`,
  'IPv6 ranges /64': (n) =>
    `2${(n >>> 20).toString(16).padStart(3, '0')}:${((n >>> 4) & 0xffff).toString(16)}:0:${(n & 15).toString(16)}::/64`,
  keys: (n) => `user-${scattered(n).toString(36).padStart(7, '0')}-${n % 10}`,
}

describe.each(Object.keys(kinds))('five million %s', (kind) => {
  const entryOf = kinds[kind]
  const isKey = kind === 'keys'
  const firstOf = (entry: string): string => entry.split('/')[0]
  const has = (list: EntryList, entry: string): boolean =>
    isKey ? list.has(undefined, entry) : list.has(firstOf(entry), undefined)

  test('are loaded in short steps, and found', async () => {
    const path = join(folder, 'list.txt')
    const file = createWriteStream(path)
    for (let n = 0; n < ENTRIES; n += 10_000) {
      const lines = Array.from({ length: 10_000 }, (_, index) => `${entryOf(n + index)}\n`).join('')
      if (!file.write(lines)) await once(file, 'drain')
    }
    file.end()
    await once(file, 'close')

    // CPU time instead of time, because other processes may use the same cores
    const cpuMs = (): number => process.cpuUsage().user / 1_000
    const peak = { longestMs: 0, done: false, rss: 0 }
    const before = process.memoryUsage().rss
    const watching = (async () => {
      for (let at = cpuMs(); !peak.done; ) {
        await nextTurn()
        const now = cpuMs()
        peak.longestMs = Math.max(peak.longestMs, now - at)
        peak.rss = Math.max(peak.rss, process.memoryUsage().rss)
        at = now
      }
    })()
    const startedAt = cpuMs()
    const { list, invalid } = (await listFile(path).load()) as LoadedList
    const loadMs = cpuMs() - startedAt
    peak.done = true
    await watching
    expect({ invalid, size: list.size }).toEqual({ invalid: 0, size: ENTRIES })

    for (let n = 0; n < ENTRIES; n += 7) if (!has(list, entryOf(n))) throw new Error(`${entryOf(n)} is not found`)
    const [present, absent] = [0, ENTRIES].map((from) =>
      Array.from({ length: ASKS }, () => firstOf(entryOf(from + random.whole(ENTRIES)))),
    )
    const nsOf = (asked: readonly string[]): number => {
      const from = cpuMs()
      let found = 0
      for (const entry of asked) if (isKey ? list.has(undefined, entry) : list.has(entry, undefined)) found++
      const ns = ((cpuMs() - from) * 1e6) / asked.length
      expect(found).toBe(asked === present ? asked.length : kind.includes('/24') ? found : 0)
      return Math.round(ns)
    }
    nsOf(absent)
    const figures = {
      loadMs: Math.round(loadMs),
      longestStepMs: Math.round(peak.longestMs),
      bytesPerEntry: (list.bytes / ENTRIES).toFixed(1),
      peakMiB: Math.round((peak.rss - before) / 2 ** 20),
      presentNs: nsOf(present),
      absentNs: nsOf(absent),
    }
    process.stdout.write(`${kind}: ${JSON.stringify(figures)}\n`)
    expect(peak.longestMs).toBeLessThan(250)
  }, 600_000)
})
