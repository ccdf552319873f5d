import { installPackage, installsPackages } from '../debian-package.ts'
import { locatedBinary } from '../located-binary.ts'

const NAME = 'memcached'

/** The memcached that tests start: the one on PATH, otherwise the one named by MEMCACHED. Throws if there is none. */
export function memcachedBinary(): string {
  const found = located()
  if (found !== undefined) return found
  throw new Error(`${NAME} is not there: put it on PATH, name it in MEMCACHED, or run the tests on Debian as root`)
}

/** Installs the Debian package if memcached is missing, without starting a service. */
export function prepareMemcached(): void {
  if (located() === undefined && installsPackages()) installPackage(NAME)
  memcachedBinary()
}

function located(): string | undefined {
  return locatedBinary(NAME, [process.env.MEMCACHED ?? ''])
}
