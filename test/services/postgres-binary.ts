import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installPackage, installsPackages } from './debian-package.ts'
import { locatedBinary } from './located-binary.ts'

type PostgresProgram = 'initdb' | 'postgres' | 'pg_basebackup'

const OLDEST = 15
const DEBIAN = '/usr/lib/postgresql'
/** What Debian's package asks before it makes a cluster of its own. */
const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.conf'

/**
 * A program of PostgreSQL: the one on PATH, else in the folder that POSTGRES_BIN names, else the newest of 15 and later
 * where Debian puts it. Throws one clear line.
 */
export function postgresBinary(program: PostgresProgram): string {
  const found = located(program)
  if (found !== undefined) return found
  throw new Error(
    `${program} is not there: put it on PATH, name its folder in POSTGRES_BIN, or run the tests on Debian as root`,
  )
}

/** As `15.4`. Throws where it is older than 15. */
export function postgresVersion(): string {
  const text = execFileSync(postgresBinary('postgres'), ['--version'], { encoding: 'utf8' })
  const version = / (\d+[^ \n]*)/.exec(text)?.[1] ?? ''
  if (Number.parseInt(version, 10) >= OLDEST) return version
  throw new Error(`PostgreSQL ${OLDEST} is needed, ${postgresBinary('postgres')} is ${text.trim()}`)
}

/** Installs Debian's package where there is no PostgreSQL, and neither makes a cluster nor starts a service. */
export function preparePostgres(): void {
  const missing = located('initdb') === undefined || located('postgres') === undefined
  if (missing && installsPackages()) {
    refuseCluster()
    installPackage('postgresql')
  }
  postgresBinary('initdb')
  postgresVersion()
}

function located(program: PostgresProgram): string | undefined {
  const folder = process.env.POSTGRES_BIN
  return locatedBinary(program, [folder === undefined ? '' : join(folder, program), ...ofDebian(program)])
}

function ofDebian(program: PostgresProgram): string[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number) : []
  return versions
    .filter((version) => version >= OLDEST)
    .sort((a, b) => b - a)
    .map((version) => join(DEBIAN, String(version), 'bin', program))
}

/** Settings that are there are those of a machine that had the package before, and stay as they are. */
function refuseCluster(): void {
  if (existsSync(CLUSTER_SETTINGS)) return
  mkdirSync(dirname(CLUSTER_SETTINGS), { recursive: true })
  writeFileSync(CLUSTER_SETTINGS, 'create_main_cluster = false\n')
}
