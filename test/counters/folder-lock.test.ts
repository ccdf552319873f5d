import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { systemClock } from '@sluice/limiter-core/backend'
import { FolderLock } from '../../packages/counters/src/postgres/folder-lock.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-folder-lock-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the lock of a folder', () => {
  test.each([
    ['empty', ''],
    ['cut off', '{'],
    ['of another host', JSON.stringify({ pid: 2 ** 22 - 1, host: '', started: '1', nonce: 'n' })],
  ])('is taken over if it is %s and was not touched for a minute', async (_, text) => {
    const path = join(folder, 'sluice.lock')
    writeFileSync(path, text)
    utimesSync(path, 0, 0)
    const lock = await FolderLock.take(folder, systemClock)
    await expect(FolderLock.take(folder, systemClock)).rejects.toMatchObject({ code: 'SLUICE_FOLDER_IN_USE' })
    await lock.release()
    await (await FolderLock.take(folder, systemClock)).release()
  })

  test('is kept by another host that still refreshes it', async () => {
    writeFileSync(join(folder, 'sluice.lock'), JSON.stringify({ pid: 1, host: 'elsewhere', started: '1', nonce: 'n' }))
    await expect(FolderLock.take(folder, systemClock)).rejects.toMatchObject({ code: 'SLUICE_FOLDER_IN_USE' })
  })
})
