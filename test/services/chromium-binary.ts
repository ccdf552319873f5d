import { installPackage, installsPackages } from './debian-package.ts'
import { locatedBinary } from './located-binary.ts'

const NAME = 'chromium'
const MISSING = `${NAME} is not there: put it on PATH, name it in CHROMIUM, or run the tests on Debian as root`

/**
 * The browser for tests of pages: the one on PATH, otherwise the one named by CHROMIUM. Throws a one-line error if
 * there is none.
 */
export function chromiumBinary(): string {
  const found = located()
  if (found === undefined) throw new Error(MISSING)
  return found
}

/** Installs the Debian package if Chromium is missing. */
export function prepareChromium(): void {
  if (located() === undefined && installsPackages()) installPackage(NAME)
  chromiumBinary()
}

function located(): string | undefined {
  return locatedBinary(NAME, [process.env.CHROMIUM ?? ''])
}
