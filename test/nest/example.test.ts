import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { root } from '../repository.ts'

describe('examples/nest', () => {
  const main = join(root, 'examples/nest/dist/index.js')
  let child: ChildProcess
  let url: string

  beforeEach(async () => {
    if (!existsSync(main)) throw new Error('examples/nest is not built: npx turbo run build')
    child = spawn(process.execPath, [main], { env: { ...process.env, PORT: '0', NODE_OPTIONS: '' } })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text))
    const ended = once(child, 'exit')
    while (!output.includes('Listening on')) {
      await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), ended])
      if (child.exitCode !== null) throw new Error(output)
    }
    url = output.match(/http:\/\/localhost:\d+/)?.[0] as string
  })

  afterEach(() => {
    child.kill('SIGKILL')
  })

  async function statuses(times: number, path: string, method = 'GET'): Promise<number[]> {
    const all: number[] = []
    for (let asked = 0; asked < times; asked++) {
      const response = await fetch(`${url}${path}`, { method })
      await response.arrayBuffer()
      all.push(response.status)
    }
    return all
  }

  test('limits an address across all routes except health, and lists its routes', async () => {
    const listed = (await (await fetch(url)).json()) as Record<string, string>
    expect(Object.keys(listed).map((route) => route.split('?')[0])).toEqual([
      'GET /',
      'GET /health',
      'POST /login',
      'GET /reports',
    ])
    expect(await statuses(20, '/')).toEqual([...Array(19).fill(200), 429])
    expect(await statuses(2, '/health')).toEqual([200, 200])
  })

  test('limits logins by a named policy of the module', async () => {
    expect(await statuses(1, '/login?password=sesame', 'POST')).toEqual([200])
    expect(await statuses(5, '/login?password=guess', 'POST')).toEqual([401, 401, 401, 401, 429])
    const denied = await fetch(`${url}/login`, { method: 'POST' })
    expect(denied.headers.get('content-type')).toBe('application/problem+json')
    expect(await denied.json()).toMatchObject({ status: 429, 'violated-policies': ['login'] })
  })

  test('writes two reports at once, and a third one after them', async () => {
    const asked = [1, 2, 3].map(async () => (await fetch(`${url}/reports`)).status)
    expect((await Promise.all(asked)).sort()).toEqual([200, 200, 429])
    expect(await statuses(1, '/reports')).toEqual([200])
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('ends by %s', async (signal) => {
    await statuses(1, '/')
    const ended = once(child, 'exit')
    child.kill(signal)
    expect(await ended).toEqual([null, signal])
  })
})
