import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { run } from './command.ts'

test('api/ contains the public types of every package as they are built', async () => {
  const check = join(root, 'tools/release/api-reports.mjs')
  expect(await run(process.execPath, [check, '--check'], root)).toMatchObject({ code: 0, output: '' })
})
