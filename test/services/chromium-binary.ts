import { installPackage, installsPackages } from './debian-package.ts'
import { locatedBinary } from './located-binary.ts'

const NAME = 'chromium'
const MISSING = `${NAME} is not there: put it on PATH, name it in CHROMIUM, or run the tests on Debian as root`

/** The browser that tests look at pages with: the one on PATH, else what CHROMIUM names. Throws one clear line. */
export function chromiumBinary(): string {
  const found = located()
  if (found === undefined) throw new Error(MISSING)
  return found
}

/** Installs Debian's package where there is no Chromium. */
export function prepareChromium(): void {
  if (located() === undefined && installsPackages()) installPackage(NAME)
  chromiumBinary()
}

function located(): string | undefined {
  return locatedBinary(NAME, [process.env.CHROMIUM ?? ''])
}
