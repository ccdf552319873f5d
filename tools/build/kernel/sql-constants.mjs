// Declares the constants of a policy and the cells of a key that a text of PL/pgSQL uses.

/**
 * Largest number of reads for which a value is read where it is needed. A declared variable takes as long as a statement,
 * and most transactions execute only a part of a block.
 */
const MOST_READS = { element: 12, derived: 3, array: 9 }

/** Adds the methods to a writer. */
export const SqlConstants = (Writer) =>
  class extends Writer {
    /** Returns `{ variables, text }`: the text without names of constants that are read rarely, and declarations. */
    withConstants(text) {
      const state = { text, variables: [] }
      for (const [name, value] of [...this.constants()].reverse()) this.#settle(state, name, value)
      return state
    }

    /** Expressions of the constants by name. Each uses only those in front of it. */
    constants() {
      const { given } = this.options
      const all = Object.entries(given).map(([name, value]) => [name, this.nameOf(name), value])
      // the limit is not a field
      const constants = all
        .filter(([name]) => name === 'limit' || name.startsWith('inner') || this.read.fields.has(name))
        .map(([, ...constant]) => constant)
      const scope = this.constantScope()
      for (const [name, value] of this.read.fields) {
        const isKnown = given[name] !== undefined || value.type === 'Identifier' || value.type === 'MemberExpression'
        if (this.options.ignored.includes(name) || isKnown) continue
        constants.push([this.nameOf(name), this.expression(value, scope)])
      }
      return constants
    }

    /** Returns `{ variables, text }` of a block whose cells are variables, with the values of the cells that it uses. */
    withCells(text) {
      const state = { text, variables: [] }
      for (let place = 1; place <= (this.options.count ?? 0); place++) this.#settle(state, `c${place}`, `c[${place}]`)
      return state
    }

    /** Declarations of the variables that a text uses. */
    declarations(text) {
      return [...this.variables]
        .filter(([name]) => occurrences(text, name) > 0)
        .map(([name, type]) => `${name} ${type};`)
    }

    #settle(state, name, value) {
      const count = occurrences([state.text, ...state.variables].join('\n'), name)
      if (count === 0) return
      const isAssigned = new RegExp(`\\b${name} :=`).test(state.text)
      const isArray = value.includes(' :]')
      const most = /^[pc]\[\d+\]$/.test(value) ? MOST_READS.element : isArray ? MOST_READS.array : MOST_READS.derived
      if (isAssigned || count > most) state.variables.unshift(`${name} float8${isArray ? '[]' : ''} := ${value};`)
      else {
        const inserted = /^[\w$]+\[/.test(value) ? value : `(${value})`
        const insert = (where) => where.replace(new RegExp(`\\b${name}\\b`, 'g'), () => inserted)
        state.text = insert(state.text)
        state.variables = state.variables.map(insert)
      }
    }
  }

function occurrences(text, name) {
  return text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0
}
