// Writes docs/images/insight-*.png, screenshots of the page of @sluice/insight, with the Chromium of the tests.
import { runTypeScript } from '../build/typescript-program.mjs'

const { code, output } = await runTypeScript('insight/page/screenshots.ts', 'takeScreenshots()', { limitMs: 120_000 })
if (code !== 0) console.error(output)
process.exitCode = code
