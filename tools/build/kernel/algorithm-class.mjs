// Reads a class of an algorithm, and the classes that it extends, as trees of statements.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from '@swc/core'

/**
 * Returns the class in a file as `{ fields, arrays, methods, constants }`: expressions of fields in the order in which
 * constructors set them, names of arrays of numbers, `{ params, body, returnsBoolean }` by method, and constants of the modules.
 */
export function readClass(path) {
  const module = parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', target: 'es2022' }).body
  const declared = module.map((item) => (item.type === 'ExportDeclaration' ? item.declaration : item))
  const found = declared.find(({ type }) => type === 'ClassDeclaration')
  const base = found.superClass ? readClass(importedPath(module, path, found.superClass.value)) : emptyClass()
  const read = {
    fields: new Map(base.fields),
    arrays: new Set(base.arrays),
    methods: new Map(base.methods),
    constants: new Map([...base.constants, ...constantsOf(module, path)]),
  }
  // a method that a subclass replaces is called as `super`
  for (const [name, method] of base.methods) read.methods.set(superName(name), method)
  for (const member of found.body) addMember(read, member)
  return read
}

/** Returns the functions of a module as `{ params, body }` by name. */
export function readFunctions(path) {
  const module = parseSync(readFileSync(path, 'utf8'), { syntax: 'typescript', target: 'es2022' }).body
  const functions = module.flatMap(({ declaration }) =>
    declaration?.type === 'FunctionDeclaration' ? declaration : [],
  )
  return new Map(
    functions.map(({ identifier, params, body }) => [identifier.value, { params: namesOf(params), body: body.stmts }]),
  )
}

/** Name under which `methods` has a method of the superclass. */
export function superName(name) {
  return `super.${name}`
}

function emptyClass() {
  return { fields: new Map(), arrays: new Set(), methods: new Map(), constants: new Map() }
}

function addMember({ fields, arrays, methods }, member) {
  const name = member.key?.value
  if (member.type === 'Constructor') {
    for (const { expression } of member.body.stmts) {
      if (expression?.type === 'AssignmentExpression')
        addField(fields, arrays, expression.left.property.value, expression.right)
    }
  } else if (member.type === 'ClassMethod' || member.type === 'PrivateMethod') {
    if (member.function.body)
      methods.set(name, {
        params: namesOf(member.function.params),
        body: member.function.body.stmts,
        returnsBoolean: member.function.returnType?.typeAnnotation.kind === 'boolean',
      })
  } else if (member.value) addField(fields, arrays, name, member.value)
}

function addField(fields, arrays, name, value) {
  if (value.type === 'NewExpression') arrays.add(name)
  else fields.set(name, value)
}

function namesOf(params) {
  return params.map(({ pat, ...param }) => (pat ?? param).value)
}

/** Numeric constants of a module and of the modules from which it imports names in capitals. */
function constantsOf(module, path) {
  const constants = new Map()
  for (const item of module) {
    const declaration = item.type === 'ExportDeclaration' ? item.declaration : item
    if (declaration.type === 'VariableDeclaration') {
      for (const { id, init } of declaration.declarations) {
        if (init?.type === 'NumericLiteral') constants.set(id.value, init.value)
      }
    }
    if (item.type !== 'ImportDeclaration' || item.typeOnly) continue
    const names = item.specifiers.map(({ local }) => local.value).filter((name) => name === name.toUpperCase())
    if (names.length === 0) continue
    const imported = join(dirname(path), item.source.value)
    const others = constantsOf(parseSync(readFileSync(imported, 'utf8'), { syntax: 'typescript' }).body, imported)
    for (const name of names) constants.set(name, others.get(name))
  }
  return constants
}

function importedPath(module, path, name) {
  const item = module.find(({ specifiers }) => specifiers?.some(({ local }) => local.value === name))
  return join(dirname(path), item.source.value)
}
