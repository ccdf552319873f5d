import { execFileSync } from 'node:child_process'
import { installPackage, installsPackages } from '../debian-package.ts'
import { locatedBinary } from '../located-binary.ts'

const NAME = 'redis-server'
const MISSING = `${NAME} is not there: put it on PATH, name it in REDIS_SERVER, or run the tests on Debian as root`

/**
 * The redis-server that tests start: the one on PATH, otherwise the one named by REDIS_SERVER. Throws a one-line error
 * if there is none.
 */
export function redisBinary(): string {
  const found = located()
  if (found === undefined) throw new Error(MISSING)
  return found
}

/**
 * Installs the Debian package if redis-server is missing, and starts no service. Runs once before the tests, so that
 * test files do not run apt at the same time.
 */
export function prepareRedis(): void {
  if (located() === undefined && installsPackages()) installPackage(NAME)
  const version = execFileSync(redisBinary(), ['--version'], { encoding: 'utf8' })
  if (!/ v=([7-9]|\d\d)\./.test(version)) throw new Error(`Redis 7 is needed, ${redisBinary()} is ${version.trim()}`)
}

function located(): string | undefined {
  return locatedBinary(NAME, [process.env.REDIS_SERVER ?? ''])
}
