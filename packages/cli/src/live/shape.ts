/** A test of a value that a server has sent. */
export type Shape = (value: unknown) => boolean

export const any: Shape = () => true
export const text: Shape = (value) => typeof value === 'string'
export const number: Shape = (value) => typeof value === 'number'
/** Milliseconds since 1970 that a `Date` can have. */
export const time: Shape = (value) => number(value) && !Number.isNaN(new Date(value as number).getTime())
export const numberOrNull: Shape = (value) => value === null || number(value)
export const textOrNull: Shape = (value) => value === null || text(value)

export function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value)
}

export function list(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape)
}

/** Tests an object by the values of its fields. Further fields are allowed. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(shapes)
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    return all.every(([name, shape]) => shape((value as Readonly<Record<string, unknown>>)[name]))
  }
}
