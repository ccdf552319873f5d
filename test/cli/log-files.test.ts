import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { LONGEST_LINE } from '../../packages/cli/src/log/line-splitter.ts'
import type { LogEntry } from '../../packages/cli/src/log/log-entry.ts'
import { LogFiles, type LogFilesOptions, type LogSummary } from '../../packages/cli/src/log/log-files.ts'
import { ReorderBuffer } from '../../packages/cli/src/log/reorder-buffer.ts'
import { combinedLine, LOG_START } from './log-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, contents: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, contents)
  return path
}

interface Read {
  readonly summary: LogSummary
  readonly entries: readonly LogEntry[]
  /** Seconds after the start of the log. */
  readonly seconds: readonly number[]
}

async function read(names: readonly string[], options?: LogFilesOptions): Promise<Read> {
  const entries: LogEntry[] = []
  const summary = await new LogFiles(names, options).read((entry) => entries.push(entry))
  return { summary, entries, seconds: entries.map(({ timeMs }) => (timeMs - LOG_START) / 1000) }
}

const at = (second: number, address?: string): string =>
  combinedLine({ timeMs: LOG_START + second * 1000, ...(address && { address }) })
const lines = (...seconds: readonly number[]): string => seconds.map((second) => `${at(second)}\n`).join('')

describe('log files', () => {
  test('are read plain, compressed, and from the standard input', async () => {
    const text = lines(0, 1, 2)
    const plain = await read([file('plain.log', text)])
    const compressed = await read([file('access.log.2.gz', gzipSync(text))])
    const stdin = await read(['-'], { stdin: Readable.from([Buffer.from(text)]) })
    const compressedStdin = await read(['-'], { stdin: Readable.from([gzipSync(text)]) })
    for (const { seconds, summary } of [plain, compressed, stdin, compressedStdin]) {
      expect(seconds).toEqual([0, 1, 2])
      expect(summary).toMatchObject({ lines: 3, malformed: { count: 0 }, files: [{ lines: 3, isUnfinished: false }] })
    }
  })

  test('may be compressed in several parts', async () => {
    const { seconds } = await read([file('parts.gz', Buffer.concat([gzipSync(lines(0)), gzipSync(lines(1))]))])
    expect(seconds).toEqual([0, 1])
  })

  test('are read in the order of their times, whatever the order of their names', async () => {
    const newest = file('order.log', lines(20, 21))
    const middle = file('order.log.1', lines(10, 15))
    const oldest = file('order.log.2.gz', gzipSync(lines(0, 5)))
    expect((await read([newest, middle, oldest])).seconds).toEqual([0, 5, 10, 15, 20, 21])
  })

  test('of several servers are merged by time', async () => {
    const one = file('one.log', lines(0, 3, 300, 302))
    const two = file('two.log', lines(1, 2, 301, 400))
    const empty = file('empty.log', '')
    expect((await read([one, two, empty])).seconds).toEqual([0, 1, 2, 3, 300, 301, 302, 400])
  })

  test('are split at chunks of any size', async () => {
    const text = Buffer.from(`${at(0)}\r\n\n${combinedLine({ timeMs: LOG_START + 1000, agent: 'é €' })}\n${at(2)}`)
    for (const size of [1, 2, 3, 7, 64, 1000]) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
        text.subarray(index * size, (index + 1) * size),
      )
      const { seconds, entries, summary } = await read(['-'], { stdin: Readable.from(chunks) })
      expect(seconds).toEqual([0, 1, 2])
      expect(entries[0].field('user_agent')).toBe('Mozilla/5.0 (X11; Linux x86_64)')
      expect(entries[1].field('user_agent')).toBe('é €')
      expect(summary.files).toEqual([{ name: '-', lines: 4, isUnfinished: true }])
    }
  })

  test('report lines that cannot be read, with their place and start', async () => {
    const path = file('bad.log', `${at(0)}\nnonsense ${'x'.repeat(500)}\n${at(1)}\n{"time":\n`)
    const { seconds, summary } = await read([path])
    expect(seconds).toEqual([0, 1])
    expect(summary.malformed.count).toBe(2)
    expect(summary.malformed.samples).toEqual([
      { file: path, line: 2, reason: "expected ' ' after $ident", text: `nonsense ${'x'.repeat(191)}` },
      { file: path, line: 4, reason: 'expected valid JSON', text: '{"time":' },
    ])
  })

  test('keep five samples of bad lines, however many there are', async () => {
    const { summary } = await read([file('worse.log', 'bad\n'.repeat(1000))])
    expect(summary.malformed.count).toBe(1000)
    expect(summary.malformed.samples).toHaveLength(5)
  })

  test('skip lines that are too long, and read the lines after them', async () => {
    const long = 'x'.repeat(LONGEST_LINE + 1)
    const text = `${at(0)}\n${long}\n${at(1)}\n${long.repeat(20)}\n${at(2)}\n`
    for (const size of [1 << 10, 1 << 16, 1 << 22]) {
      const bytes = Buffer.from(text)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      )
      const { seconds, summary } = await read(['-'], { stdin: Readable.from(chunks) })
      expect(seconds).toEqual([0, 1, 2])
      expect(summary.malformed.samples.map(({ line, reason }) => [line, reason])).toEqual([
        [2, 'expected at most 64 KiB'],
        [4, 'expected at most 64 KiB'],
      ])
    }
  })

  test('that end in the middle of a line are read up to there', async () => {
    const text = lines(0, 1, 2)
    const cut = await read([file('cut.log', text.slice(0, -140))])
    expect(cut.summary.files[0].isUnfinished).toBe(true)
    expect(cut.seconds.slice(0, 2)).toEqual([0, 1])
    const whole = gzipSync(lines(...Array.from({ length: 5000 }, (_, second) => second)))
    const cutGzip = await read([file('cut.gz', whole.subarray(0, whole.length >> 1))])
    expect(cutGzip.summary.files[0].isUnfinished).toBe(true)
    expect(cutGzip.seconds.length).toBeGreaterThan(1000)
    expect(cutGzip.seconds).toEqual(cutGzip.seconds.map((_, second) => second))
  })

  test('with corrupt gzip data are read up to there, and the problem is reported', async () => {
    const corrupt = gzipSync(lines(0, 1, 2))
    // the first block of the data has a type that does not exist
    corrupt[10] = 0x07
    const { summary } = await read([file('corrupt.gz', corrupt), file('good.log', lines(5))])
    expect(summary.files[0].problem).toEqual(expect.any(String))
    expect(summary.files[1]).toMatchObject({ lines: 1, isUnfinished: false })
  })

  test('that do not exist are reported with the code of a bad option', async () => {
    await expect(read([join(folder, 'missing.log')])).rejects.toMatchObject({
      code: 'SLUICE_BAD_OPTION',
      message: expect.stringContaining('log: expected a readable file, received Error: ENOENT'),
    })
    await expect(read([folder])).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })

  test('report how much was read', async () => {
    const text = lines(0, 1)
    const reported: number[][] = []
    const path = file('progress.log', text)
    const logs = new LogFiles([path], { progress: (bytes, count) => reported.push([bytes, count]) })
    await logs.read(() => {})
    expect(logs.totalBytes).toBe(text.length)
    expect(reported).toEqual([[text.length, 2]])
    expect(new LogFiles([path, '-']).totalBytes).toBeUndefined()
  })
})

describe('lines with a wrong time', () => {
  const day = 86_400
  const timesOf = async (...seconds: readonly number[]): Promise<[readonly number[], number, readonly number[]]> => {
    const { seconds: times, summary } = await read([file('times.log', lines(...seconds))])
    return [times, summary.late.count, summary.malformed.samples.map(({ line }) => line)]
  }

  test('are rejected if they are single, at any place', async () => {
    expect(await timesOf(0, 1, 3000 * day, 2, 3)).toEqual([[0, 1, 2, 3], 0, [3]])
    expect(await timesOf(3000 * day, 1, 2)).toEqual([[1, 2], 0, [1]])
    expect(await timesOf(0, 900 * day, 1, 800 * day, 2)).toEqual([[0, 1, 2], 0, [2, 4]])
  })

  test('are accepted if the next line confirms them, or if they are the last', async () => {
    expect(await timesOf(0, 5 * day, 5 * day + 1)).toEqual([[0, 5 * day, 5 * day + 1], 0, []])
    expect(await timesOf(0, 5 * day, 10 * day)).toEqual([[0, 5 * day, 10 * day], 0, []])
    expect(await timesOf(0, 5 * day)).toEqual([[0, 5 * day], 0, []])
    expect(await timesOf(7)).toEqual([[7], 0, []])
  })

  test('count at the time of the request before them if they are in the past', async () => {
    const [times, late, bad] = await timesOf(20 * day, 20 * day + 1, 0, 20 * day + 2)
    expect([times.length, late, bad]).toEqual([4, 1, []])
  })
})

describe('requests that are out of order', () => {
  test('are sorted within a minute, in the order of the log if their times are equal', async () => {
    const path = file(
      'shuffled.log',
      [at(43, '10.0.0.1'), at(47), at(12), at(43, '10.0.0.2'), at(100), at(41)].join('\n'),
    )
    const { seconds, entries, summary } = await read([path])
    expect(seconds).toEqual([12, 41, 43, 43, 47, 100])
    expect(entries.slice(2, 4).map((entry) => entry.field('address'))).toEqual(['10.0.0.1', '10.0.0.2'])
    expect(summary.late).toEqual({ count: 0, latestByMs: 0 })
  })

  test('are counted if they come more than a minute late, and keep their place', () => {
    const buffer = new ReorderBuffer()
    const seen: number[] = []
    const each = ({ timeMs }: { timeMs: number }): void => void seen.push(timeMs / 1000)
    const entry = (second: number): LogEntry => ({ timeMs: second * 1000, field: () => undefined })
    buffer.push([entry(1000)], each)
    buffer.push([entry(1100)], each)
    buffer.push([entry(1020), entry(1050)], each)
    buffer.end(each)
    expect(seen).toEqual([1000, 1020, 1050, 1100])
    expect([buffer.late, buffer.latestByMs]).toEqual([1, 20_000])
  })

  test('are held as long as the disorder of the log requires', async () => {
    const held = (disorder: number): { readonly most: number; readonly late: number } => {
      const buffer = new ReorderBuffer()
      let passed = 0
      let most = 0
      const random = seededRandom(1)
      for (let count = 1; count <= 60_000; count++) {
        const timeMs = 5_000_000 + count * 10 - Math.floor(random.next() * disorder)
        buffer.push([{ timeMs, field: () => undefined }], () => passed++)
        if (count > 30_000) most = Math.max(most, count - passed)
      }
      return { most, late: buffer.late }
    }
    // 100 requests a second
    expect(held(0).most).toBeLessThanOrEqual(200)
    expect(held(10_000).most).toBeGreaterThan(1000)
    expect(held(10_000)).toMatchObject({ most: expect.any(Number), late: 0 })
    expect(held(59_000).late).toBe(0)
  })

  test('are held in a bounded number', () => {
    const buffer = new ReorderBuffer(10)
    let passed = 0
    const held: number[] = []
    for (let count = 1; count <= 1000; count++) {
      buffer.push([{ timeMs: 5000 + Math.floor(count / 100), field: () => undefined }], () => passed++)
      held.push(count - passed)
    }
    expect(Math.max(...held)).toBeLessThanOrEqual(10)
    expect(buffer.late).toBeGreaterThan(0)
  })
})
