import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ownEnvironment } from '../packaging/command.ts'
import { root } from '../repository.ts'

const main = join(root, 'examples/decorators/dist/index.js')
let child: ChildProcess
let url: string

beforeAll(async () => {
  if (!existsSync(main)) throw new Error('examples/decorators is not built: npx turbo run build')
  child = spawn(process.execPath, [main], {
    env: { ...ownEnvironment(), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout as NodeJS.ReadableStream)
  const [line] = await Promise.race([once(lines, 'line'), once(child, 'exit')])
  url = /http:\/\/localhost:\d+/.exec(String(line))?.[0] as string
})

afterAll(async () => {
  child.kill('SIGKILL')
  await once(child, 'exit')
})

const statuses = async (asked: readonly Promise<Response>[]): Promise<number[]> =>
  (await Promise.all(asked)).map(({ status }) => status).sort()

test('the example allows listing reports five times in ten seconds', async () => {
  const asked = Array.from({ length: 6 }, () => fetch(`${url}/reports`))
  expect(await statuses(asked)).toEqual([200, 200, 200, 200, 200, 429])
})

test('the example builds two reports at once, and responds before the work is done', async () => {
  const build = (name: string): Promise<Response> => fetch(`${url}/reports/${name}`, { method: 'POST' })
  expect(await statuses([build('a'), build('b'), build('c')])).toEqual([202, 202, 503])
})

test('the example delays the fifth search by 200 ms, and denies no search', async () => {
  const requestedAt = performance.now()
  const asked = Array.from({ length: 5 }, () => fetch(`${url}/search?name=a`))
  expect(await statuses(asked)).toEqual(Array(5).fill(200))
  // a Node timer may fire a fraction of a millisecond early
  expect(performance.now() - requestedAt).toBeGreaterThan(198)
})
