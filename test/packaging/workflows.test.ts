import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { root } from '../repository.ts'

interface Workflow {
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly 'timeout-minutes'?: number
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } }
  readonly steps: readonly {
    readonly run?: string
    readonly uses?: string
    readonly with?: Readonly<Record<string, unknown>>
  }[]
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
const folder = '.github/workflows'

describe.each(readdirSync(join(root, folder)))('the workflow %s', (file) => {
  const { jobs } = parse(read(join(folder, file))) as Workflow

  test('runs scripts that exist', () => {
    const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run = '' }) => run.split(/&&|\n/)))
    const named = commands.flatMap((command) => /npm run (?:--\S+ )*([\w:]+)/.exec(command)?.[1] ?? [])
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })

  test('ends in any case', () => {
    const endless = Object.entries(jobs).filter(([, job]) => job['timeout-minutes'] === undefined)
    expect(endless.map(([name]) => name)).toEqual([])
  })
})

test('pull requests and main are checked on all supported lines of Node.js', () => {
  const { jobs } = parse(read(join(folder, 'checks.yml'))) as Workflow
  const [, lines = ''] = /supported = \[(.*)\]/.exec(read('tools/tests/test-matrix.mjs')) ?? []
  const supported = lines.split(', ').map((line) => Number(line.slice(1, -1)))
  expect([20, ...(jobs['newer-node'].strategy?.matrix.node ?? [])]).toEqual(supported)
})

test('the check for changesets has the history that it compares', () => {
  const { steps } = (parse(read(join(folder, 'checks.yml'))) as Workflow).jobs.changeset
  expect(steps.at(-1)?.run).toContain('npm run changeset:required')
  expect(steps[0]).toMatchObject({ uses: expect.stringContaining('actions/checkout@'), with: { 'fetch-depth': 0 } })
})

test.each(readdirSync(join(root, '.github/ISSUE_TEMPLATE')))('the form %s is YAML', (file) => {
  expect(parse(read(join('.github/ISSUE_TEMPLATE', file)))).toEqual(expect.any(Object))
})
