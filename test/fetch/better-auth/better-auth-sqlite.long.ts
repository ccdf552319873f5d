import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { sqliteNodeBinary } from '../../services/sqlite-node-binary.ts'

type AuthServer = typeof import('./children/auth-server.ts')

const folder = mkdtempSync(join(tmpdir(), 'sluice-better-auth-'))
let servers: ChildNode<AuthServer>[]

beforeAll(() => {
  const execPath = sqliteNodeBinary()
  servers = Array.from({ length: 4 }, () => startNode('fetch/better-auth/children/auth-server.ts', { execPath }))
}, 310_000)
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(folder, { recursive: true, force: true })
})

test.each(['rules', 'limiter', 'wrap'] as const)(
  '1,000 sign-ins at once check 3 passwords with a limit of 3 in SQLite, counted by %s',
  async (by) => {
    const [server] = servers
    await server.call('open', { by, sqlite: join(folder, `${by}.db`) })
    const { statuses, checked } = await server.call('send', 1_000)
    expect({ statuses, checked }).toEqual({ statuses: { 401: 3, 429: 997 }, checked: 3 })
  },
)

test('four processes with one SQLite file check 3 passwords together', async () => {
  const sqlite = join(folder, 'shared.db')
  // one after the other, because each creates the table
  for (const server of servers) await server.call('open', { by: 'rules', sqlite })
  const seen = await Promise.all(servers.map((server) => server.call('send', 250)))
  expect(seen.reduce((sum, { checked }) => sum + checked, 0)).toBe(3)
})
