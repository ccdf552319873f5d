import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { PolicySource } from '@sluice/policies'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { eventually } from '../../services/eventually.ts'

/** A real place of documents, with its service. */
export interface SourceStage {
  /** Creates a source, as in another process. Its calls end within ten seconds of the clock. */
  source(clock: FakeClock): PolicySource
  /** Replaces the document. */
  write(text: string): Promise<void>
  /** Removes the document. */
  remove(): Promise<void>
  /** Stops the service. */
  down(): Promise<void>
  /** Starts the service again, with the document that was written last. */
  up(): Promise<void>
  stop(): Promise<void>
}

/** A valid document with a limit, so that documents differ. */
export const documentOf = (limit: number): string => `version: 1\npolicies: [{ name: api, limit: ${limit}, per: 1m }]\n`

const UNREADABLE = { code: 'SLUICE_POLICIES_UNREADABLE' }

/** Returns the outcome of a call, which ends at the latest when its time-out has passed on the clock. */
async function settled<T>(call: Promise<T>, clock: FakeClock): Promise<T> {
  let isPending = true
  const ended = (): void => {
    isPending = false
  }
  call.then(ended, ended)
  const passTime = async (): Promise<boolean> => {
    if (isPending) clock.advance(100)
    return !isPending
  }
  await eventually(passTime, { what: 'the end of a call' })
  return call
}

/** Claims about every source. The password `hunter2` must be part of the address of a service that has passwords. */
export function sourceContract(start: () => Promise<SourceStage>): void {
  let stage: SourceStage
  let limit = 0
  let clock = new FakeClock()
  /** Writes a document that was never written before. */
  const writeNext = async (): Promise<string> => {
    const text = documentOf(++limit)
    await stage.write(text)
    return text
  }

  beforeAll(async () => {
    stage = await start()
  })

  beforeEach(() => {
    clock = new FakeClock()
  })

  afterAll(() => stage.stop())

  test('the first read returns the document, and later reads undefined until it changes', async () => {
    const text = await writeNext()
    const source = stage.source(clock)
    expect(await source.read()).toBe(text)
    expect(await source.read()).toBeUndefined()
    const next = await writeNext()
    expect(await source.read()).toBe(next)
    expect(await source.read()).toBeUndefined()
  })

  test('each source finds changes for itself', async () => {
    const [some, other] = [stage.source(clock), stage.source(clock)]
    const text = await writeNext()
    expect(await some.read()).toBe(text)
    expect(await other.read()).toBe(text)
  })

  test('a change back to an earlier document is found', async () => {
    const source = stage.source(clock)
    const text = await writeNext()
    expect(await source.read()).toBe(text)
    const next = await writeNext()
    expect(await source.read()).toBe(next)
    await stage.write(text)
    expect(await source.read()).toBe(text)
  })

  test('a document written again without a change is not reported', async () => {
    const source = stage.source(clock)
    const text = await writeNext()
    await source.read()
    await stage.write(text)
    expect(await source.read()).toBeUndefined()
  })

  test('text outside ASCII arrives unchanged', async () => {
    const text = `# Grüße, 限流 🚦\n${await writeNext()}`
    await stage.write(text)
    expect(await stage.source(clock).read()).toBe(text)
  })

  test('a missing document rejects with the name of the source, and is found once it exists', async () => {
    await stage.remove()
    const source = stage.source(clock)
    const missing = await source.read().catch((error: unknown) => error)
    expect(missing).toMatchObject({ ...UNREADABLE, message: expect.stringContaining(source.name) })
    expect(String(missing)).not.toContain('hunter2')
    const text = await writeNext()
    expect(await source.read()).toBe(text)
  })

  test('a removed document rejects, and the same document is unchanged once it is back', async () => {
    const source = stage.source(clock)
    const text = await writeNext()
    await source.read()
    await stage.remove()
    await expect(source.read()).rejects.toMatchObject(UNREADABLE)
    await stage.write(text)
    expect(await source.read()).toBeUndefined()
    expect(await source.read()).toBeUndefined()
  })

  test('reads reject while the service is down, and then return what has changed', async () => {
    const source = stage.source(clock)
    await writeNext()
    await source.read()
    await stage.down()
    const failure = await settled(source.read(), clock).catch((error: unknown) => error)
    expect(failure).toMatchObject({ ...UNREADABLE, message: expect.stringContaining(source.name) })
    expect(String(failure)).not.toContain('hunter2')
    await stage.up()
    const works = (): Promise<boolean> =>
      settled(source.read(), clock).then(
        () => true,
        () => false,
      )
    await eventually(works, { what: 'a working service' })
    const text = await writeNext()
    expect(await source.read()).toBe(text)
  })

  test('overlapping reads end with the latest document', async () => {
    const random = seededRandom(7)
    const source = stage.source(clock)
    const seen: (string | undefined)[] = []
    const reads: Promise<unknown>[] = []
    let text = ''
    for (let round = 0; round < 30; round++) {
      text = await writeNext()
      for (let each = random.whole(4); each >= 0; each--) reads.push(source.read().then((read) => seen.push(read)))
    }
    await Promise.all(reads)
    const texts = seen.filter((read) => read !== undefined)
    expect(texts.at(-1)).toBe(text)
    expect(new Set(texts).size).toBe(texts.length)
  })

  test('a watch asks for a read at least once per interval, and leaves no timer when it stops', async () => {
    const source = stage.source(clock)
    await writeNext()
    await source.read()
    let asked = 0
    const stop = source.watch(() => asked++, { clock, intervalMs: 10_000 })
    for (const times of [1, 2, 3]) {
      await eventually(
        async () => {
          clock.advance(1_000)
          return asked >= times
        },
        { what: `read ${times}` },
      )
    }
    expect(clock.now()).toBeLessThanOrEqual(60_000)
    stop()
    stop()
    expect(clock.pending).toBe(0)
    const before = asked
    clock.advance(100_000)
    expect({ asked, pending: clock.pending }).toEqual({ asked: before, pending: 0 })
  })
}
