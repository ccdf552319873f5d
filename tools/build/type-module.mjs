import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** Fields of nodes that name something of their own, and refer to nothing. */
const OWN_NAMES = {
  TSPropertySignature: ['key'],
  TSMethodSignature: ['key'],
  PropertyDefinition: ['key'],
  AccessorProperty: ['key'],
  MethodDefinition: ['key'],
  TSAbstractPropertyDefinition: ['key'],
  TSAbstractMethodDefinition: ['key'],
  TSQualifiedName: ['right'],
  TSNamedTupleMember: ['label'],
  TSTypePredicate: ['parameterName'],
  TSTypeParameter: ['name'],
  TSMappedType: ['key'],
  TSEnumMember: ['id'],
}

/** Reads a declaration file: its imports, exports and declarations, each with the names that it refers to. */
export function typeModule(path, text) {
  const module = { imports: new Map(), exports: new Map(), stars: [], declarations: new Map(), effects: [] }
  let end = 0
  for (const node of parseAst(text, { lang: 'dts' }).body) {
    read(node, { module, path, text, start: end })
    end = node.end
  }
  return module
}

function read(node, place) {
  const { module, path } = place
  switch (node.type) {
    case 'ImportDeclaration':
      for (const one of node.specifiers) {
        const name = { ImportNamespaceSpecifier: '*', ImportDefaultSpecifier: 'default' }[one.type] ?? one.imported.name
        module.imports.set(one.local.name, { name, ...sourceOf(node, path) })
      }
      return
    case 'ExportAllDeclaration':
      if (node.exported) module.exports.set(node.exported.name, { name: '*', ...sourceOf(node, path), typeOnly: false })
      else module.stars.push({ ...sourceOf(node, path), typeOnly: node.exportKind === 'type' })
      return
    case 'ExportNamedDeclaration':
      if (node.declaration) return declare(node, node.declaration, place)
      for (const { local, exported, exportKind } of node.specifiers) {
        const typeOnly = node.exportKind === 'type' || exportKind === 'type'
        const source = node.source ? { name: local.name, ...sourceOf(node, path) } : { local: local.name }
        module.exports.set(exported.name, { ...source, typeOnly })
      }
      return
    default:
      declare(node, node, place)
  }
}

function sourceOf({ source }, path) {
  const from = source.value
  if (!from.startsWith('.')) return { from, foreign: true }
  return { from: join(dirname(path), from.replace(/\.(js|ts)$/, '.d.ts')), foreign: false }
}

/** Adds a declaration, with the comment before it. */
function declare(node, declaration, { module, path, text, start }) {
  const isGlobal = declaration.type === 'TSModuleDeclaration' || declaration.type === 'TSGlobalDeclaration'
  const ids = declaration.declarations?.map(({ id }) => id) ?? [declaration.id]
  if (!isGlobal && ids[0]?.type !== 'Identifier') throw new Error(`${path}: ${node.type} is not understood`)
  const part = { text: text.slice(start, node.start) + text.slice(declaration.start, node.end), references: [] }
  const shift = start + declaration.start - node.start
  const own = new Set()
  collect(declaration, own, (id) =>
    part.references.push({ name: id.name, start: id.start - shift, end: id.start - shift + id.name.length }),
  )
  part.references = part.references.filter(({ name }) => !own.has(name))
  if (isGlobal) return module.effects.push(part)
  for (const { name } of ids) {
    const known = module.declarations.get(name) ?? { parts: [], references: [], typeOnly: true }
    const isType = /^TS(Interface|TypeAlias)Declaration$/.test(declaration.type)
    module.declarations.set(name, {
      parts: [...known.parts, part],
      references: [...known.references, ...part.references],
      typeOnly: known.typeOnly && isType,
    })
    if (node !== declaration) module.exports.set(name, { local: name, typeOnly: false })
  }
}

/** Calls `refer` for each identifier that refers to a declaration, and adds the names of type parameters to `own`. */
function collect(node, own, refer) {
  if (node.type === 'Identifier') refer(node)
  if (node.type === 'TSImportType') throw new Error(`${node.source?.value}: types of import() are not understood`)
  if (node.type === 'TSTypeParameter') own.add(node.name.name)
  if (node.type === 'TSMappedType') own.add(node.key?.name)
  const skipped = node.computed ? [] : (OWN_NAMES[node.type] ?? [])
  for (const [field, child] of Object.entries(node)) {
    if (skipped.includes(field) || child === null || typeof child !== 'object') continue
    for (const item of Array.isArray(child) ? child : [child]) {
      if (typeof item?.type !== 'string') continue
      // the name of a parameter
      if (/^(params|parameters)$/.test(field) && item.type === 'Identifier') {
        if (item.typeAnnotation) collect(item.typeAnnotation, own, refer)
      } else collect(item, own, refer)
    }
  }
}
