import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { combinedLine, LOG_START } from '../../cli/log-lines.ts'
import { CommandFolder } from '../../cli/replay-run.ts'
import { sluice } from '../../cli/run-sluice.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const policies = folder.file('policies.yaml', 'version: 1\npolicies:\n  - { name: api, limit: 1, per: 1m }\n')
const invalid = folder.file('invalid.yaml', 'version: 1\npolicies:\n  - { name: api, limit: 1 }\n')
const listed = folder.file(
  'listed.yaml',
  'version: 1\npolicies:\n  - { name: api, limit: 1, per: 1m }\nlists: { block: { file: missing.txt } }\n',
)
const log = folder.file(
  'access.log',
  `${combinedLine({ timeMs: LOG_START, address: '192.0.2.1', request: 'GET / HTTP/1.1' })}\n`,
)
const directory = join(folder.path, 'directory')
mkdirSync(directory)
const unreadable = [join(folder.path, 'missing'), directory, join(log, 'below-a-file')]

/** Places of a file in the arguments of a command. */
const commands: Readonly<Record<string, (file: string) => readonly string[]>> = {
  check: (file) => ['check', file],
  'check, after a file that can be read': (file) => ['check', policies, file],
  'check --previous': (file) => ['check', '--previous', file, policies],
  'replay --policies': (file) => ['replay', '--policies', file, log],
  'the log of replay': (file) => ['replay', '--policies', policies, file],
  'the second log of replay': (file) => ['replay', '--policies', policies, log, file],
  'diff, before': (file) => ['diff', file, policies, '--log', log],
  'diff, after': (file) => ['diff', policies, file, '--log', log],
  'the log of diff': (file) => ['diff', policies, policies, '--log', file],
}

test.each(Object.entries(commands))('%s: a file that cannot be read is a usage error', async (_what, args) => {
  for (const file of unreadable) {
    const { exitCode, stdout, stderr } = await sluice(args(file))
    expect({ file, exitCode, stdout }).toEqual({ file, exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/ENOENT|EISDIR|ENOTDIR/)
    expect(stderr).not.toMatch(/^\s+at /m)
  }
})

test('a list that a policy file names, and a report that cannot be written, are usage errors', async () => {
  for (const args of [
    ['replay', '--policies', listed, log],
    ['diff', listed, policies, '--log', log],
    ['replay', '--policies', policies, '--html', directory, log],
  ]) {
    const { exitCode, stderr } = await sluice(args)
    expect({ args, exitCode }).toEqual({ args, exitCode: 2 })
    expect(stderr).not.toMatch(/^\s+at /m)
  }
})

test('a file with mistakes is a problem', async () => {
  for (const args of [
    ['check', invalid],
    ['replay', '--policies', invalid, log],
    ['diff', policies, invalid, '--log', log],
  ]) {
    expect({ args, exitCode: (await sluice(args)).exitCode }).toEqual({ args, exitCode: 1 })
  }
})
