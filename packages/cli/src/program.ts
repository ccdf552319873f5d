import { Command, InvalidArgumentError, Option } from 'commander'
import { DIALECTS, type Dialect } from './openapi/rate-headers.ts'
import type { Terminal } from './terminal/terminal.ts'
import { VERSION } from './version.ts'

const CHECK_HELP = `
Each finding is one line: file:line:column: severity: message.

Severities:
  error    the file is invalid, or a limiter refuses the policy
  warning  the file probably does not do what is expected
  hint     valid, with an effect that is easy to overlook

Examples:
  sluice check policies.yaml
  sluice check --processes 8 --sync-tick 1000 --fail-on error policies.yaml
  sluice check --previous deployed.yaml policies.yaml`

const LOG_HELP = `
Logs in the common, combined and JSON formats are recognised line by line; '-'
is the standard input. The exit code is 1 if a policy file is invalid, a log
cannot be opened, or no line of the logs could be read.`

const REPLAY_HELP = `${LOG_HELP}

Examples:
  sluice replay --policies policies.yaml access.log
  sluice replay --policies policies.yaml --html report.html access.log
  sluice replay --policies policies.yaml --attribute principal=user.id app.log`

const DIFF_HELP = `${LOG_HELP}

Example:
  sluice diff deployed.yaml policies.yaml --log access.log`

const TOKEN_HELP = `
URL is the address of the live page (dashboard of @sluice/insight). Its token is
read from SLUICE_TOKEN. Prefer the variable: other users of the machine can see
the arguments of a process.`

const WATCH_HELP = `${TOKEN_HELP}

Without a terminal, or with --json, one block or one line of JSON is written for
each update. Ctrl-C ends the command with exit code 0.

Examples:
  sluice watch http://localhost:3000/limits
  sluice watch --once --json https://api.example.com/limits | jq .deniedShare`

const EXPLAIN_HELP = `${TOKEN_HELP}

KEY is the key that a policy counts, such as an address or an API key. It is a
part of the URL of a request. The page shows keys without their end; with --id,
KEY is the id of such a key in the output of 'sluice watch --json'. Write --
before a KEY that begins with a dash.

Examples:
  sluice explain http://localhost:3000/limits 203.0.113.7
  sluice explain --cost 5000 https://api.example.com/limits acme
  sluice explain http://localhost:3000/limits -- -42`

const OPENAPI_HELP = `
Writes the description with limits to the standard output, or to --output. With
--check, writes the differences, and the exit code is 1 if there are any.

Examples:
  sluice openapi openapi.yaml --policies policies.yaml --output openapi.yaml
  sluice openapi openapi.yaml --policies policies.yaml --check`

const DOCS_HELP = `
Examples:
  sluice docs --policies policies.yaml >> limits.md
  sluice docs --policies policies.yaml --format html > limits.html`

const EXIT_CODES = `
Exit codes:
  0  no problems
  1  'check' and 'openapi --check' found problems, or a file is invalid
  2  wrong arguments, or a file that cannot be read
  3  the live page does not respond, or refuses the request`

/**
 * Returns the program with all commands. Each command loads its code when it runs, so that `--help` starts fast.
 * `exitWith` receives the exit code of the command.
 */
export function createProgram(terminal: Terminal, exitWith: (exitCode: number) => void): Command {
  const { stdout, stderr } = terminal
  const program = new Command('sluice')
    .description('Check and replay rate limit policies, and watch the live limits of a running server.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 80,
      getErrHelpWidth: () => stderr.columns ?? 80,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .addHelpText('after', EXIT_CODES)
  program.showHelpAfterError("Run 'sluice --help' for a list of commands and options.")
  addCheck(program, terminal, exitWith)
  addReplay(program, terminal, exitWith)
  addDiff(program, terminal, exitWith)
  addWatch(program, terminal, exitWith)
  addExplain(program, terminal, exitWith)
  addOpenapi(program, terminal, exitWith)
  addDocs(program, terminal, exitWith)
  return program
}

function addCheck(program: Command, terminal: Terminal, exitWith: (exitCode: number) => void): void {
  program
    .command('check')
    .summary('find mistakes in policy files')
    .description('Validate policy files and find policies that never bind, keys that clients can choose, and more.')
    .argument('<file...>', "policy files in YAML or JSON; '-' is the standard input")
    .option('--processes <count>', 'number of processes that share the limits', integerFrom(1))
    .option('--sync-tick <ms>', 'tickMs of the synced backends that count the policies', integerFrom(100, 60_000))
    .option('--previous <file>', 'the file in use before: also report changes that separate counts')
    .addOption(
      new Option('--fail-on <severity>', 'least severity with exit code 1')
        .choices(['error', 'warning', 'hint'])
        .default('warning'),
    )
    .option('--json', 'write one JSON object')
    .addHelpText('after', CHECK_HELP)
    .action(async (files, options) => {
      const { checkCommand } = await import('./check/check-command.ts')
      exitWith(await checkCommand(files, options, terminal))
    })
}

function addReplay(program: Command, { stdout, stderr }: Terminal, exitWith: (exitCode: number) => void): void {
  withLogOptions(program.command('replay'))
    .summary('show what policies would have denied in access logs')
    .description('Replay access logs through the policies of a file, and report what they would have denied.')
    .argument('<log...>', 'access logs')
    .requiredOption('--policies <file>', 'the policy file')
    .option('--json', 'write the report as JSON')
    .option('--html <file>', 'also write the report as an HTML page')
    .addHelpText('after', REPLAY_HELP)
    .action(async (logs, { route, attribute, ...options }) => {
      const { replayCommand } = await import('./replay/replay-command.ts')
      exitWith(await replayCommand(logs, { ...options, routes: route, attributes: attribute, stdout, stderr }))
    })
}

function addDiff(program: Command, { stdout, stderr }: Terminal, exitWith: (exitCode: number) => void): void {
  withLogOptions(program.command('diff'))
    .summary('compare two policy files by access logs')
    .description('Report which requests and clients of access logs one policy file denies and the other one admits.')
    .argument('<before>', 'the policy file in use')
    .argument('<after>', 'the policy file to compare')
    .requiredOption('--log <file...>', 'access logs')
    .option('--json', 'write the report as JSON')
    .addHelpText('after', DIFF_HELP)
    .action(async (before, after, { route, attribute, ...options }) => {
      const { diffCommand } = await import('./replay/diff-command.ts')
      exitWith(await diffCommand(before, after, { ...options, routes: route, attributes: attribute, stdout, stderr }))
    })
}

/** Adds the options that say how to read access logs. */
function withLogOptions(command: Command): Command {
  return command
    .option('--format <format>', "'common', 'combined', 'json', or a log_format of nginx (default: recognised)")
    .option('--route <route>', "a route of the application, such as 'GET /teams/:team'; repeatable", collectRoute)
    .option('--attribute <name=field>', 'the field of the log with an attribute; repeatable', collectAttribute)
}

/** Adds a route to the earlier ones. An option with several values would take the logs that follow it for routes. */
function collectRoute(route: string, earlier: readonly string[] = []): string[] {
  return [...earlier, route]
}

/** Adds an attribute and its field to the earlier ones. */
function collectAttribute(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, field] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Expected name=field, such as principal=user.id.')
  return { ...earlier, [name]: field }
}

function addWatch(program: Command, terminal: Terminal, exitWith: (exitCode: number) => void): void {
  program
    .command('watch')
    .summary('show the live limits of a running server')
    .description('Show the policies, in-flight caps, backends and top keys of a running server, with each update.')
    .argument('<url>', 'address of the live page')
    .option('--token <token>', 'token of the page, instead of SLUICE_TOKEN')
    .option('--once', 'write one update and exit')
    .option('--json', 'write each update as one line of JSON')
    .addHelpText('after', WATCH_HELP)
    .action(async (url, options) => {
      const { watchCommand } = await import('./watch/watch-command.ts')
      exitWith(await watchCommand(url, options, terminal))
    })
}

function addExplain(program: Command, terminal: Terminal, exitWith: (exitCode: number) => void): void {
  program
    .command('explain')
    .summary('explain the limits of one key')
    .description('Explain what each policy of a running server answers for one key. Nothing is charged.')
    .argument('<url>', 'address of the live page')
    .argument('<key>', 'the key, or its id with --id')
    .option('--cost <units>', 'units of the request that is explained (default: 1)', integerFrom(1))
    .option('--id', 'KEY is the id of a key')
    .option('--token <token>', 'token of the page, instead of SLUICE_TOKEN')
    .option('--json', 'write the answer of the page as one line of JSON')
    .addHelpText('after', EXPLAIN_HELP)
    .action(async (url, key, options) => {
      const { explainCommand } = await import('./explain/explain-command.ts')
      exitWith(await explainCommand(url, key, options, terminal))
    })
}

function addOpenapi(program: Command, terminal: Terminal, exitWith: (exitCode: number) => void): void {
  program
    .command('openapi')
    .summary('add limits to an OpenAPI description')
    .description('Add the limits of a policy file to an OpenAPI 3 description, or compare both.')
    .argument('<file>', "the description in YAML or JSON; '-' is the standard input")
    .requiredOption('--policies <file>', 'the policy file')
    .option('--output <file>', 'the file to write; may be the description itself')
    .option('--check', 'write the differences and change nothing')
    .option('--headers <dialects>', "option 'headers' of the limiter, such as draft,legacy", dialectsOf, ['draft'])
    .option('--overload', 'also add 503: in-flight caps, load shedding or a failure rule may deny requests')
    .option('--partial', 'the description does not have all routes of the policies')
    .addHelpText('after', OPENAPI_HELP)
    .action(async (file, options) => {
      const { openapiCommand } = await import('./openapi/openapi-command.ts')
      exitWith(await openapiCommand(file, options, terminal))
    })
}

/** Returns the header dialects of a list with commas; an empty array for `none`. */
function dialectsOf(text: string): Dialect[] {
  const dialects = text === 'none' ? [] : text.split(',')
  const other = dialects.find((one) => !(DIALECTS as readonly string[]).includes(one))
  if (other === undefined) return dialects as Dialect[]
  throw new InvalidArgumentError(`Expected 'none' or some of ${DIALECTS.join(', ')}, with commas between them.`)
}

function addDocs(program: Command, terminal: Terminal, exitWith: (exitCode: number) => void): void {
  program
    .command('docs')
    .summary('print the limits of a policy file for people')
    .description(
      'Print a table of the limits of a policy file: who is counted, which requests, and what happens above.',
    )
    .requiredOption('--policies <file>', "the policy file; '-' is the standard input")
    .addOption(
      new Option('--format <format>', 'format of the table').choices(['markdown', 'html', 'text']).default('markdown'),
    )
    .option('--output <file>', 'the file to write (default: standard output)')
    .addHelpText('after', DOCS_HELP)
    .action(async (options) => {
      const { docsCommand } = await import('./docs/docs-command.ts')
      exitWith(await docsCommand(options, terminal))
    })
}

/** Returns a parser of integers from `least` to `most`. */
function integerFrom(least: number, most: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= most) return value
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`
    throw new InvalidArgumentError(`Expected an integer ${range}.`)
  }
}
