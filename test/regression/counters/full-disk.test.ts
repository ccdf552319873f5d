import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { eventually } from '../../services/eventually.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { limitFiles } from '../../services/processes/file-limit.ts'
import { unprivileged } from '../../services/processes/unprivileged.ts'

const UNAVAILABLE = 'SLUICE_COUNTERS_UNAVAILABLE'
/** Durable increments that are tried while the disk is full. */
const TRIES = 2

type Child = ChildNode<typeof import('../../counters/children/full-disk.ts')>

let folder = ''
let child: Child

const start = (): Child => startNode('counters/children/full-disk.ts', { nodeArgs: EMBEDDED_ARGS })

beforeEach(() => {
  folder = memoryFolder('sluice-full-')
  child = start()
})

afterEach(async () => {
  await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a ledger in a folder whose disk is full', () => {
  test('answers by the failure rule, and counts all acknowledged units when there is room, and after a restart', async () => {
    copyEmbeddedTemplate(folder)
    expect(await child.call('open', folder)).toBeUndefined()
    expect(await child.call('increment', 'durable', true)).toBe(1)
    expect(await child.call('increment', 'plain', false)).toBe(1)
    expect(await child.call('take', 'deny', 'a')).toEqual({ allowed: true, source: 'quotas' })
    expect(await child.call('take', 'allow', 'a')).toEqual({ allowed: true, source: 'quotas' })

    limitFiles(child.pid, 0)
    let plain = 1
    for (let tries = 0; tries < TRIES; tries++) {
      expect(await child.call('increment', 'durable', true)).toBe(UNAVAILABLE)
      expect(await child.call('increment', 'plain', false)).toBe(++plain)
      expect(await child.call('take', 'deny', 'a')).toEqual({ allowed: false, source: 'deny' })
      expect(await child.call('take', 'allow', 'a')).toEqual({ allowed: true, source: 'allow' })
    }

    limitFiles(child.pid)
    let durable: number | string = UNAVAILABLE
    const counts = async (): Promise<boolean> => {
      durable = await child.call('increment', 'durable', true)
      return durable !== UNAVAILABLE
    }
    await eventually(counts, { what: 'a durable increment', timeoutMs: 20_000 })
    const taken = async (): Promise<boolean> => (await child.call('take', 'deny', 'a')).source === 'quotas'
    await eventually(taken, { what: 'a decision of the database', timeoutMs: 20_000 })
    expect(await child.call('total', 'plain')).toBe(plain)
    // increments without an answer may be counted
    expect(durable).toBeGreaterThanOrEqual(2)
    expect(durable).toBeLessThanOrEqual(3 + TRIES)
    const { errors, reports } = await child.call('outcome')
    expect(errors).toEqual([])
    expect(reports.join('\n')).toContain(`SLUICE_BACKEND_FAILED: backend 'quotas' failed: ${UNAVAILABLE}`)
    expect(reports.join('\n')).toContain('has stopped: error: could not write to log file')
    await child.call('close')

    const next = start()
    try {
      expect(await next.call('open', folder)).toBeUndefined()
      expect(await next.call('total', 'plain')).toBe(plain)
      expect(await next.call('total', 'durable')).toBe(durable)
    } finally {
      await next.stop()
    }
  }, 120_000)

  test('rejects its first start, and leaves a folder that can be opened when there is room', async () => {
    limitFiles(child.pid, 100_000)
    const message = await child.call('open', folder)
    expect(message).toContain(UNAVAILABLE)
    expect(message).toContain('check that the folder is writable and its disk has room')
    expect(readdirSync(folder)).toEqual([])
    limitFiles(child.pid)
    expect(await child.call('open', folder)).toBeUndefined()
    expect(await child.call('increment', 'a', true)).toBe(1)
  }, 120_000)

  test('rejects its start if not even the lock has room', async () => {
    limitFiles(child.pid, 0)
    expect(await child.call('open', folder)).toMatch(new RegExp(`^${UNAVAILABLE}: .*cannot lock`))
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a folder in which the process may not write', () => {
  test.each(['existing', 'missing'])('is rejected if it is %s, with the reason', async (kind) => {
    const parent = join(folder, 'parent')
    mkdirSync(parent)
    chmodSync(folder, 0o755)
    chmodSync(parent, 0o555)
    await child.call('becomeUser', unprivileged())
    const message = await child.call('open', kind === 'existing' ? parent : join(parent, 'missing'))
    expect(message).toMatch(/^SLUICE_BAD_OPTION: embeddedLedger: folder: expected the path of a writable folder/)
    expect(message).toContain('EACCES')
    expect((await child.call('outcome')).errors).toEqual([])
  })
})
