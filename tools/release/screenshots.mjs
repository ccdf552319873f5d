// Takes screenshots with the Chromium of the tests:
//   node tools/release/screenshots.mjs                     docs/images/insight-*.png, of the page of @sluice/insight
//   node tools/release/screenshots.mjs report LOG          docs/images/replay-report.png; LOG: the log that the guide names
//   node tools/release/screenshots.mjs report LOG FOLDER   the report in light, dark and on a phone, to be looked at
//   node tools/release/screenshots.mjs site SITE FOLDER    pages of the site that `npm run docs -- SITE` wrote, likewise
import { resolve } from 'node:path'
import { runTypeScript } from '../build/typescript-program.mjs'

const [what = 'page', ...paths] = process.argv.slice(2)
const args = paths.map((path) => JSON.stringify(resolve(path))).join(', ')
const [file, call] = { page: ['live-page', 'ofLivePage'], report: ['report', 'ofReport'], site: ['site', 'ofSite'] }[
  what
]

const { code, output } = await runTypeScript(`screenshots/${file}.ts`, `${call}(${args})`, { limitMs: 300_000 })
if (code !== 0) console.error(output)
process.exitCode = code
