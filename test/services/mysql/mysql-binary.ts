import { join } from 'node:path'
import { installPackage, installsPackages } from '../debian-package.ts'
import { locatedBinary } from '../located-binary.ts'

type MysqlProgram = 'mariadbd' | 'mariadb-install-db'

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

/** Installs the Debian package if MariaDB is missing, without starting a service. */
export function prepareMysql(): void {
  // without the package that creates a database of the machine
  if (located('mariadbd') === undefined && installsPackages()) installPackage('mariadb-server-core')
  mysqlBinary('mariadbd')
  mysqlBinary('mariadb-install-db')
}

function located(program: MysqlProgram): string | undefined {
  const folder = process.env.MARIADB_BIN
  return locatedBinary(program, [folder === undefined ? '' : join(folder, program), `/usr/sbin/${program}`])
}
