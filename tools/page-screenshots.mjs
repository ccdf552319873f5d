// Writes docs/images/insight-*.png, the pictures of the page of @sluice/insight, with the Chromium that the tests have.
import { runTypeScript } from './typescript-program.mjs'

const { code, output } = await runTypeScript('insight/page/screenshots.ts', 'takeScreenshots()', { limitMs: 120_000 })
if (code !== 0) console.error(output)
process.exitCode = code
