import { join } from 'node:path'
import { installPackage, installsPackages } from '../debian-package.ts'
import { locatedBinary } from '../located-binary.ts'

type MysqlProgram = 'mariadbd' | 'mariadb-install-db' | 'my_print_defaults'

/**
 * A program of MariaDB: the one on PATH, otherwise in the folder named by MARIADB_BIN, otherwise in the folder used by
 * Debian. Throws a one-line error if there is none.
 */
export function mysqlBinary(program: MysqlProgram): string {
  const found = located(program)
  if (found !== undefined) return found
  throw new Error(
    `${program} is not there: put it on PATH, name its folder in MARIADB_BIN, or run the tests on Debian as root`,
  )
}

/** The server, without the package that creates a database of the machine, and what `mariadb-install-db` runs. */
const PACKAGES = { mariadbd: 'mariadb-server-core', my_print_defaults: 'mariadb-client-core' } as const

/** Installs the Debian packages if a program of MariaDB is missing, without starting a service. */
export function prepareMysql(): void {
  for (const [program, name] of Object.entries(PACKAGES)) {
    if (located(program as MysqlProgram) === undefined && installsPackages()) installPackage(name)
  }
  mysqlBinary('mariadbd')
  mysqlBinary('mariadb-install-db')
}

function located(program: MysqlProgram): string | undefined {
  const folder = process.env.MARIADB_BIN
  return locatedBinary(program, [folder === undefined ? '' : join(folder, program), `/usr/sbin/${program}`])
}
