// With `workClass: 'route'` in front of a router, another spelling of a path was another class: a client could have its
// requests counted as ones that are not late.

import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { AdaptiveLimit } from '@sluice/limiter-core'
import { inflightLimit } from '@sluice/node-http'

const classes: (string | undefined)[] = []
const limit: AdaptiveLimit = {
  ...{ min: 1, max: 9, initial: 9 },
  open: () => ({
    limitOf: () => 9,
    begin: (_key: string, acquired?: { workClass?: string | undefined }) => {
      classes.push(acquired?.workClass)
      return () => {}
    },
  }),
}
const cap = inflightLimit({ limit, workClass: 'route' })
const server = createServer((req, res) => cap(req, res, () => void res.end()))
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function classOf(path: string, method = 'GET'): Promise<string | undefined> {
  const { port } = server.address() as AddressInfo
  await new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false })
    sent.once('error', reject).once('response', (response) => response.resume().once('end', resolve))
    sent.end()
  })
  return classes.pop()
}

test.each([
  '/files/new?x=1',
  '/FILES/New',
  '//files///new/',
  '/./files/././././././././././././new/.',
  `${'/'.repeat(300)}files/new`,
  '/%66iles/ne%77;x=1',
  'http://other.example/files/new',
])('the path %j has the class of /files/new', async (path) => {
  expect(await classOf(path)).toBe('GET files/new')
  expect(await classOf(path, 'HEAD')).toBe('GET files/new')
})

test('segments that cannot be decoded and long ones are ids', async () => {
  expect(await classOf('/files/%')).toBe('GET files/:')
  expect(await classOf(`/files/${'%61'.repeat(33)}`)).toBe('GET files/:')
  expect(await classOf(`/files/${'%61'.repeat(32)}`)).toBe(`GET files/${'a'.repeat(32)}`)
})
