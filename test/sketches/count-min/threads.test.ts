import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from '@jest/globals'
import { type CellBits, CountMin } from '@sluice/sketches'
import { root } from '../../repository.ts'
import type { Hammering } from './children/hammer.ts'
import { count } from './children/thread-events.ts'

const seed = 'a seed that all threads know'
const program = join(import.meta.dirname, 'children/hammer.ts')
const hook = join(root, 'test/services/processes/typescript-hook.cjs')

/** Runs two threads at the same time over one buffer, until both have finished. */
async function hammered(buffer: SharedArrayBuffer): Promise<void> {
  const ready = new SharedArrayBuffer(4)
  const workers = [0, 1].map((thread) => {
    const workerData: Hammering = { buffer, seed, ready, threads: 2, thread }
    return new Worker(`require(${JSON.stringify(hook)}); require(${JSON.stringify(program)})`, {
      eval: true,
      execArgv: ['--conditions=@sluice/source'],
      workerData,
    })
  })
  const done = workers.map(async (worker) => {
    expect(await once(worker, 'message')).toEqual(['done'])
    await worker.terminate()
  })
  await Promise.all(done)
}

describe('two threads that share a sketch', () => {
  test.each<[CellBits, number]>([
    [32, 2048],
    [16, 64],
    [8, 64],
  ])('lose no counts, and no cell of %i bits overflows', async (cells, width) => {
    const options = { width, depth: 4, cells, seed }
    const shared = new CountMin({ ...options, shared: true })
    await hammered(shared.buffer)
    const alone = new CountMin(options)
    for (const thread of [0, 1]) count(alone, thread)
    expect(shared.total).toBe(alone.total)
    expect(shared.toBytes()).toEqual(alone.toBytes())
  })

  test('observe the counts of each other', () => {
    const mine = new CountMin({ width: 64, depth: 4, seed, shared: true })
    const theirs = CountMin.attach(mine.buffer, { seed })
    theirs.add('red', 5)
    expect([mine.estimate('red'), mine.total]).toEqual([5, 5])
    expect(mine.remove('red', 2)).toBe(3)
    expect([theirs.estimate('red'), theirs.total]).toEqual([3, 3])
    theirs.clear()
    expect([mine.estimate('red'), mine.total]).toEqual([0, 0])
  })
})
