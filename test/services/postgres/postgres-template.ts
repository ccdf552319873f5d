import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryFolder } from '../memory-folder.ts'
import { guard } from '../processes/guardian.ts'
import { type User, unprivileged } from '../processes/unprivileged.ts'
import { postgresBinary, postgresVersion } from './postgres-binary.ts'

/** Creates the folder of a server, owned by the given user. */
export function folderFor(user: User): string {
  return ownedBy(user, memoryFolder('sluice-postgres-'))
}

function ownedBy({ uid, gid }: User, folder: string): string {
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
  return folder
}

/** Fills the folder of a new server: its data is in `data`. Copying takes a tenth of the time of initdb. */
export function copyTemplate(folder: string): void {
  const user = unprivileged()
  const template = madeTemplate(user)
  filling(folder, () => execFileSync('cp', ['-Rp', template, join(folder, 'data')], { ...user, stdio: 'pipe' }))
}

/** A partially filled folder is deleted when this process ends. */
function filling(folder: string, fill: () => void): void {
  const unguard = guard(process.pid, folder, ':')
  try {
    fill()
  } finally {
    unguard()
  }
}

/** Created once for all processes and for later runs. It may be deleted at any time. */
function madeTemplate(user: User): string {
  const path = join(tmpdir(), `sluice-postgres-template-${postgresVersion()}-${ownerOf(user)}`)
  if (!belongsTo(user, path)) make(user, path)
  return path
}

function make(user: User, path: string): void {
  // a folder is renamed only within its file system
  const draft = ownedBy(user, mkdtempSync(join(tmpdir(), 'sluice-postgres-')))
  try {
    filling(draft, () => initialise(user, join(draft, 'data')))
    renameSync(join(draft, 'data'), path)
  } catch (error) {
    // another process may have been faster
    if (!belongsTo(user, path)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function initialise(user: User, data: string): void {
  const args = ['--pgdata', data, '--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-locale']
  const env = { PATH: process.env.PATH, TZ: 'UTC' }
  execFileSync(postgresBinary('initdb'), [...args, '--no-sync'], {
    ...user,
    cwd: join(data, '..'),
    env,
    stdio: 'pipe',
  })
}

// initdb settings in the environment of a user are unknown
function belongsTo(user: User, path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === ownerOf(user)
}

function ownerOf({ uid }: User): number | undefined {
  return uid ?? process.getuid?.()
}
