import { appendFileSync, readdirSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type ListFile, type LoadedList, listFile } from '@sluice/policies'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { NaiveList, randomAddress, randomRange } from './naive-list.ts'

jest.setTimeout(120_000)

let folder = ''
let path = ''

beforeEach(() => {
  folder = memoryFolder('sluice-list-')
  path = join(folder, 'blocklist.txt')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** Both ways to load a list. */
const ways: readonly [name: string, load: (file: ListFile) => Promise<LoadedList | undefined>][] = [
  ['load', (file) => file.load()],
  ['loadSync', async (file) => file.loadSync()],
]

describe.each(ways)('%s', (_name, load) => {
  const loaded = async (): Promise<LoadedList> => (await load(listFile(path))) as LoadedList

  test('reads entries, and ignores empty lines, comments and spaces', async () => {
    const text = [
      '# blocked clients',
      '192.0.2.1',
      '  198.51.100.0/24   # a network',
      '',
      '203.0.113.0/24 ; SBL123',
      '; another comment',
      '\talice',
      'user#1',
      'bob ann',
      '   ',
      '2001:db8::/32',
    ].join('\n')
    writeFileSync(path, text)
    const { list, problems } = await loaded()
    expect(problems).toEqual([])
    expect(list.size).toBe(7)
    for (const address of ['192.0.2.1', '198.51.100.255', '203.0.113.0', '2001:db8::7']) {
      expect(list.has(address, undefined)).toBe(true)
    }
    for (const key of ['alice', 'user#1', 'bob ann']) expect(list.has(undefined, key)).toBe(true)
    expect(list.has(undefined, '')).toBe(false)
  })

  test.each(['\n', '\r\n'])('reads lines that end in %j, after a byte order mark', async (end) => {
    writeFileSync(path, `\ufeff192.0.2.1${end}alice${end}`)
    const { list, problems } = await loaded()
    expect(problems).toEqual([])
    expect([list.size, list.has('192.0.2.1', undefined), list.has(undefined, 'alice')]).toEqual([2, true, true])
  })

  test('reads a file that is compressed with gzip', async () => {
    const keys = Array.from({ length: 50_000 }, (_, index) => `key-${index}`)
    writeFileSync(path, gzipSync(keys.join('\n')))
    const { list } = await loaded()
    expect(list.size).toBe(50_000)
    expect(list.has(undefined, 'key-49999')).toBe(true)
  })

  test('reports invalid lines with their numbers, and loads the others', async () => {
    writeFileSync(path, '# head\nalice\n10.0.0.0/40\r\n\n300.0.0.1\nbob\n0.0.0.0/0\n')
    const { list, problems, invalid, warnings } = await loaded()
    expect(problems.map(({ line, message }) => `${line}: ${message}`)).toEqual([
      "3: expected a prefix length from 0 to 32, received '40'",
      expect.stringMatching(/^5: expected an address such as .*, received '300\.0\.0\.1'$/),
    ])
    expect(warnings.map(({ line }) => line)).toEqual([7])
    expect({ invalid, size: list.size }).toEqual({ invalid: 2, size: 3 })
  })

  test('reports lines that are not text, and a file without lines', async () => {
    writeFileSync(
      path,
      Buffer.concat([Buffer.from('alice\n'), Buffer.from('bob', 'utf16le'), Buffer.from([10, 0xff, 10])]),
    )
    expect((await loaded()).problems.map(({ line }) => line)).toEqual([2, 3])
    writeFileSync(path, Buffer.alloc(3_000_000, 'x'))
    expect((await loaded()).problems.map(({ line }) => line)).toEqual([1])
  })

  test('an empty file is an empty list', async () => {
    writeFileSync(path, '')
    expect((await loaded()).list.size).toBe(0)
  })

  test('a missing file, a folder and a damaged archive reject with the name of the file', async () => {
    const refused = (of: string) => load(listFile(of)).catch((error: unknown) => error)
    for (const at of [path, folder]) {
      expect(await refused(at)).toMatchObject({
        code: 'SLUICE_POLICIES_UNREADABLE',
        message: expect.stringContaining(at),
      })
    }
    writeFileSync(path, gzipSync('alice\n'.repeat(1_000)))
    truncateSync(path, 20)
    expect(await refused(path)).toMatchObject({ code: 'SLUICE_POLICIES_UNREADABLE' })
    const open = readdirSync('/proc/self/fd').length
    for (let attempt = 0; attempt < 20; attempt++) await refused(path)
    await eventually(async () => readdirSync('/proc/self/fd').length <= open + 2, { what: 'closed files' })
  })

  test('agrees with a naive list for entries across pieces of the file', async () => {
    await eachSeed(3, async (random) => {
      const entries = Array.from({ length: 30_000 }, () =>
        random.whole(3) === 0 ? `kéy-${random.whole(1e6)}` : randomRange(random),
      ).filter((entry) => !/[/][0-9]$/.test(entry))
      writeFileSync(path, entries.join(random.pick(['\n', '\r\n'])))
      const [{ list, problems }, naive] = [await loaded(), new NaiveList(entries)]
      expect(problems).toEqual([])
      expect(list.size).toBe(entries.length)
      for (let ask = 0; ask < 100; ask++) {
        const address = randomAddress(random)
        expect([address, list.has(address, undefined)]).toEqual([address, naive.has(address, undefined)])
      }
      for (const entry of entries) if (entry.startsWith('k') && !list.has(undefined, entry)) throw new Error(entry)
    })
  })
})

describe('a reload', () => {
  test('returns undefined while the file is unchanged', async () => {
    writeFileSync(path, 'alice\n')
    const file = listFile(path)
    // a file that was changed just now might change again without another time
    await eventually(async () => (await file.load()) === undefined, { what: 'an unchanged file' })
    expect(await file.load()).toBeUndefined()
    appendFileSync(path, 'bob\n')
    expect((await file.load())?.list.size).toBe(2)
  })

  test('finds a change of the same length, also at the same time as the change before', async () => {
    const file = listFile(path)
    for (let round = 0; round < 200; round++) {
      const key = `key-${round % 10}`
      writeFileSync(path, key)
      const { list } = (await file.load()) as LoadedList
      expect(list.has(undefined, key)).toBe(true)
    }
  })

  test('leaves the list that is in use as it is', async () => {
    writeFileSync(path, 'alice\n')
    const file = listFile(path)
    const { list } = file.loadSync()
    writeFileSync(path, 'bob\n')
    await file.load()
    expect([list.has(undefined, 'alice'), list.has(undefined, 'bob')]).toEqual([true, false])
  })

  test('follows a watch', async () => {
    writeFileSync(path, 'alice\n')
    const clock = new FakeClock()
    const file = listFile(path)
    let { list } = file.loadSync()
    const stop = file.watch(
      () =>
        void file.load().then((loaded) => {
          if (loaded) list = loaded.list
        }),
      { clock, intervalMs: 1e9 },
    )
    writeFileSync(`${path}.new`, 'bob\n')
    renameSync(`${path}.new`, path)
    await eventually(
      async () => {
        clock.advance(60)
        return list.has(undefined, 'bob')
      },
      { what: 'the new list' },
    )
    expect(list.has(undefined, 'alice')).toBe(false)
    stop()
    expect(clock.pending).toBe(0)
  })
})
