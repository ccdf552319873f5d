import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryFolder } from '../../services/memory-folder.ts'
import { copyEmbeddedTemplate, EMBEDDED_ARGS } from '../../services/postgres/embedded-template.ts'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'

let folder: string
let child: ChildNode<typeof import('../../counters/children/opening.ts')>

beforeEach(() => {
  folder = memoryFolder('sluice-opening-')
  copyEmbeddedTemplate(folder)
  child = startNode('counters/children/opening.ts', { nodeArgs: EMBEDDED_ARGS })
})

afterEach(async () => {
  await child.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the opening of a folder', () => {
  test('closes the database if it fails, so that the next process is alone', async () => {
    const later = 'update sluice.counter_version set version = 99, reads_from = 99'
    expect(await child.call('openAfter', folder, later)).toEqual({ code: 'SLUICE_COUNTER_TABLES', open: 0 })
  })

  test('succeeds if nothing can be written, as on a full disk', async () => {
    const full = `create function sluice.fail_full() returns trigger language plpgsql
as $$ begin raise 'could not extend file' using errcode = '53100'; end $$;
create trigger fail_full before insert or update on sluice.quota_accounts for each row execute function sluice.fail_full()`
    expect(await child.call('openAfter', folder, full)).toEqual({ code: undefined, open: 1 })
  })

  test('leaves no rows', async () => {
    expect(await child.call('rowsAfterOpening', folder)).toBe(0)
  })
})
