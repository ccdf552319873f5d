import { appendFile, mkdir, rename, rm, symlink, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { fileSource, type PolicySource } from '@sluice/policies'
import { eachSeed, FakeClock, type SeededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'

jest.setTimeout(120_000)

const SEEDS = 5
const CHANGES = 12
/** An interval that never ends during a test: only events of the system report changes. */
const NEVER_MS = 1e9

let folder = ''
let path = ''

beforeEach(() => {
  folder = memoryFolder('sluice-file-')
  path = join(folder, 'policies.yaml')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

/** A text of which each proper part is invalid. */
function versionOf(number: number, random: SeededRandom): string {
  const lines = Array.from({ length: random.whole(40) }, () => `- ${random.next()}\n`)
  return `begin ${number}\n${lines.join('')}end ${number}\n`
}

function isValid(text: string): boolean {
  return /^begin (\d+)\n(- .*\n)*end \1\n$/.test(text)
}

/** Reads a source as a limiter does: one read at a time, and once more after a change that came in between. */
class Reader {
  /** Last valid text. */
  valid = ''
  reads = 0
  readonly stop: () => void
  readonly #source: PolicySource
  #isReading = false
  #isStale = false

  constructor(source: PolicySource, clock: FakeClock, intervalMs: number) {
    this.#source = source
    this.stop = source.watch(() => void this.#read(), { clock, intervalMs })
  }

  async #read(): Promise<void> {
    this.#isStale = true
    if (this.#isReading) return
    this.#isReading = true
    while (this.#isStale) {
      this.#isStale = false
      this.reads++
      const text = await this.#source.read().catch(() => undefined)
      if (text !== undefined && isValid(text)) this.valid = text
    }
    this.#isReading = false
  }
}

/** Lets some time pass: events of the system arrive, and timers of the watch become due. */
async function passTime(random: SeededRandom, clock: FakeClock): Promise<void> {
  for (let turns = random.whole(4); turns > 0; turns--) {
    clock.advance(random.whole(40))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function piecesOf(text: string, random: SeededRandom): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const length = 1 + random.whole(random.pick([3, 40, 400]))
    pieces.push(text.slice(at, at + length))
    at += length
  }
  return pieces
}

type Write = (target: string, text: string, pass: () => Promise<void>, random: SeededRandom) => Promise<void>

const writeInPlace: Write = async (target, text, pass, random) => {
  await writeFile(target, '')
  for (const piece of piecesOf(text, random)) {
    await pass()
    await appendFile(target, piece)
  }
}

const writeAndRename: Write = async (target, text, pass, random) => {
  await writeInPlace(`${target}~`, text, pass, random)
  await pass()
  await rename(`${target}~`, target)
}

const deleteAndCreate: Write = async (target, text, pass, random) => {
  await unlink(target).catch(() => {})
  await pass()
  await writeInPlace(target, text, pass, random)
}

/** Like some editors: the old file is moved away first. */
const backUpAndCreate: Write = async (target, text, pass, random) => {
  await rename(target, `${target}.bak`).catch(() => {})
  await pass()
  await writeInPlace(target, text, pass, random)
}

const writeWithRubbish: Write = async (target, text, pass) => {
  await writeFile(target, `${text}rubbish`)
  await pass()
  await truncate(target, Buffer.byteLength(text))
}

const writes = [writeInPlace, writeAndRename, deleteAndCreate, backUpAndCreate, writeWithRubbish]

async function arrives(reader: Reader, text: string, clock: FakeClock): Promise<void> {
  await eventually(
    async () => {
      clock.advance(60)
      return reader.valid === text
    },
    { what: JSON.stringify(text.slice(0, 20)), timeoutMs: 60_000 },
  )
}

describe.each([
  ['events alone', NEVER_MS, (target: string) => target],
  // a folder without events, as network file systems have: only the link is in the watched folder
  ['looks at each interval alone', 1_000, (target: string) => join(target, '..', 'elsewhere', 'policies.yaml')],
])('with %s', (_how, intervalMs, written) => {
  test('the last valid content always arrives, however the file is written', async () => {
    await eachSeed(SEEDS, async (random, seed) => {
      const own = join(folder, String(seed))
      const watched = join(own, 'policies.yaml')
      const target = written(watched)
      await mkdir(join(own, 'elsewhere'), { recursive: true })
      if (target !== watched) await symlink(target, watched)
      const clock = new FakeClock()
      const reader = new Reader(fileSource(watched), clock, intervalMs)
      const pass = (): Promise<void> => passTime(random, clock)
      for (let change = 1; change <= CHANGES; change++) {
        const text = versionOf(change, random)
        await random.pick(writes)(target, text, pass, random)
        // otherwise the next change follows at once
        if (random.whole(3) > 0) await arrives(reader, text, clock)
        if (change === CHANGES) await arrives(reader, text, clock)
      }
      reader.stop()
      expect(clock.pending).toBe(0)
    })
  })
})

describe('a watch', () => {
  /** Watches with events alone until the first content has arrived. */
  async function started(text: string, intervalMs = NEVER_MS): Promise<{ reader: Reader; clock: FakeClock }> {
    const clock = new FakeClock()
    const reader = new Reader(fileSource(path), clock, intervalMs)
    await arrives(reader, text, clock)
    return { reader, clock }
  }

  test('finds the new version of a Kubernetes ConfigMap mount', async () => {
    const mount = async (version: number): Promise<void> => {
      const data = `..2026_11_27_${version}`
      await mkdir(join(folder, data))
      await writeFile(join(folder, data, 'policies.yaml'), `begin ${version}\nend ${version}\n`)
      await symlink(data, join(folder, '..data_tmp'))
      await rename(join(folder, '..data_tmp'), join(folder, '..data'))
      await rm(join(folder, `..2026_11_27_${version - 1}`), { recursive: true, force: true })
    }
    await mount(1)
    await symlink(join('..data', 'policies.yaml'), path)
    const { reader, clock } = await started('begin 1\nend 1\n')
    for (const version of [2, 3, 4]) {
      await mount(version)
      await arrives(reader, `begin ${version}\nend ${version}\n`, clock)
    }
    reader.stop()
  })

  test('finds a change made between the first read and the start of the watch', async () => {
    await writeFile(path, 'begin 1\nend 1\n')
    const source = fileSource(path)
    expect(source.readSync()).toBe('begin 1\nend 1\n')
    await writeFile(path, 'begin 2\nend 2\n')
    const clock = new FakeClock()
    const reader = new Reader(source, clock, NEVER_MS)
    await arrives(reader, 'begin 2\nend 2\n', clock)
    reader.stop()
  })

  test('goes on in a folder that was deleted and created again', async () => {
    await writeFile(path, 'begin 1\nend 1\n')
    const { reader, clock } = await started('begin 1\nend 1\n', 1_000)
    for (const version of [2, 3]) {
      await rm(folder, { recursive: true })
      await mkdir(folder)
      await writeFile(path, `begin ${version}\nend ${version}\n`)
      await arrives(reader, `begin ${version}\nend ${version}\n`, clock)
    }
    reader.stop()
  })

  test('begins in a folder that does not exist yet', async () => {
    await rm(folder, { recursive: true })
    const clock = new FakeClock()
    const reader = new Reader(fileSource(path), clock, 1_000)
    clock.advance(2_000)
    await mkdir(folder)
    await writeFile(path, 'begin 1\nend 1\n')
    await arrives(reader, 'begin 1\nend 1\n', clock)
    reader.stop()
  })

  test('reads a file only after it has not changed for 50 ms', async () => {
    await writeFile(path, 'begin 1\nend 1\n')
    const { reader, clock } = await started('begin 1\nend 1\n')
    const before = reader.reads
    await writeFile(path, 'begin 2\n')
    for (let piece = 0; piece < 5; piece++) {
      await appendFile(path, '- 0\n')
      clock.advance(49)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(reader.reads).toBe(before)
    await appendFile(path, 'end 2\n')
    await arrives(reader, `begin 2\n${'- 0\n'.repeat(5)}end 2\n`, clock)
    reader.stop()
  })

  test('reads a file that changes all the time, too', async () => {
    await writeFile(path, 'begin 1\nend 1\n')
    const { reader, clock } = await started('begin 1\nend 1\n')
    const before = reader.reads
    let size = 0
    await eventually(
      async () => {
        await writeFile(path, ' '.repeat(++size))
        clock.advance(60)
        return reader.reads > before
      },
      { what: 'a read' },
    )
    reader.stop()
  })
})
