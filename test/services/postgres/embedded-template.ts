import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../repository.ts'
import { guard } from '../processes/guardian.ts'

// PGlite is an ES module that jest cannot load
const CREATE = `
  import { PGlite } from '@electric-sql/pglite'
  const database = await PGlite.create(process.argv[1])
  await database.close()`

/** Node arguments for a process that opens an embedded ledger: optimised WebAssembly costs more time than it saves. */
export const EMBEDDED_ARGS: readonly string[] = ['--liftoff-only']

/**
 * Fills the folder of a new embedded ledger with an empty database. The first start of PGlite then takes a quarter of
 * the time.
 */
export function copyEmbeddedTemplate(folder: string): void {
  cpSync(madeTemplate(), join(folder, 'pglite'), { recursive: true })
}

/** Created once for all processes and for later runs. It may be deleted at any time. */
function madeTemplate(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8'))
  const path = join(tmpdir(), `sluice-pglite-template-${version}-${process.getuid?.()}`)
  if (!existsSync(path)) make(path)
  return path
}

function make(path: string): void {
  const draft = mkdtempSync(join(tmpdir(), 'sluice-pglite-'))
  const unguard = guard(process.pid, draft, ':')
  try {
    const args = ['--input-type=module', '--eval', CREATE, join(draft, 'data')]
    execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' })
    renameSync(join(draft, 'data'), path)
  } catch (error) {
    // another process may have been faster
    if (!existsSync(path)) throw error
  } finally {
    unguard()
    rmSync(draft, { recursive: true, force: true })
  }
}
