import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unprivileged } from '../processes/unprivileged.ts'
import { postgresBinary } from './postgres-binary.ts'

/** Fills the folder of a new server with a copy of a running server, which the new server then follows. */
export async function copyPrimary(folder: string, primaryPort: number): Promise<void> {
  const primary = ['--host', '127.0.0.1', '--port', String(primaryPort), '--username', 'postgres']
  const how = ['--pgdata', join(folder, 'data'), '--write-recovery-conf', '--checkpoint', 'fast', '--no-sync']
  await promisify(execFile)(postgresBinary('pg_basebackup'), [...primary, ...how], { ...unprivileged(), cwd: folder })
}
