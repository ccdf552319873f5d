// Runs publint in its strict form on tarballs in one process: node publint-problems.mjs <tarball> … Prints JSON: the
// errors of each tarball.
import { readFileSync } from 'node:fs'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const problems = {}
for (const path of process.argv.slice(2)) {
  const tarball = new Uint8Array(readFileSync(path)).buffer
  const { messages, pkg } = await publint({ strict: true, pack: { tarball } })
  problems[path] = messages.filter(({ type }) => type === 'error').map((message) => formatMessage(message, pkg))
}
console.log(JSON.stringify(problems))
