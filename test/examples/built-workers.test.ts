import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { startWorker } from '../runtimes/workerd.ts'

test('the built Worker limits an address in workerd', async () => {
  const text = readFileSync(join(root, 'examples/workers/dist/worker.mjs'), 'utf8')
  const worker = await startWorker({ text, objects: { sql: true } })
  try {
    const ask = (address: string) => fetch(`${worker.url}/a`, { headers: { 'cf-connecting-ip': address } })
    expect(await (await ask('192.0.2.1')).json()).toEqual({ path: '/a', left: 19 })
    for (let i = 0; i < 19; i++) await (await ask('192.0.2.1')).text()
    expect((await ask('192.0.2.1')).status).toBe(429)
    expect((await ask('192.0.2.2')).status).toBe(200)
    const logIn = () => fetch(`${worker.url}/login`, { headers: { 'cf-connecting-ip': '192.0.2.3' } })
    for (let left = 4; left >= 0; left--) expect(await (await logIn()).json()).toEqual({ path: '/login', left })
    expect((await logIn()).status).toBe(429)
  } finally {
    await worker.stop()
  }
})
