// Exports, from one module for each entry point, every function and class of the entry point, what its functions return
// and the members of both, and emits the declarations: node declarations.mjs <projects> <typescript>. A project is a folder
// named after the only package of ours that it depends on. Prints JSON: the number of exports, and the errors.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

// their readers write adapters and backends, whose classes have members of the package's own
const FOR_AUTHORS = /^@sluice\/(http|\w+(-\w+)*\/(adapter|backend|http|leases|sync))$/

const [projects, typescript] = process.argv.slice(2)
const ts = createRequire(import.meta.url)(typescript)
const options = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
  experimentalDecorators: true,
  types: [],
}
// files of the packages are parsed once for all programs
const host = ts.createCompilerHost(options)
const files = new Map()
const { getSourceFile } = host
host.getSourceFile = (path, ...rest) => {
  if (path.includes('/entries/')) return getSourceFile(path, ...rest)
  if (!files.has(path)) files.set(path, getSourceFile(path, ...rest))
  return files.get(path)
}
host.writeFile = () => {}

let exported = 0
const errors = []
for (const name of readdirSync(projects)) {
  const folder = join(projects, name)
  const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/@sluice', name, 'package.json'), 'utf8'))
  const entries = Object.keys(exports).filter((path) => path !== './package.json')
  mkdirSync(join(folder, 'entries'), { recursive: true })
  const paths = entries.map((path) => join(folder, 'entries', `${path.slice(2).replace('/', '-') || 'index'}.ts`))
  for (const [index, path] of paths.entries()) writeFileSync(path, modelOf(`@sluice/${name}${entries[index].slice(1)}`))
  const requireFrom = createRequire(join(folder, 'index.js'))
  // a program of all projects would name types of a package by the folder of another project
  const program = ts.createProgram(paths, options, host)
  const texts = paths.map((path, index) => {
    const values = requireFrom(`@sluice/${name}${entries[index].slice(1)}`)
    return exportsOf(program, program.getSourceFile(path), Object.keys(values))
  })
  for (const [index, path] of paths.entries()) writeFileSync(path, texts[index])
  const emitted = ts.createProgram(paths, options, host)
  for (const path of paths) {
    const source = emitted.getSourceFile(path)
    const found = [...emitted.getSemanticDiagnostics(source), ...emitted.getDeclarationDiagnostics(source)]
    errors.push(...found.map((error) => ts.formatDiagnostic(error, { ...host, getCurrentDirectory: () => projects })))
  }
}
console.log(JSON.stringify({ exported, errors }))

function modelOf(entry) {
  return `import * as all from '${entry}'\nexport { all }\n`
}

/** Returns the module that exports what can be exported from an entry point with these values. */
function exportsOf(program, source, values) {
  const checker = program.getTypeChecker()
  const { moduleSpecifier } = source.statements[0]
  const lines = []
  const imported = []
  const write = (line) => {
    lines.push(line)
    exported++
  }
  const writeMembers = (value, type) => {
    if (FOR_AUTHORS.test(moduleSpecifier.text)) return
    const own = checker.getNonNullableType(checker.getAwaitedType(type) ?? type)
    const members = checker.getPropertiesOfType(own).filter(isOurs)
    if (members.length > 0) lines.push(`declare const of_${value}: NonNullable<Awaited<typeof ${value}>>`)
    for (const { name } of members) write(`export const ${value}_${name} = of_${value}.${name}`)
    for (const member of members) {
      const [call] = checker.getNonNullableType(checker.getTypeOfSymbolAtLocation(member, source)).getCallSignatures()
      const method = `of_${value}.${member.name}`
      if (call) write(`export const result_of_${value}_${member.name} = ${calledWith(`${method}!`, method)}`)
    }
  }
  for (const symbol of checker.getExportsOfModule(checker.getSymbolAtLocation(moduleSpecifier))) {
    const { name } = symbol
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    if (!values.includes(name) || name === 'default') continue
    imported.push(name)
    write(`export const value_${name} = ${name}`)
    const type = checker.getTypeOfSymbolAtLocation(target, source)
    if (target.flags & ts.SymbolFlags.Class) {
      const parameters = checker.getDeclaredTypeOfSymbol(target).typeParameters ?? []
      const given = parameters.length === 0 ? '' : `<${parameters.map(() => 'any').join()}>`
      write(`export declare const instance_${name}: ${name}${given}`)
      writeMembers(`instance_${name}`, checker.getDeclaredTypeOfSymbol(target))
    }
    const calls = type.getCallSignatures()
    if (calls.length === 0) continue
    write(`export const result_${name} = ${calledWith(name, name)}`)
    writeMembers(`result_${name}`, calls.at(-1).getReturnType())
  }
  lines.push(
    'type ArgumentsOf<F extends (...all: any) => any> = [Parameters<F>] extends [never] ? any[] : Parameters<F>',
  )
  return `import { ${imported.join(', ')} } from ${moduleSpecifier.getText(source)}\n${lines.join('\n')}\nexport {}\n`
}

/** Whether the member belongs to one of our types, is public and can follow a dot. */
function isOurs({ name, declarations: [declaration] = [] }) {
  if (!declaration?.getSourceFile().fileName.includes('@sluice') || !/^[a-z]\w*$/i.test(name)) return false
  return !(ts.getCombinedModifierFlags(declaration) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected))
}

/** Returns a call whose arguments fit, unless the function is generic in a way that leaves no type for them. */
function calledWith(called, named) {
  return `${called}(...([] as unknown as ArgumentsOf<NonNullable<typeof ${named}>>))`
}
