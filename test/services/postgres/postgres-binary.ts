import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installPackage, installsPackages } from '../debian-package.ts'
import { locatedBinary } from '../located-binary.ts'

type PostgresProgram = 'initdb' | 'postgres' | 'pg_basebackup'

const OLDEST = 15
const DEBIAN = '/usr/lib/postgresql'
/** Configuration that the Debian package reads before it creates a cluster. */
const CLUSTER_SETTINGS = '/etc/postgresql-common/createcluster.conf'

/**
 * A program of PostgreSQL: the one on PATH, otherwise in the folder named by POSTGRES_BIN, otherwise the newest version
 * from 15 in the folder used by Debian. Throws a one-line error if there is none.
 */
export function postgresBinary(program: PostgresProgram): string {
  const found = located(program)
  if (found !== undefined) return found
  throw new Error(
    `${program} is not there: put it on PATH, name its folder in POSTGRES_BIN, or run the tests on Debian as root`,
  )
}

/** Version such as `15.4`. Throws if it is older than 15. */
export function postgresVersion(): string {
  const text = execFileSync(postgresBinary('postgres'), ['--version'], { encoding: 'utf8' })
  const version = / (\d+[^ \n]*)/.exec(text)?.[1] ?? ''
  if (Number.parseInt(version, 10) >= OLDEST) return version
  throw new Error(`PostgreSQL ${OLDEST} is needed, ${postgresBinary('postgres')} is ${text.trim()}`)
}

/** Installs the Debian package if PostgreSQL is missing. Neither creates a cluster nor starts a service. */
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

/** Existing settings belong to a machine that already had the package, and are left unchanged. */
function refuseCluster(): void {
  if (existsSync(CLUSTER_SETTINGS)) return
  mkdirSync(dirname(CLUSTER_SETTINGS), { recursive: true })
  writeFileSync(CLUSTER_SETTINGS, 'create_main_cluster = false\n')
}
