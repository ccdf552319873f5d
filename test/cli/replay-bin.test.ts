import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { CommandFolder } from './replay-run.ts'
import { sluice } from './run-sluice.ts'

const folder = new CommandFolder()
let log: string
let policies: string
let looser: string

beforeAll(() => {
  const line = (second: number) => `203.0.113.7 - - [10/Oct/2026:13:55:${second} +0000] "GET /a HTTP/1.1" 200 5\n`
  log = folder.file('access.log', [10, 11, 12].map(line).join(''))
  const text = 'version: 1\npolicies:\n  - { name: a, limit: 2, per: 1m }\n'
  policies = folder.file('policies.yaml', text)
  looser = folder.file('looser.yaml', text.replace('2', '3'))
})
afterAll(() => folder.remove())

test('sluice replay reports what the policies would have denied', async () => {
  const { exitCode, stdout } = await sluice(['replay', '--policies', policies, '--json', log])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ total: { requests: 3, denied: 1 } })
})

test('sluice replay accepts several routes and attributes before the logs', async () => {
  const extra = ['--route', 'GET /a', '--route', 'GET /b', '--attribute', 'principal=user', '--attribute', 'team=group']
  const { exitCode, stdout } = await sluice(['replay', '--policies', policies, '--json', ...extra, log])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ total: { requests: 3, denied: 1 } })
})

test('sluice diff reports the requests that only one file denies', async () => {
  const { exitCode, stdout } = await sluice(['diff', policies, looser, '--json', '--log', log])
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ requests: 3 })
})

test('sluice replay exits with 2 if a log cannot be opened', async () => {
  const { exitCode, stdout, stderr } = await sluice(['replay', '--policies', policies, `${log}x`])
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toContain('access.logx')
})
