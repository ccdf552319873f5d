import { afterEach, expect, test } from '@jest/globals'
import { until } from '@sluice/testkit'
import { type ChildNode, startNode } from './child-node.ts'

type Echo = typeof import('../children/echo.ts')

const started: ChildNode<Echo>[] = []

function echo(): ChildNode<Echo> {
  const child = startNode<Echo>('services/children/echo.ts')
  started.push(child)
  return child
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.stop()))
})

test('calls the functions of a program in its own process', async () => {
  const child = echo()
  expect(await Promise.all([child.call('sum', 1, 2), child.call('sum', 3, Number.NaN)])).toEqual([3, Number.NaN])
  expect(await child.call('synchronous')).toBe(true)
  expect(child.pid).not.toBe(process.pid)
})

test('reports what the program threw and what it wrote', async () => {
  const child = echo()
  await expect(child.call('fail', 'no luck')).rejects.toThrow(/TypeError: no luck/)
  await until(() => child.output.includes('about to fail'))
})

test('a call rejects when the process ends', async () => {
  const child = echo()
  const never = child.call('never')
  await expect(child.call('leave', 7)).rejects.toThrow('has ended')
  await expect(never).rejects.toThrow('has ended')
  expect(child.exitCode).toBe(7)
  await expect(child.call('sum', 1, 2)).rejects.toThrow('has ended')
})

test('does not answer while it is paused', async () => {
  const child = echo()
  await child.call('sum', 1, 2)
  child.pause()
  let answered = false
  const late = child.call('sum', 2, 3).then((value) => {
    answered = true
    return value
  })
  const other = echo()
  await other.call('sum', 1, 2)
  expect(answered).toBe(false)
  child.resume()
  expect(await late).toBe(5)
})
