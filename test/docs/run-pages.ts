import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../repository.ts'
import { EMBEDDED_ARGS } from '../services/postgres/embedded-template.ts'
import type { PostgresServer } from '../services/postgres/postgres-server.ts'
import type { RedisServer } from '../services/redis/redis-server.ts'
import { pages, writeBlocks } from './blocks.ts'

/** The servers that blocks use. */
interface Servers {
  readonly redis: RedisServer
  readonly postgres: PostgresServer
}

const run = promisify(execFile)
const blocks = writeBlocks()
const runner = join(root, 'test/docs/run-block.mjs')

/** Returns the pages with blocks that run: those that need a newer Node than this one, and the others. */
export function runningPages(): readonly [newer: readonly string[], others: readonly string[]] {
  const hasSqlite = process.getBuiltinModule('node:sqlite' as never) !== undefined
  const isNewer = (page: string): boolean =>
    !hasSqlite && blocks.some((block) => block.page === page && /'node:sqlite'/.test(block.code))
  const running = pages.filter((page) => runnableOf(page).length > 0)
  return [running.filter(isNewer), running.filter((page) => !isNewer(page))]
}

/** Runs the blocks of pages in one process, and returns its output if it failed, or an empty string. */
export async function complaintsOfPages(
  names: readonly string[],
  { redis, postgres }: Servers,
  node = process.execPath,
): Promise<string> {
  const { NODE_OPTIONS: _ours, SLUICE_MODE: _mode, ...others } = process.env
  const env = { ...others, REDIS_PORT: String(redis.port), POSTGRES_URL: postgres.url, LIMITS_FILE: ':memory:' }
  const args = ['--conditions=@sluice/source', ...EMBEDDED_ARGS, runner, ...names.flatMap(runnableOf)]
  return run(node, args, { cwd: root, env, timeout: 110_000 }).then(
    () => '',
    (failure) => `${failure.stdout}${failure.stderr}${failure.killed ? 'it did not end by itself' : ''}`,
  )
}

/** Files of the runnable blocks of a page. */
function runnableOf(page: string): string[] {
  return blocks.filter((block) => block.page === page && block.runs).map(({ file }) => file)
}
