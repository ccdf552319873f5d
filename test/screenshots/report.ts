import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { replayCommand } from '@sluice/cli'
import { openBrowser } from '../insight/page/open-page.ts'
import { root } from '../repository.ts'

const GUIDE = 'docs/choosing-limits.md'
const FIRST_YAML = /^```yaml\n([\s\S]*?)^```$/m
const SHOTS = [
  { name: 'replay-report', colorScheme: 'light', width: 1_280, height: 1_650 },
  { name: 'replay-report-dark', colorScheme: 'dark', width: 1_280, height: 1_650 },
  { name: 'replay-report-phone', colorScheme: 'light', width: 360, height: 1_600 },
] as const

/**
 * Writes a screenshot of the report of `log` for the policies of docs/choosing-limits.md, which shows it. With `folder`,
 * also in dark and on a phone. `log`: path of the log that the guide names.
 */
export async function ofReport(log: string, folder?: string): Promise<void> {
  const [, policies] = FIRST_YAML.exec(readFileSync(join(root, GUIDE), 'utf8')) ?? []
  if (policies === undefined) throw new Error(`${GUIDE}: no policies`)
  const own = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  writeFileSync(join(own, 'policies.yaml'), policies)
  writeFileSync(join(own, 'access.log'), readFileSync(log))
  const html = join(own, 'report.html')
  // the report names the files as the guide does
  process.chdir(own)
  const code = await replayCommand(['access.log'], { policies: 'policies.yaml', html })
  if (code !== 0) throw new Error(`sluice replay ${basename(log)}: exit code ${code}`)
  const browser = await openBrowser()
  for (const { name, colorScheme, width, height } of SHOTS.slice(0, folder === undefined ? 1 : SHOTS.length)) {
    const page = await browser.newPage({ colorScheme, viewport: { width, height } })
    await page.goto(`file://${html}`)
    const whole = await page.evaluate('document.documentElement.scrollWidth')
    if (whole !== width) throw new Error(`${name}: the report is ${whole} px wide, and the window ${width}`)
    await page.screenshot({
      path: join(folder ?? join(root, 'docs/images'), `${name}.png`),
      fullPage: folder !== undefined,
    })
    await page.close()
  }
  await browser.close()
  rmSync(own, { recursive: true })
}
