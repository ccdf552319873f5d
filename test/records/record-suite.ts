import type * as jest from '@jest/globals'
import type { RecordStore } from '@sluice/limiter-core'

const HOUR_MS = 3_600_000

/** The test runner: jest, or a child process for code that jest cannot load. */
export type RecordRunner = Pick<typeof jest, 'expect'> & {
  readonly test: (name: string, run: () => Promise<void>) => void
}

/** The suite that every store of records must pass. `open` returns the same store each time it gets the same name. */
export function recordSuite({ expect, test }: RecordRunner, open: (name: string) => RecordStore): void {
  let names = 0
  const fresh = (): string => `records ${++names}`
  const soon = (): number => Date.now() + HOUR_MS

  test('returns what was stored, also to a store that is opened later', async () => {
    const name = fresh()
    expect(await open(name).all()).toEqual([])
    await open(name).put('one', 'a text', soon())
    await open(name).put('two', '{"with":"{braces}, \\u0000 and \u00e9\u{1f6b0}"}', soon())
    expect((await open(name).all()).toSorted()).toEqual(['a text', '{"with":"{braces}, \\u0000 and \u00e9\u{1f6b0}"}'])
  })

  test('replaces the text of an id, and its end', async () => {
    const store = open(fresh())
    await store.put('one', 'first', soon())
    await store.put('one', 'second', soon())
    expect(await store.all()).toEqual(['second'])
    await store.put('one', 'third', Date.now() - 1)
    expect(await store.all()).toEqual([])
    await store.put('one', 'fourth', soon())
    expect(await store.all()).toEqual(['fourth'])
  })

  test('keeps names apart', async () => {
    const [one, other] = [open(fresh()), open(fresh())]
    await one.put('id', 'of one', soon())
    await other.put('id', 'of other', soon())
    expect([await one.all(), await other.all()]).toEqual([['of one'], ['of other']])
  })

  test('does not return a record that has ended, and returns the others', async () => {
    const store = open(fresh())
    await store.put('ended', 'ended', Date.now() - 1)
    await store.put('one', 'one', soon())
    await store.put('past', 'past', Date.now() - HOUR_MS)
    expect(await store.all()).toEqual(['one'])
  })

  test('stores many records at once, and long texts', async () => {
    const store = open(fresh())
    const long = 'x'.repeat(60_000)
    await Promise.all(
      Array.from({ length: 1_500 }, (_, id) => store.put(`id ${id}`, id === 0 ? long : `text ${id}`, soon())),
    )
    const texts = await store.all()
    expect([texts.length, new Set(texts).size, texts.includes(long)]).toEqual([1_500, 1_500, true])
  })
}
