import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { endedAfterEach } from '../services/for-tests.ts'
import { GatewayProcess } from './gateway-process.ts'

describe('the built gateway', () => {
  const started = endedAfterEach<GatewayProcess>(({ child }) => child.kill('SIGKILL'))
  const occupying = endedAfterEach<Server>((server) => server.close())
  const start = (port: number): GatewayProcess => {
    started.push(new GatewayProcess(port))
    return started[started.length - 1]
  }

  test('serves every framework, and prints the URLs', async () => {
    const { urls } = await start(0).listening()
    expect(Object.keys(urls)).toEqual(['Express', 'Koa', 'Fastify'])
    const asked = Object.values(urls).map(async (url) => (await fetch(`${url}/search`)).json())
    expect(await Promise.all(asked)).toEqual(Array(3).fill({ results: 10 }))
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'exits with code 0 within a second of %s, even with open connections and slow requests',
    async (signal) => {
      const { child, ended, urls } = await start(0).listening()
      const busy = Object.values(urls).map(async (url) => {
        await (await fetch(url)).text()
        const slow = (): Promise<unknown> => fetch(`${url}/slow`).catch(() => 'cut off')
        // two requests hold both permits: once the third is answered, they are running
        await Promise.race([slow(), slow(), slow()])
      })
      await Promise.all(busy)
      const signalledAt = performance.now()
      child.kill(signal)
      expect(await ended).toEqual([0, null])
      expect(performance.now() - signalledAt).toBeLessThan(1_000)
    },
  )

  test('prints in one line which of its ports is taken, and exits with code 1', async () => {
    const port = await freePortBeforeATakenOne()
    const gateway = start(port)
    expect(await gateway.ended).toEqual([1, null])
    expect(gateway.output).toBe(`Port ${port + 1} is taken: set PORT to one that is free, with the 2 that follow it.\n`)
  })

  test('prints commands to paste that use its routes and servers', async () => {
    const { output, urls } = await start(0).listening()
    const lines = output.split('\n').filter((line) => line.includes('curl '))
    expect(lines).toHaveLength(7)
    for (const path of ['/login', '/v1', '/search', '/chat', '/slow']) {
      expect(lines.some((line) => line.includes(`${urls.Express}${path}`))).toBe(true)
    }
    for (const url of Object.values(urls)) expect(lines[0]).toContain(url)
  })

  test('counts an address across all routes, as the last printed line says', async () => {
    const { urls } = await start(0).listening()
    const statusOf = async (path: string): Promise<number> => {
      const response = await fetch(urls.Express + path)
      await response.text()
      return response.status
    }
    for (let asked = 0; asked < 28; asked++) await statusOf(asked % 2 ? '/chat?words=1' : '/search')
    const statuses: number[] = []
    for (let asked = 0; asked < 120; asked++) statuses.push(await statusOf('/'))
    const passed = statuses.filter((status) => status === 200).length
    // on a slow machine part of the window has passed since the first requests
    expect(passed).toBeGreaterThanOrEqual(72)
    expect(passed).toBeLessThan(95)
    expect(statuses.filter((status) => status === 429)).toHaveLength(120 - passed)
  })

  async function freePortBeforeATakenOne(): Promise<number> {
    for (;;) {
      const free = createServer()
      await once(free.listen(0), 'listening')
      const { port } = free.address() as AddressInfo
      const next = createServer()
      const taken = await once(next.listen(port + 1), 'listening').then(
        () => true,
        () => false,
      )
      free.close()
      await once(free, 'close')
      if (!taken) continue
      occupying.push(next)
      return port
    }
  }
})
