import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { eachSeed, type SeededRandom } from '@sluice/testkit'
import { lineParser } from '../../packages/cli/src/log/line-parser.ts'
import { LogFiles } from '../../packages/cli/src/log/log-files.ts'
import { combinedLine, LOG_START } from './log-lines.ts'

const FORMATS = ['auto', 'json', 'combined', '$remote_addr [$time_local] "$request" "$http_x_a" $status']
const PIECES = [
  ...['"', '\\', '[', ']', ' ', '-', '\n', '\r', '\0', '\x1b[31m', '{', '}', ':', ',', '\\x', '\\u0000', '\ufeff'],
  ...[
    '17/May/2026:10:00:00 +0000',
    '::1',
    'GET / HTTP/1.1',
    '200',
    'null',
    '"time"',
    '1e999',
    '__proto__',
    'é',
    '\ud800',
  ],
]

function mutated(random: SeededRandom, line: string): string {
  let text = line
  for (let edits = random.whole(6); edits >= 0; edits--) {
    const at = random.whole(text.length + 1)
    const removed = random.whole(10)
    text = text.slice(0, at) + (random.next() < 0.7 ? random.pick(PIECES) : '') + text.slice(at + removed)
  }
  return text
}

const GOOD = [
  combinedLine({ timeMs: LOG_START, agent: 'a \\"b\\" \\x22' }),
  '::1 [17/May/2026:10:00:00 +0000] "GET /a?b HTTP/1.1" "k\\"" 200',
  JSON.stringify({ time: LOG_START, request: { method: 'GET', uri: '/a', headers: { 'X-A': ['b'] } }, status: 200 }),
]
const FIELDS = ['address', 'method', 'path', 'status', 'user_agent', 'header:x-a', 'request.method', 'constructor', '']

describe('parsers of log lines', () => {
  test('return a request with a valid time, or a reason, for every text', async () => {
    await eachSeed(2000, (random) => {
      const line = mutated(random, random.pick(GOOD))
      for (const format of FORMATS) {
        const entry = lineParser(format)(line)
        if (typeof entry === 'string') {
          expect(entry).toMatch(/^expected /)
          continue
        }
        expect(Number.isFinite(new Date(entry.timeMs).getTime())).toBe(true)
        for (const name of FIELDS)
          expect(['string', 'number', 'boolean', 'undefined']).toContain(typeof entry.field(name))
      }
    })
  })

  test('read the good lines between bad bytes, at any size of chunks', async () => {
    await eachSeed(200, async (random) => {
      const parts: Buffer[] = []
      let good = 0
      for (let count = random.whole(20); count >= 0; count--) {
        if (random.next() < 0.5) {
          parts.push(Buffer.from(`${GOOD[0]}\n`))
          good++
          continue
        }
        const bytes = Buffer.from(Array.from({ length: random.whole(200) }, () => random.whole(256)))
        parts.push(bytes.map((byte) => (byte === 10 ? 11 : byte)) as Buffer, Buffer.from('\n'))
      }
      const all = Buffer.concat(parts)
      // the first bytes of gzip would be a log of another kind
      if (all[0] === 0x1f) all[0] = 0x20
      const size = 1 + random.whole(300)
      const chunks = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.subarray(at * size, (at + 1) * size),
      )
      let seen = 0
      const { malformed } = await new LogFiles(['-'], { stdin: Readable.from(chunks) }).read(() => seen++)
      expect(seen).toBe(good)
      expect(malformed.count).toBeLessThanOrEqual(parts.length)
    })
  })
})
