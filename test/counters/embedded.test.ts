import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryFolder } from '../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'

type Embedded = ChildNode<typeof import('./children/embedded.ts')>

const IN_USE = 'SLUICE_FOLDER_IN_USE'

let folder = ''
const children: Embedded[] = []

beforeEach(() => {
  folder = memoryFolder('sluice-embedded-')
})
afterEach(async () => {
  for (const child of children.splice(0)) await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

function startChild(): Embedded {
  const child: Embedded = startNode('counters/children/embedded.ts', { nodeArgs: EMBEDDED_ARGS })
  children.push(child)
  return child
}

describe('counters in a folder', () => {
  test('fulfil the counter contract, and the claims of every ledger that stores sketches', async () => {
    const child = startChild()
    expect(await child.call('open', folder)).toBeUndefined()
    const [counters, sketches] = [await child.call('contract'), await child.call('sketches')]
    expect([...counters, ...sketches].filter(([, failure]) => failure !== undefined)).toEqual([])
    expect(counters.length).toBeGreaterThanOrEqual(20)
    expect(sketches.length).toBeGreaterThanOrEqual(12)
  })

  test('belong to one process at a time, and to the next process after it has ended in any way', async () => {
    copyEmbeddedTemplate(folder)
    const [one, other] = [startChild(), startChild()]
    expect(await one.call('open', folder)).toBeUndefined()
    expect(await one.call('increment', 'a', 5)).toBe(5)
    expect(await other.call('open', folder)).toBe(IN_USE)
    expect(await one.call('open', folder)).toBe(IN_USE)
    await one.stop()
    expect(await other.call('open', folder)).toBeUndefined()
    expect(await other.call('increment', 'a', 2)).toBe(7)
    await other.call('close')
    const last = startChild()
    expect(await last.call('open', folder)).toBeUndefined()
    expect(await last.call('increment', 'a', 1)).toBe(8)
  })

  test('are opened by exactly one of many processes that find the lock of an ended process at the same time', async () => {
    copyEmbeddedTemplate(folder)
    const dead = startChild()
    expect(await dead.call('open', folder)).toBeUndefined()
    await dead.stop()
    const answers = await Promise.all(
      [startChild(), startChild(), startChild()].map((child) => child.call('open', folder)),
    )
    expect(answers.sort()).toEqual([IN_USE, IN_USE, undefined])
  })
})
